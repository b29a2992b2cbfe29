"""Diagnostics as GitHub Actions reads them from a log: each becomes an annotation at its line of the pull request."""

from collections.abc import Iterator, Sequence
from posixpath import normpath

from stowplan.compiler.diagnostics.console import summary
from stowplan.compiler.diagnostics.escaping import visible_lines
from stowplan.compiler.diagnostics.report import Diagnostic
from stowplan.schema.diagnostics import Severity

_WORDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def annotations(diagnostics: Sequence[Diagnostic], folder: str) -> Iterator[str]:
    """Yield one line for each diagnostic, then a summary line.

    `folder` is the path from the workspace of GitHub Actions to the user's repository.
    """
    for each in diagnostics:
        place = each.location
        properties = {
            "file": normpath(f"{folder}/{place.file}"),
            "line": str(place.line),
            "col": str(place.column),
            "title": f"{each.code} {each.field_path}".rstrip(),
        }
        listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
        text = f"{each.message}\n{each.hint}"
        yield f"::{_WORDS[each.severity]} {listed}::{_message(text)}"
    yield summary(diagnostics)


def _message(text: str) -> str:
    return visible_lines(text).replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
