"""Diagnostics, and the report that collects those of one command."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from stowplan.compiler.diagnostics.document import Document
from stowplan.compiler.diagnostics.locations import Location
from stowplan.schema.diagnostics import Finding, Severity, dotted


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A finding with its location, as users see it. Sorted by location, then code, path and message.

    `field_path` is as from `dotted`. If `more` is above 0, this diagnostic stands for that number of others of its
    code, severity and file, which are not listed.
    """

    code: str
    severity: Severity
    location: Location
    field_path: str
    message: str
    hint: str
    more: int = 0


def diagnose_at(location: Location, found: Finding) -> Diagnostic:
    """Return a finding as a diagnostic at a given location."""
    return Diagnostic(found.code, found.severity, location, dotted(found.path), found.message, found.hint)


def diagnose(document: Document, found: Finding) -> Diagnostic:
    """Return a finding as a diagnostic, located in `document` by the path of the finding."""
    return diagnose_at(document.locate(found.path, found.anchor), found)


MOST_ALIKE = 100
"""Maximum number of listed diagnostics of one code and severity per file. Users read no more, and a hostile file could
have hundreds of thousands."""

_Alike = tuple[str, str, Severity]


class Report:
    """The diagnostics of one command. Stages add diagnostics; the command line prints them at the end."""

    def __init__(self) -> None:
        self._seen: dict[Diagnostic, None] = {}
        self._alike: Counter[_Alike] = Counter()
        self._rest: dict[_Alike, Diagnostic] = {}
        self._quiet: frozenset[str] = frozenset()
        self._left_out: set[int] = set()  # hashes only, since there may be very many

    def add(self, *diagnostics: Diagnostic) -> None:
        """Add diagnostics; equal ones count once.

        Above `MOST_ALIKE` for one file, code and severity, further diagnostics are only counted.
        """
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
        if hash(each) in self._left_out:
            return
        self._left_out.add(hash(each))
        rest = self._rest.get(alike)
        more = (each.more or 1) + (rest.more if rest else 0)
        place = min(each.location, rest.location) if rest else each.location
        message = f"{more:,} more of {each.code} in this file are not listed."
        self._rest[alike] = Diagnostic(each.code, each.severity, place, "", message, "Correct the others first.", more)

    def add_findings(self, document: Document, findings: Iterable[Finding]) -> None:
        """Add findings, located in their document, except findings about values that the reader refused."""
        self.add(*(diagnose(document, found) for found in findings if found.path not in document.refused))

    def silence(self, codes: Iterable[str]) -> None:
        """Leave out the infos with these codes, also those that were added before. Warnings and errors stay."""
        self._quiet |= frozenset(codes)

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """All diagnostics that are not silenced, by location and code, infos last. A group only counted has one."""
        everything = (*self._seen, *self._rest.values())
        found = (d for d in everything if d.severity is not Severity.INFO or d.code not in self._quiet)
        return sorted(found, key=lambda d: (d.severity is Severity.INFO, d.location, d.code, d.field_path, d.message))

    @property
    def failed(self) -> bool:
        """Whether a diagnostic is an error."""
        return any(d.severity is Severity.ERROR for d in (*self._seen, *self._rest.values()))
