"""The short form of a review: a comment on a pull request."""

from collections.abc import Iterator, Mapping, Sequence

from stowplan.compiler.diff import markdown as changes_markdown
from stowplan.compiler.diff.change import Change
from stowplan.compiler.diff.markdown import LIMIT, code, escaped
from stowplan.compiler.review.mermaid import mermaid
from stowplan.compiler.review.model import Figure, Review, RunChange, RunFate
from stowplan.schema.wording import counted

MOST_LINES = 20
"""Lines of one section; the page shows all."""
MOST_ENVIRONMENTS = 20
"""Environments with changes of their own that have a section."""
_SIGNS_OF_GRAPH = "In the graph, `(+)` is created, `(~)` changed, `(!)` replaced, `(-)` removed."
_SIGNS = {RunFate.ENDS: "ends", RunFate.REPLACED: "**ends and starts again**", RunFate.STARTS: "starts"}


def comment(review: Review, changes: Mapping[str, Sequence[Change]], *, page: str = "", limit: int = LIMIT) -> str:
    """Return a comment of at most `limit` characters; what does not fit is left out by whole sections, which it says.

    `changes` are those of each environment by its name, which is empty without environments. `page` is a sentence that
    says where the whole review is; it may be empty.
    """
    head = "\n".join(["### Stowplan", "", *_verdict(review), ""])
    sections = [
        *([f"{page}\n"] if page else []),
        _figures(review.figures),
        f"{graph}\n\n{_SIGNS_OF_GRAPH}\n" if (graph := mermaid(review)) else "",
        _listed("Pins moved", [f"{each.section} {each.key}: {' → '.join(each.sides)}" for each in review.pins]),
        _listed("New Secrets that must be there", list(_secrets(review))),
    ]
    text, left = head, 0
    for section in filter(None, sections):
        if len(text) + len(section) > limit // 2:
            left += 1
        else:
            text += f"\n{section}"
    if left:
        text += f"\n{counted(left, 'section')} did not fit into this comment.\n"
    return f"{text}\n{_objects(changes, limit - len(text) - 1)}"


def _objects(changes: Mapping[str, Sequence[Change]], limit: int) -> str:
    """Return the changed objects of each environment in at most `limit` characters; those with the same are one."""
    parts: list[tuple[list[str], Sequence[Change]]] = []
    for name, own in changes.items():
        same = next((names for names, known in parts if known == own), None)
        if same is not None:
            same.append(name)
        elif own:
            parts.append(([name], own))
    shown, left = parts[:MOST_ENVIRONMENTS], sum(len(names) for names, _ in parts[MOST_ENVIRONMENTS:])
    more = f"\n{counted(left, 'more environment')} did not fit into this comment.\n" if left else ""
    texts: list[str] = []
    room = limit - len(more)
    for index, (names, own) in enumerate(shown):
        heading = escaped(", ".join(names)) or "Stowplan"
        texts.append(changes_markdown.comment(own, limit=room // (len(shown) - index) - 1, heading=heading))
        room -= len(texts[-1]) + 1
    return "\n".join(texts) + more if parts else changes_markdown.comment((), limit=limit)


def _verdict(review: Review) -> Iterator[str]:
    verdict = review.verdict
    yield f"**{verdict_line(review)}**"
    if verdict.runs:
        yield ""
    yield from _bounded([_run(run) for run in verdict.runs], "runs")
    for title, sentences in (
        ("Security", verdict.security),
        ("Data at risk", verdict.data),
        ("Rights added", verdict.rights),
    ):
        if sentences:
            yield f"- **{title}**"
            yield from _bounded([f"  - {escaped(each)}" for each in sentences], "sentences")


def verdict_line(review: Review) -> str:
    """Return the verdict in one line: `1 run ends, 2 runs start; no data is at risk; no rights are added`."""
    runs, verdict = review.verdict.runs, review.verdict
    parts = []
    for fate, one, several in (
        (RunFate.ENDS, "run ends", "runs end"),
        (RunFate.REPLACED, "run ends and starts again", "runs end and start again"),
        (RunFate.STARTS, "run starts", "runs start"),
    ):
        number = sum(run.fate is fate for run in runs)
        if number:
            parts.append(f"{number} {one if number == 1 else several}")
    first = ", ".join(parts) or "No run starts or ends"
    data = f"{counted(len(verdict.data), 'warning')} about data" if verdict.data else "no data is at risk"
    rights = f"{counted(len(verdict.rights), 'right')} added" if verdict.rights else "no rights are added"
    security = [f"{counted(len(verdict.security), 'warning')} about security"] if verdict.security else []
    return "; ".join([first, *security, data, rights])


def _run(run: RunChange) -> str:
    place = f" (`{code(run.place.file)}:{run.place.line}`)" if run.place.line else ""
    why = escaped("; ".join(each.removesuffix(".") for each in run.reasons))
    what = f"- {_SIGNS[run.fate]}: {escaped(run.part)} of `{code(run.owner)}`{place}"
    return ". ".join(filter(None, [": ".join(filter(None, [what, why])), escaped(" ".join(run.effects))]))


def _figures(figures: Sequence[Figure]) -> str:
    rows = [f"| {escaped(each.title)} | {each.before} | {each.after} |" for each in figures if each.more is not None]
    if not rows:
        return ""
    return "\n".join(["| | before | after |", "|---|---:|---:|", *_bounded(rows, "numbers"), ""])


def _secrets(review: Review) -> Iterator[str]:
    for each in review.secrets:
        if each.new:
            keys = f" with {', '.join(each.keys)}" if each.keys else ""
            where = "in this repository" if each.defined else "not in this repository"
            yield f"{each.namespace}/{each.name}{keys}, {where}"


def _listed(title: str, lines: Sequence[str]) -> str:
    items = [f"- {escaped(each)}" for each in lines]
    return "\n".join([f"#### {title}", "", *_bounded(items, "lines"), ""]) if lines else ""


def _bounded(lines: Sequence[str], what: str) -> list[str]:
    more = len(lines) - MOST_LINES
    return [*lines[:MOST_LINES], *([f"- and {more} more {what}"] if more > 0 else [])]
