"""Output of diagnostics: lines for people, JSON for programs.

Rich is imported on first use: most commands have no diagnostics, and JSON needs no styles.
"""

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from stowplan.compiler.diagnostics.escaping import logged, visible
from stowplan.compiler.diagnostics.locations import LINE_BREAK
from stowplan.compiler.diagnostics.report import Diagnostic
from stowplan.schema.diagnostics import Severity

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}
_TAB = 4
_UNLIMITED = 1_000
_WIDEST = 160
"""Maximum number of characters in an excerpt; a longer line is cut around the location."""


def terminal(*, stderr: bool = False) -> "Console":
    """Return a console of Rich for people: styled on a terminal unless the user sets NO_COLOR, otherwise plain."""
    from rich.console import Console  # noqa: PLC0415 - start-up time

    return Console(stderr=stderr, color_system=None if os.environ.get("NO_COLOR") else "auto")


def print_whole(table: "Table") -> None:
    """Print a table for people. In a pipe no line is cut: the reader may search for any word."""
    from rich.console import Console  # noqa: PLC0415 - start-up time

    console = terminal()
    (console if console.is_terminal else Console(width=_UNLIMITED)).print(table)


def print_text(console: "Console", diagnostics: Sequence[Diagnostic], texts: Mapping[str, str]) -> None:
    """Print one block for each diagnostic, then a summary line.

    A block has a line with location, severity, code and message, then a line with the field and one with the hint. On a
    terminal the source line follows the first line, with a caret under the location. `texts` are the contents of the
    files by path.
    """
    from rich.text import Text  # noqa: PLC0415 - start-up time

    lines = {file: LINE_BREAK.split(text) for file, text in texts.items()} if console.is_terminal else {}
    for each in diagnostics:
        style = _STYLES[each.severity]
        head = Text.assemble(
            (f"{each.location}: ", "bold"), (f"{each.severity} {each.code}", style), f": {logged(each.message)}"
        )
        console.print(head, soft_wrap=True)
        _excerpt(console, each, lines.get(each.location.file, []), style)
        if each.field_path:
            console.print(Text.assemble("  ", ("at", "dim"), f" {visible(each.field_path)}"), soft_wrap=True)
        console.print(Text.assemble("  ", ("help:", "dim"), f" {logged(each.hint)}"), soft_wrap=True)
    console.print(summary(diagnostics), highlight=False)


def summary(diagnostics: Sequence[Diagnostic]) -> str:
    """Return the summary line, such as `2 errors, 1 warning, 0 infos`. Diagnostics that are not listed count too."""
    counts: Counter[Severity] = Counter()
    for each in diagnostics:
        counts[each.severity] += each.more or 1
    return ", ".join(f"{counts[s]} {s}{'' if counts[s] == 1 else 's'}" for s in Severity)


def as_json(diagnostics: Sequence[Diagnostic], extra: Mapping[str, Any]) -> str:
    """Return one JSON object with the list `diagnostics` and the entries of `extra`."""
    items = [
        {
            "code": each.code,
            "severity": each.severity.value,
            "file": each.location.file,
            "line": each.location.line,
            "column": each.location.column,
            "fieldPath": each.field_path,
            "message": each.message,
            "hint": each.hint,
            **({"more": each.more} if each.more else {}),
        }
        for each in diagnostics
    ]
    return json.dumps({"diagnostics": items, **extra}, indent=2, ensure_ascii=True)


def _excerpt(console: "Console", each: Diagnostic, lines: Sequence[str], style: str) -> None:
    from rich.text import Text  # noqa: PLC0415 - start-up time

    number = each.location.line
    if not 1 <= number <= len(lines):
        return
    before, after = _around(lines[number - 1], each.location.column - 1)
    margin = f"{number:>5} | "
    console.print(Text(f"{margin}{before}{after}"), soft_wrap=True)
    caret = " " * Text(before).cell_len
    console.print(Text.assemble((" " * 5 + " |", "dim"), f" {caret}", ("^", style)), soft_wrap=True)


def _around(line: str, column: int) -> tuple[str, str]:
    """Return the parts of a line before `column` and from it on, for an excerpt. `column` counts characters from 0.

    Both are cut if the line is longer than `_WIDEST`; `…` marks a cut.
    """
    shown = line.expandtabs(_TAB)
    place = len(line[:column].expandtabs(_TAB))
    start = max(0, place - _WIDEST // 2) if len(shown) > _WIDEST else 0
    end = start + _WIDEST
    before, after = logged(shown[start:place]), logged(shown[place:end])
    return ("…" if start else "") + before, after + ("…" if end < len(shown) else "")
