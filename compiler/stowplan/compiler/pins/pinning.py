"""What the lock file means for each document of a repository: its pins, and what is to be said of them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING

from stowplan.compiler.diagnostics.document import Document
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.kubernetes.fields import mapping
from stowplan.compiler.pins import images, lock_file
from stowplan.compiler.pins.substitution import entry, pinned
from stowplan.library.dialects.reading.floating import FloatingReference, Section
from stowplan.library.dialects.registry import reading
from stowplan.schema.diagnostics import Finding, Severity, finding

if TYPE_CHECKING:
    from stowplan.schema.lock import Lock

_SEVERITY = {"warn": Severity.WARNING, "require": Severity.ERROR}
"""Severity of a reference without an entry, by `policy.pins`."""
_PIN = "Run `stowplan pin`, and commit the lock file."


@dataclass
class Pinning:
    """The lock of a repository; `lock` is None if there is none, or if it has errors.

    `document` is that of the lock file. `severity` is that of references without an entry; None if they are allowed.
    `of_platform` and `of_spec` add their document with its references to `collected`, unless that is None.
    """

    document: Document | None
    lock: "Lock | None"
    severity: Severity | None
    collected: list[tuple[Document, Sequence[FloatingReference]]] | None = None

    @classmethod
    def of(cls, document: Document | None, platform: Document | None, report: Report) -> "Pinning":
        """Return the pinning by lock file and platform file, None if not there; errors of the former are reported."""
        policy = mapping(platform.data, "policy").get("pins") if platform else None
        return cls(document, lock_file.read(document, report), _SEVERITY.get(str(policy)))

    def of_platform(self, document: Document, report: Report) -> Document:
        """Return the platform document with the digests of the agents' images; findings go to `report`."""
        return self._pinned(document, tuple(images.of_platform(document.data, version("stowplan"))), report)

    def of_spec(self, document: Document, report: Report) -> Document:
        """Return a document of `specs` with its pins; findings go to `report`."""
        if not (self.lock or self.severity or self.collected is not None):
            return document
        if self.lock:
            report.add_findings(document, self._contradictions(document, self.lock))
        return self._pinned(
            document, (*images.pins(document.data), *reading(document.data.get("kind")).pins(document.data)), report
        )

    def report_unused(self, used: Iterable[Iterable[str]], report: Report) -> None:
        """Report SP903 for each entry that is not among `used`, which are as in `Document.pins`."""
        if self.document and self.lock:
            known = frozenset(each for own in used for each in own)
            entries = [(each, key) for each in Section for key in getattr(self.lock, each.value)]
            for section, key in entries:
                if f"{section} {key}" not in known:
                    message, hint = f"Nothing refers to {key} any more.", "`stowplan pin` removes the entry."
                    report.add_findings(self.document, [finding("SP903", (section.value, key), message, hint)])

    def _pinned(self, document: Document, own: Sequence[FloatingReference], report: Report) -> Document:
        if own:
            if self.collected is not None:
                self.collected.append((document, own))
            hint = "Name the digest or commit in the program." if document.construct else _PIN
            report.add_findings(document, self._missing(own, hint))
        return pinned(document, own, self.lock) if self.lock else document

    def _missing(self, own: Iterable[FloatingReference], hint: str) -> Iterator[Finding]:
        """Yield SP902 for places without an entry, if the platform file wants all to be pinned."""
        for each in own if self.severity else ():
            if self.lock is None or entry(self.lock, each.section, each.key) is None:
                name = _named(each.section, each.key)
                message = f"{name} may be another one tomorrow: the lock file does not name it."
                yield finding("SP902", each.path, message, hint, severity=self.severity)

    def _contradictions(self, document: Document, lock: "Lock") -> Iterator[Finding]:
        for path, key, digest in images.fixed(document.data):
            pin = entry(lock, Section.IMAGES, key)
            if pin and pin.revision != digest:
                message = f"The lock file has {pin.revision} for {key}, and the spec another digest."
                yield finding("SP904", path, message, "Remove the digest here, or the entry there.")


def _named(section: Section, key: str) -> str:
    if section is Section.IMAGES:
        return f"The image {key}"
    return f"The listing of {key}" if section is Section.S3 else f"The branch or tag of {key}"
