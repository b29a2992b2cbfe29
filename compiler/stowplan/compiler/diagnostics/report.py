"""The diagnostics of one run."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from stowplan.compiler.diagnostics.document import Document
from stowplan.compiler.diagnostics.locations import Location
from stowplan.schema.diagnostics import Finding, Severity, dotted


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A finding with its place; what users see. Sorts by place, then code, path and text.

    One with a number in `more` stands for that many of its code and file that are not told one by one.
    """

    code: str
    severity: Severity
    location: Location
    field_path: str
    message: str
    hint: str
    more: int = 0

    @property
    def sort_key(self) -> tuple[Location, str, str, str]:
        return self.location, self.code, self.field_path, self.message


def diagnose_at(location: Location, found: Finding) -> Diagnostic:
    """`found`, at a place that is known."""
    return Diagnostic(found.code, found.severity, location, dotted(found.path), found.message, found.hint)


def diagnose(document: Document, found: Finding) -> Diagnostic:
    """`found`, placed in its document."""
    return diagnose_at(document.locate(found.path, found.anchor), found)


MOST_ALIKE = 100
"""Diagnostics of one code and severity in one file that are told one by one. Nobody reads more, and a hostile file
could hold hundreds of thousands."""

_Alike = tuple[str, str, Severity]


class Report:
    """The diagnostics of one run. Stages only add; the command line reads."""

    def __init__(self) -> None:
        self._seen: dict[Diagnostic, None] = {}
        self._alike: Counter[_Alike] = Counter()
        self._rest: dict[_Alike, Diagnostic] = {}

    def add(self, *diagnostics: Diagnostic) -> None:
        """Keep each diagnostic once, and count those that are too many of their kind."""
        for each in diagnostics:
            if each in self._seen:
                continue
            alike = (each.location.file, each.code, each.severity)
            if each.more or self._alike[alike] >= MOST_ALIKE:
                self._leave_out(alike, each)
            else:
                self._alike[alike] += 1
                self._seen[each] = None

    def _leave_out(self, alike: _Alike, each: Diagnostic) -> None:
        rest = self._rest.get(alike)
        more = (each.more or 1) + (rest.more if rest else 0)
        place = min(each.location, rest.location) if rest else each.location
        message = f"{more:,} more of {each.code} in this file are not listed."
        self._rest[alike] = Diagnostic(each.code, each.severity, place, "", message, "Correct the others first.", more)

    def add_findings(self, document: Document, findings: Iterable[Finding]) -> None:
        """Keep findings of one document, placed in it; but none of a value that was refused on reading."""
        self.add(*(diagnose(document, found) for found in findings if found.path not in document.refused))

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """All of them, sorted by place and code."""
        return sorted((*self._seen, *self._rest.values()), key=lambda d: d.sort_key)

    @property
    def failed(self) -> bool:
        """Whether there is an error."""
        return any(d.severity is Severity.ERROR for d in (*self._seen, *self._rest.values()))
