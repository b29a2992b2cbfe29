"""Changes as a comment on a pull request."""

import re
from collections.abc import Iterator, Sequence

from stowplan.compiler.difference.change import Change, Danger
from stowplan.compiler.difference.groups import Group, grouped
from stowplan.compiler.difference.wording import field_line, others, summary, title
from stowplan.compiler.emitter import visible

LIMIT = 60_000
"""Characters of a comment: GitHub takes 65,536, GitLab a million."""

MOST_FIELDS = 30
_MEANING = re.compile(r"([\\`*_{}\[\]<>|~])")
_CALLING = re.compile(r"(?<=[@#])|(?<=:/)|(?<=www)")
"""Behind what makes GitHub or GitLab call somebody, or refer to something."""
_HEADINGS = {
    Danger.SECURITY: "Security",
    Danger.DATA: "Data may be lost",
    Danger.RUN: "Runs and pods start or end",
    Danger.IMMUTABLE: "Fields that cannot change",
    Danger.RIGHTS: "New rights",
    Danger.CRD: "CRDs",
}


def comment(changes: Sequence[Change], *, limit: int = LIMIT) -> str:
    """Risks first, by kind of risk, each object once; the rest folded. Never longer than `limit`."""
    groups = grouped(changes)
    head = f"### Stowplan: {summary(changes)}\n"
    blocks = [*_risky(groups), *_folded([group for group in groups if group.quiet])]
    return _fitting(head, blocks, limit)


def _risky(groups: Sequence[Group]) -> Iterator[str]:
    for danger, heading in _HEADINGS.items():
        own = [group for group in groups if group.first.risks and group.first.risks[0].danger is danger]
        if own:
            yield f"\n#### {heading}\n"
        yield from map(_item, own)


def _folded(groups: Sequence[Group]) -> Iterator[str]:
    if not groups:
        return
    number = sum(1 + len(group.others) for group in groups)
    yield f"\n<details><summary>{number} more, without a risk that is known</summary>\n\n"
    yield from map(_item, groups)
    yield "\n</details>\n"


def _item(group: Group) -> str:
    first = group.first
    lines = [f"- **{first.action}** `{_code(title(first))}` from `{_code(first.source)}`"]
    lines += [f"  - {risk.danger}: {_escaped(risk.text)}" for risk in first.risks]
    lines += [f"  - `{_code(field_line(field))}`" for field in first.fields[:MOST_FIELDS]]
    if len(first.fields) > MOST_FIELDS:
        lines.append(f"  - and {len(first.fields) - MOST_FIELDS} more fields")
    if group.others:
        lines.append(f"  - `{_code(others(group))}`")
    return "\n".join(lines) + "\n"


def _fitting(head: str, blocks: Sequence[str], limit: int) -> str:
    """As many blocks as there is room for; a fold that was opened is closed."""
    close = "\n</details>\n"
    left = "\n{} more are left out here; `stowplan diff` shows all.\n"
    text, opened = head, False
    for index, block in enumerate(blocks):
        room = limit - len(text) - len(left) - len(close) - 10
        if len(block) > room:
            return text + (close if opened else "") + left.format(sum(each.startswith("- ") for each in blocks[index:]))
        text += block
        opened = (opened or "<details>" in block) and block != close
    return text


def _escaped(text: str) -> str:
    """Text that means nothing but itself, and calls nobody."""
    return _CALLING.sub("<!-- -->", _MEANING.sub(r"\\\1", visible(text)))


def _code(text: str) -> str:
    """Inside backticks nothing has a meaning but a backtick, and the end of the line."""
    return visible(text).replace("`", "'")
