"""The first stages together: what is known of the specs before any is compiled."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from pathlib import Path

from stowplan.compiler.batches import batch, parallel_reading
from stowplan.compiler.batches.parallel_reading import Part
from stowplan.compiler.diagnostics.document import Document
from stowplan.compiler.diagnostics.report import Diagnostic, Report
from stowplan.compiler.incremental.cached_specs import Beside
from stowplan.compiler.incremental.pickled_specs import Packed, Texts
from stowplan.compiler.incremental.spec_cache import Before, Kept
from stowplan.compiler.lowering.lower import context_of
from stowplan.compiler.model import Program, Sources, Spec
from stowplan.compiler.repository.load import Loading
from stowplan.compiler.specs.platform import platform as platform_of
from stowplan.compiler.specs.resolve import resolve_beside
from stowplan.compiler.specs.spec_facts import SpecFacts
from stowplan.compiler.specs.validate import validate
from stowplan.library.dialects.shared.context import Context
from stowplan.schema.frozen import dataclass
from stowplan.schema.meta import SpecId
from stowplan.schema.platform.platform import Platform


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read: `facts` of all specs, those `beside` the program included; what was `said` of files as such.

    `parts` are the specs to compile, in batches, and `examples` some of them, of different kinds. Packed ones are not
    in the program, nor their documents in the sources: `again` gives these.
    """

    sources: Sources
    program: Program
    facts: tuple[SpecFacts, ...]
    said: tuple[Diagnostic, ...]
    beside: Beside
    context: Context
    parts: Sequence[Packed | Sequence[Spec]]
    examples: Sequence[Spec]
    again: Texts

    @property
    def size(self) -> int:
        """How many specs are to be compiled, or a few more."""
        return len(self.parts) * batch.SIZE

    def texts(self, report: Report) -> Mapping[str, str]:
        """The sources that something may be said of, by file."""
        return {**self.sources.texts, **self.beside.again.named(report), **self.again.named(report)}

    def find(self, spec: SpecId) -> Document | None:
        """The document of a spec that is not in the program."""
        index = bisect_left(self.facts, spec, key=lambda each: each.id)
        found = self.facts[index] if index < len(self.facts) else None
        if found is None or found.id != spec:
            return None
        texts = self.beside.again if found.file in self.beside.again else self.again
        return texts.document(found.file, found.index)


def read(repo: Path, report: Report, before: Before = Before(), processes: int = 1) -> Reading:  # noqa: B008 - frozen
    """Read all files, or those that were not kept or that are concerned by what was not kept.

    Several processes may share the work where there is much of it; then specs come packed.
    """
    found, kept = Report(), before.kept
    loading = Loading(repo, found, before.contents, before.seen)
    if processes > 1 and not kept and (platform := _shareable(loading)):
        return _shared_out(loading, platform, found, report, processes) or read(repo, report, before)
    sources = loading.sources(kept.stale if kept else None)
    if kept and not kept.foresaw(sources):
        return read(repo, report, replace(before, kept=None), processes)
    program = validate(sources, found)
    beside = Beside(kept or Kept(), sources)
    report.add(*found.diagnostics, *beside.said)
    program, facts = resolve_beside(program, beside.facts, beside.document, report)
    context = beside.added_to(context_of(program, _version()))
    specs = program.specs
    examples = tuple({spec.id.kind: spec for spec in specs}.values())
    said, texts = tuple(found.diagnostics), Texts(sources.texts)
    return Reading(sources, program, facts, said, beside, context, _batches(specs), examples, texts)


def _shareable(loading: Loading) -> Platform | None:
    """The platform, where specs are worth several processes and there are no extensions, which may ask for anything."""
    platform = platform_of(loading.platform, Report()) if parallel_reading.worth(loading.contents()) else None
    return None if platform is None or platform.extensions else platform


def _shared_out(loading: Loading, platform: Platform, found: Report, report: Report, processes: int) -> Reading | None:
    """All files, read by several processes; None where there is an error: more can be said with everything at hand."""
    contents = dict(loading.contents())
    examples = parallel_reading.examples(contents, platform)
    parts = parallel_reading.read(contents, platform, batch.SIZE, processes)
    if parts is None:
        return None
    again, left = Texts(contents), {name for part in parts for name in part.left}
    sources = replace(loading.sources(lambda _: left), unread={})
    found.add(*(each for part in parts for each in part.said))
    program = validate(sources, found)
    others = [each for part in parts for each in part.facts]
    said, between = tuple(found.diagnostics), Report()
    program, facts = resolve_beside(program, others, lambda each: again.document(each.file, each.index), between)
    if found.failed or between.failed:
        return None
    report.add(*said, *between.diagnostics)
    digests = {each.id: each.digest for each in facts if each.digest != each.own_digest}
    context = _context(program, parts, facts)
    batches: list[Packed | Sequence[Spec]] = list(_batches(program.specs))
    batches += [Packed(content, again, digests) for part in parts for content in part.specs]
    return Reading(sources, program, facts, said, Beside(Kept(), sources), context, batches, examples, again)


def _context(program: Program, parts: Sequence[Part], facts: Sequence[SpecFacts]) -> Context:
    """What specs are lowered with that are not in the program."""
    context = context_of(program, _version())
    sets = {name: model for part in parts for name, model in part.sets.items()}
    files = {(each.id.kind, each.id.namespace, each.id.name): each.file for each in facts}
    return replace(context, sample_sets={**sets, **context.sample_sets}, sources=files)


@cache
def _version() -> str:
    return version("stowplan")


def _batches(specs: Sequence[Spec]) -> list[Sequence[Spec]]:
    return [specs[start : start + batch.SIZE] for start in range(0, len(specs), batch.SIZE)]
