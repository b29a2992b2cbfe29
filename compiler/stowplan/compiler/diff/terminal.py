"""Changes for people on a terminal."""

from collections.abc import Iterator, Sequence

from rich.text import Text

from stowplan.compiler.diagnostics.escaping import visible
from stowplan.compiler.diff.change import Action, Change, Danger
from stowplan.compiler.diff.groups import Group, grouped
from stowplan.compiler.diff.wording import field_line, others, summary, title
from stowplan.compiler.pins.pin_changes import PinChange

_STYLES = {
    Action.FOREIGN: "bold red",
    Action.REMOVED: "red",
    Action.REPLACED: "yellow",
    Action.CREATED: "green",
    Action.CHANGED: "cyan",
}
MOST_FIELDS = 20
"""Maximum number of fields that are shown for one object."""


def lines(changes: Sequence[Change]) -> Iterator[Text]:
    """Yield the lines about each group of similar changes, the riskiest first; then a line with the totals."""
    for group in grouped(changes):
        yield from _group(group)
    yield Text(summary(changes))


def pins(moves: Sequence[PinChange]) -> Iterator[Text]:
    """Yield the lines about pins that moved; nothing without any."""
    if moves:
        yield Text("Pins moved", style="bold")
    for each in moves:
        about = f"  {visible(each.about)}" if each.about else ""
        yield Text.assemble(f"  {each.what} ", (visible(each.key), "bold"), f"  {each.revisions}", (about, "dim"))


def _group(group: Group) -> Iterator[Text]:
    first = group.first
    yield Text.assemble(
        (f"{first.action} ", _STYLES[first.action]), (title(first), "bold"), (f"  {visible(first.source)}", "dim")
    )
    for risk in first.risks:
        style = "bold red" if risk.danger is Danger.DATA else "yellow"
        yield Text.assemble("  ", (f"{risk.danger}: ", style), visible(risk.text))
    for field in first.fields[:MOST_FIELDS]:
        yield Text(f"    {field_line(field)}")
    if len(first.fields) > MOST_FIELDS:
        yield Text(f"    and {len(first.fields) - MOST_FIELDS} more fields", style="dim")
    if group.others:
        yield Text(f"  {others(group)}", style="dim")
