"""The stages before compiling: cache lookup, reading, validation and references between specs."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version

from stowplan.compiler.cache import fingerprint
from stowplan.compiler.cache.compiled_file import CompiledFile
from stowplan.compiler.compiling.lookup import Lookup
from stowplan.compiler.diagnostics.document import Document
from stowplan.compiler.diagnostics.report import Diagnostic, Report
from stowplan.compiler.environments.target import Target
from stowplan.compiler.lowering.lower import context_of
from stowplan.compiler.model import Program, Spec
from stowplan.compiler.output.render import Rendered
from stowplan.compiler.repository.layout import Repository
from stowplan.compiler.repository.load import Loading
from stowplan.compiler.specs import retired_runs, spec_facts
from stowplan.compiler.specs.resolve import resolve
from stowplan.compiler.specs.spec_facts import SpecFacts
from stowplan.compiler.specs.validate import is_spec, read_spec, validate
from stowplan.library.dialects.shared.context import Context
from stowplan.schema.kinds.table import DATASET_KINDS, TRAINING_KINDS
from stowplan.schema.meta import SpecId


@dataclass(frozen=True, slots=True)
class Reading:
    """Result of reading. `program` holds only the specs to compile; `facts` are about all specs, sorted by identity.

    `hits` are the compiled files from the cache by path, and `outputs` the output files of their specs. `read` are the
    diagnostics of the other files. `keys` are the digests of the contents of all files by path, see
    `Lookup.content_keys`. `mixed` are the paths of files with documents that are no specs, and `others` is a digest of
    these files. `retired` are the specs whose run is over and kept out of the output.
    """

    loading: Loading
    program: Program
    facts: tuple[SpecFacts, ...]
    context: Context
    hits: Mapping[str, CompiledFile]
    outputs: tuple[Rendered, ...]
    read: tuple[Diagnostic, ...]
    keys: Mapping[str, str]
    mixed: frozenset[str]
    others: str
    retired: frozenset[SpecId] = frozenset()

    def texts(self, report: Report) -> Mapping[str, str]:
        """Return the contents of the files that diagnostics name, by path."""
        named = {each.location.file for each in report.diagnostics} & (self.loading.texts.keys() | self.hits.keys())
        return {file: self.loading.text(file) for file in sorted(named)}

    def pinned(self, platform: Document) -> Document:
        """Return a platform document with what the lock file pins in it."""
        return self.loading.pinning.of_platform(platform, Report())

    def find(self, spec: SpecId) -> Document | None:
        """Return the document of a spec; None if there is no such spec."""
        index = bisect_left(self.facts, spec, key=lambda each: each.id)
        found = self.facts[index] if index < len(self.facts) else None
        return document(self.loading, found) if found is not None and found.id == spec else None


def read(repo: Repository, report: Report, lookup: Lookup, target: Target | None = None) -> Reading:
    """Find all files, read and validate those that the cache does not have, and resolve references of all specs.

    `target` is the cluster and environment to compile for; None if the platform file has no environments.
    """
    found = Report()
    loading = Loading(repo, found, lookup.known.contents, target)
    keys = lookup.content_keys(loading.digests)
    candidates = lookup.candidates(keys)
    sources = loading.sources(candidates.keys())
    unreadable = found.failed
    program = replace(validate(sources, found), incomplete=unreadable)
    report.silence(program.platform.policy.quiet)
    mixed = frozenset(each.file for each in sources.documents if not is_spec(each))
    others = fingerprint.of(*(keys[file] for file in sorted(mixed)))
    facts = _sorted(program.specs, candidates.values(), program)
    known = {each.id: each for each in reversed(facts)}
    outputs: list[Rendered] = []
    hits: dict[str, CompiledFile] = {}
    for path, file in candidates.items():
        files = lookup.hit(file, others, known, program.refused)
        if files is not None:
            hits[path] = file
            outputs += files
    stale = _specs(loading, candidates.keys() - hits.keys(), program, found)
    specs = tuple(sorted((*program.specs, *stale), key=lambda each: (each.document.file, each.document.index)))
    program = replace(program, specs=specs)
    report.add(*found.diagnostics, *(each for file in hits.values() for each in file.read))
    program, resolved = resolve(program, facts, lambda each: document(loading, each), report)
    if target and not unreadable:
        target.check(loading.all_files, {*(each.id for each in resolved), *program.refused}, report)
    context = _with_others(context_of(program, _version()), loading, program, resolved)
    read_files = tuple(found.diagnostics)
    if not (unreadable or program.refused):
        loading.pinning.report_unused((*(each.pins for each in resolved), *loading.pins), report)
    retired = retired_runs.kept_out(loading.runs, resolved, target.environment.name if target else None, report)
    return Reading(loading, program, resolved, context, hits, tuple(outputs), read_files, keys, mixed, others, retired)


def document(loading: Loading, spec: SpecFacts) -> Document:
    """Return the document of a spec, from its file, which may be read again for that."""
    return next(each for each in loading.reread(spec.file) if each.index == spec.index)


def _sorted(specs: Iterable[Spec], files: Iterable[CompiledFile], program: Program) -> list[SpecFacts]:
    """Return the facts of `specs` and of the specs in cached `files`, sorted by file and position in the file."""
    context = Context(program.platform, "")
    facts = [spec_facts.of_spec(spec, context) for spec in specs]
    facts += [spec.facts for file in files for spec in file.specs]
    return sorted(facts, key=lambda each: (each.file, each.index))


def _specs(loading: Loading, files: Iterable[str], program: Program, report: Report) -> list[Spec]:
    """Read and validate files that hold only specs; return the specs without errors."""
    found = (read_spec(each, program.platform, report) for each in loading.documents(frozenset(files)))
    return [spec for spec in found if spec]


def _with_others(context: Context, loading: Loading, program: Program, facts: Sequence[SpecFacts]) -> Context:
    """Return the context with the specs that specs of the program depend on: datasets, and what jobs run after.

    Of what jobs run after, the datasets are added too. If a dataset is missing, all datasets are added, because the
    finding about it proposes similar names. The context gets the source files of all specs too.
    """
    sources = {(each.id.kind, each.id.namespace, each.id.name): each.file for each in facts}
    own = {spec.id for spec in program.specs}
    training = (each for each in facts if each.id in own and each.id.kind in TRAINING_KINDS)
    before = {one.spec for each in training for one in each.after}
    users = own | before
    wanted = {one.spec for each in facts if each.id in users for one in each.references if one.spec.name}
    others = {each.id: each for each in facts if each.id not in own}
    there = {spec: each for spec, each in others.items() if spec.kind in DATASET_KINDS or spec in before}
    complete = wanted <= there.keys() | context.datasets.keys()
    files = {each.file for spec, each in there.items() if not complete or spec in wanted | before}
    models = {spec.id: spec.model for spec in _specs(loading, files, program, Report()) if spec.id in there}
    return replace(
        context,
        datasets={**{spec: model for spec, model in models.items() if spec.kind in DATASET_KINDS}, **context.datasets},
        specs={**{spec: model for spec, model in models.items() if spec in before}, **context.specs},
        sources=sources,
    )


@cache
def _version() -> str:
    return version("stowplan")
