"""The first stages together: what is known of the specs before any is compiled."""

import pickle
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from stowplan.compiler import batch
from stowplan.compiler.beside import Beside
from stowplan.compiler.kept import Before, Kept
from stowplan.compiler.load import load
from stowplan.compiler.lower import context_of
from stowplan.compiler.model import Program, Sources, Spec
from stowplan.compiler.packed import Packed, Texts
from stowplan.compiler.resolve import resolve_beside
from stowplan.compiler.source import Diagnostic, Document, Report
from stowplan.compiler.spec_facts import SpecFacts
from stowplan.compiler.validate import is_spec, validate
from stowplan.library.dialects.context import Context
from stowplan.schema.meta import SpecId
from stowplan.schema.records import dataclass


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read: `facts` of all specs, those `beside` the program included; what was `said` of files as such.

    `parts` are the specs to compile, in batches, and `examples` one of each kind. Where they are packed, neither the
    program nor the sources have them.
    """

    sources: Sources
    program: Program
    facts: tuple[SpecFacts, ...]
    said: tuple[Diagnostic, ...]
    beside: Beside
    context: Context
    parts: Sequence[Packed | Sequence[Spec]]
    examples: Packed | Sequence[Spec]
    again: Texts
    """Gives documents that are not held any more."""

    @property
    def size(self) -> int:
        """How many specs are to be compiled, or a few more."""
        return len(self.parts) * batch.SIZE

    def texts(self, report: Report) -> Mapping[str, str]:
        """The sources that something may be said of, by file."""
        return {**self.sources.texts, **self.beside.texts(report)}

    def find(self, spec: SpecId) -> Document | None:
        """The document of a spec that is not in the program."""
        index = bisect_left(self.facts, spec, key=lambda each: each.id)
        found = self.facts[index] if index < len(self.facts) else None
        if found is None or found.id != spec:
            return None
        read = found.file in self.sources.texts
        return self.again.document(found.file, found.index) if read else self.beside.document(found)

    def packed(self) -> bytes:
        """All of it as bytes, for `unpacked`; specs that are to be compiled stay packed there."""
        others = tuple(document for document in self.sources.documents if not is_spec(document))
        examples, *parts = (
            part if isinstance(part, Packed) else Packed(part, self.again) for part in (self.examples, *self.parts)
        )
        sources, program = replace(self.sources, documents=others), replace(self.program, specs=())
        known = replace(self, sources=sources, program=program, parts=parts, examples=examples)
        return pickle.dumps(known, pickle.HIGHEST_PROTOCOL)

    @classmethod
    def unpacked(cls, content: bytes) -> "Reading":
        """What was packed, in as little memory as it needs if all that was read has been let go before.

        What is left of many objects lies scattered among them, and keeps the memory of them all.
        """
        reading: Reading = pickle.loads(content)  # noqa: S301 - our own
        return reading


def read(repo: Path, report: Report, before: Before = Before()) -> Reading:  # noqa: B008 - frozen
    """Read all files, or those that were not kept or that are concerned by what was not kept."""
    found, kept = Report(), before.kept
    sources = load(repo, found, kept.stale if kept else None, before.contents)
    if kept and not kept.foresaw(sources):
        found, kept = Report(), None
        sources = load(repo, found, None, before.contents)
    program = validate(sources, found)
    beside = Beside(kept or Kept(), sources)
    report.add(*found.diagnostics, *beside.said)
    program, facts = resolve_beside(program, beside.facts, beside.document, report)
    context = beside.added_to(context_of(program, version("stowplan")))
    specs = program.specs
    parts = [specs[start : start + batch.SIZE] for start in range(0, len(specs), batch.SIZE)]
    examples = tuple({spec.id.kind: spec for spec in specs}.values())
    said, texts = tuple(found.diagnostics), Texts(sources.texts)
    return Reading(sources, program, facts, said, beside, context, parts, examples, texts)
