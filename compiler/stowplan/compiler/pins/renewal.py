"""Renewal of the lock file: which references are resolved again, and what becomes of the entries."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatchcase

from stowplan.compiler.diagnostics.report import Diagnostic, Report
from stowplan.compiler.pins.references import Reference
from stowplan.compiler.pins.resolvers.failure import UnresolvedError
from stowplan.compiler.pins.substitution import entry
from stowplan.library.dialects.reading.floating import FloatingReference, Section
from stowplan.schema.diagnostics import Severity
from stowplan.schema.lock import Lock, Pin

Entries = Mapping[Section, Mapping[str, Pin]]

_AT_ONCE = 8
"""Remotes that are asked at the same time."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Which references with an entry are resolved again: all, or those whose keys match a pattern of `names`.

    In a pattern such as `ghcr.io/acme/*`, `*` matches `/` too.
    """

    everything: bool = False
    names: tuple[str, ...] = ()

    def covers(self, reference: Reference) -> bool:
        """Whether the reference is resolved again although it has an entry."""
        return self.everything or any(fnmatchcase(reference.wanted.key, name) for name in self.names)

    def unknown(self, references: Iterable[Reference]) -> list[str]:
        """Return the patterns that match no reference, sorted."""
        keys = [each.wanted.key for each in references]
        return sorted(name for name in self.names if not any(fnmatchcase(key, name) for key in keys))


def renewed(
    references: Sequence[Reference],
    lock: Lock,
    choice: Choice,
    resolver: Callable[[Section], Callable[[FloatingReference], Pin]],
    report: Report,
) -> Entries:
    """Return the entries of all references: those of the lock, and new ones where it has none or `choice` wants it.

    An entry that no reference uses is left out. What cannot be resolved is reported as SP906 at each place that has the
    reference, and keeps its entry. `resolver` is called once for each section that is asked, first of all, and may
    raise. It returns the function that asks the remote, which several threads call.
    """
    wanted = [
        each.wanted
        for each in references
        if entry(lock, each.wanted.section, each.wanted.key) is None or choice.covers(each)
    ]
    calls = {section: resolver(section) for section in {each.section for each in wanted}}

    def ask(reference: FloatingReference) -> Pin | UnresolvedError:
        try:
            return calls[reference.section](reference)
        except UnresolvedError as error:
            return error

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        answers = dict(zip(((each.section, each.key) for each in wanted), pool.map(ask, wanted), strict=True))
    found: dict[Section, dict[str, Pin]] = {section: {} for section in Section}
    for each in references:
        section, key = each.wanted.section, each.wanted.key
        answer = answers.get((section, key))
        if isinstance(answer, UnresolvedError):
            for use in each.uses:
                report.add(Diagnostic("SP906", Severity.ERROR, use.location, use.field, answer.message, answer.hint))
            answer = None
        pin = answer or entry(lock, section, key)
        if pin is not None:
            found[section][key] = pin
    return found
