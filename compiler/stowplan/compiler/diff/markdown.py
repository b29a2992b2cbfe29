"""Changes as a comment on a pull request."""

import re
from collections.abc import Iterator, Sequence

from stowplan.compiler.diagnostics.escaping import visible
from stowplan.compiler.diff.change import Change, Danger
from stowplan.compiler.diff.groups import Group, grouped
from stowplan.compiler.diff.wording import cut, field_line, others, summary, title
from stowplan.compiler.pins.pin_changes import PinChange

LIMIT = 60_000
"""Maximum length of a comment in characters: GitHub allows 65,536, GitLab a million."""

MOST_FIELDS = 30
MOST_RISKS = 10
MOST_PINS = 50
LONGEST_RISK = 300
LONGEST_LINE = 500
"""Maximum length of a line in characters.

With the limits above, one object cannot push the others out of the comment.
"""

_MEANING = re.compile(r"([\\`*_{}\[\]<>|~&$])")
"""Characters that start markup, an entity, HTML, a table cell or mathematics."""
_REFERENCE = re.compile(
    r"""
      (?<=[@\#!%^~&$])                                  # people, issues, merge requests, milestones, labels, epics
    | (?<=:) (?=[/\w])                                  # URLs and emoji
    | (?<=[wW]{3}) (?=\.)
    | (?<=[A-Z0-9]) (?=-\d)                             # GH-1, and issues of other trackers
    | (?<=[0-9a-fA-F]{6}) (?=[0-9a-fA-F])                # commits
    """,
    re.VERBOSE,
)
"""Places where GitHub or GitLab would turn plain text into a link. An empty comment there prevents it."""
_HEADINGS = {
    Danger.SECURITY: "Security",
    Danger.DATA: "Data may be lost",
    Danger.RIGHTS: "New rights",
    Danger.RUN: "Runs and pods start or end",
    Danger.IMMUTABLE: "Fields that cannot change",
    Danger.CRD: "CRDs",
    Danger.IMAGE: "Other images",
}


def comment(
    changes: Sequence[Change], moves: Sequence[PinChange] = (), *, limit: int = LIMIT, heading: str = "Stowplan"
) -> str:
    """Return a comment of at most `limit` characters under `heading`, which is Markdown.

    Groups of changes with risks come first, under a heading for the kind of their worst risk. The pins that moved, and
    then all other groups, follow in sections; the last one is folded.
    """
    groups = grouped(changes)
    head = f"### {heading}: {summary(changes)}\n"
    blocks = [*_risky(groups), *pins(moves), *_folded([group for group in groups if not group.first.risks])]
    return _fitting(head, blocks, limit)


def pins(moves: Sequence[PinChange]) -> Iterator[str]:
    """Yield the heading and the lines about pins that moved; nothing without any."""
    if moves:
        yield "\n#### Pins moved\n"
    for each in moves[:MOST_PINS]:
        about = f": {escaped(each.about)}" if each.about else ""
        yield f"- **{each.what}** `{code(each.key)}` `{code(each.revisions)}`{about}\n"
    if len(moves) > MOST_PINS:
        yield f"- and {len(moves) - MOST_PINS} more pins\n"


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
    lines = [f"- **{first.action}** `{code(title(first))}` from `{code(first.source)}`"]
    lines += [f"  - {risk.danger}: {escaped(risk.text)}" for risk in first.risks[:MOST_RISKS]]
    if len(first.risks) > MOST_RISKS:
        lines.append(f"  - and {len(first.risks) - MOST_RISKS} more risks")
    lines += [f"  - `{code(field_line(field))}`" for field in first.fields[:MOST_FIELDS]]
    if len(first.fields) > MOST_FIELDS:
        lines.append(f"  - and {len(first.fields) - MOST_FIELDS} more fields")
    if group.others:
        lines.append(f"  - `{code(others(group))}`")
    return "\n".join(lines) + "\n"


def _fitting(head: str, blocks: Sequence[str], limit: int) -> str:
    """Return `head` and as many blocks as fit into `limit` characters; close a folded section that is open at the end.

    A sentence says how many groups are left out, if any.
    """
    close = "\n</details>\n"
    left = "\n{} more are left out here; `stowplan diff` shows all.\n"
    text, opened = head, False
    for index, block in enumerate(blocks):
        longest = limit - len(text) - len(left) - len(close) - 10
        if len(block) > longest:
            return text + (close if opened else "") + left.format(sum(each.startswith("- ") for each in blocks[index:]))
        text += block
        opened = (opened or "<details>" in block) and block != close
    return text


def escaped(text: str) -> str:
    """Return a string, cut to `LONGEST_RISK`, that renders as itself: no markup, entity, HTML, link or mention."""
    parts = _REFERENCE.split(cut(visible(text), LONGEST_RISK))
    return "<!-- -->".join(_MEANING.sub(r"\\\1", part) for part in parts)


def code(text: str) -> str:
    """Return a string for use between backticks: itself without backticks and cut; a blank if it is empty."""
    return cut(visible(text), LONGEST_LINE).replace("`", "'") or " "
