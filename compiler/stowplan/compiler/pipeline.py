"""The stages in their order.

1. `compiling.reading` finds the files. It takes each file from the cache, or reads and validates it.
2. `compiling.compile_specs` compiles the specs that were read, in several processes: it lowers them, lets cdk8s render
   the objects, checks the objects of each spec and writes their YAML.
3. `compiling.compile_all` adds the objects of the platform file.
4. `checks.stage` compares the objects of all specs.

A spec from the cache has the same form as a compiled one, so no stage after the first can tell them apart. Extensions
get the objects of all specs before the checks. Every stage adds to one report. After an error, stages that need sound
input do not run. This module writes no files.
"""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from stowplan.compiler.cache.compiled_file import CompiledFiles, Known
from stowplan.compiler.checks import spec_stage, stage
from stowplan.compiler.committed import adoption, argocd_name, runs
from stowplan.compiler.committed.last_output import Committed
from stowplan.compiler.committed.objects import lost_inventory
from stowplan.compiler.committed.runs import Recompile, Start
from stowplan.compiler.committed.started import Started
from stowplan.compiler.committed.vouching import Base
from stowplan.compiler.compiling import alike
from stowplan.compiler.compiling.alike import Made
from stowplan.compiler.compiling.compile_all import Parts, specs_alone, with_platform
from stowplan.compiler.compiling.compile_specs import Setting
from stowplan.compiler.compiling.lookup import Lookup
from stowplan.compiler.compiling.reading import Reading, read
from stowplan.compiler.compiling.remember import remembered
from stowplan.compiler.diagnostics.report import Diagnostic, Report
from stowplan.compiler.environments.target import Target
from stowplan.compiler.lowering import output_layout
from stowplan.compiler.lowering.composer_pool import ComposerPool
from stowplan.compiler.lowering.extensions import Extensions, extend
from stowplan.compiler.lowering.lower import lower
from stowplan.compiler.lowering.plain_objects import plain_objects
from stowplan.compiler.lowering.platform_objects import settings
from stowplan.compiler.model import Output, Program
from stowplan.compiler.output import inventory
from stowplan.compiler.output.folder import OutputFolder, seen
from stowplan.compiler.output.inventory import Inventory
from stowplan.compiler.output.render import Rendered, Renderings
from stowplan.compiler.repository.layout import Repository
from stowplan.compiler.repository.spec_count import SpecCount, count
from stowplan.schema.diagnostics import Severity
from stowplan.schema.meta import ObjectId, SpecId

NOTHING, UNKNOWN = Recompile(), Known()


@dataclass(frozen=True, slots=True)
class Compiled:
    """Result of compiling; only `texts` is given if an error stopped it.

    `texts` are the contents of the files that diagnostics name, by path. `files` are the files of the output, and
    `objects` is the number of objects. `outputs` is empty unless the caller asked for it by `keep_objects`. `committed`
    is the inventory of the committed output. `starts` are the Jobs that a sync would start. `specs` are the identities
    of all specs, and `count` is their number; `program` may lack those that the cache has. `known` goes to the cache;
    None if the next command cannot use it. `waiting` are the infos about runs that wait to be started, by spec.
    `runs` are the hashes of the runs of training jobs that are written, by spec. `made` serves other clusters of the
    environment; None without environments and with extensions. `placed` are the objects that `validate` found for an
    environment, with their paths.
    """

    texts: Mapping[str, str]
    outputs: tuple[Output, ...] = ()
    files: tuple[Rendered, ...] = ()
    objects: int = 0
    committed: Inventory = field(default_factory=Inventory)
    starts: tuple[Start, ...] = ()
    program: Program | None = None
    specs: tuple[SpecId, ...] = ()
    count: SpecCount = field(default_factory=SpecCount)
    known: CompiledFiles | None = None
    waiting: Mapping[SpecId, Diagnostic] = field(default_factory=dict)
    runs: Mapping[SpecId, frozenset[str]] = field(default_factory=dict)
    made: Made | None = None
    placed: tuple[tuple[str, ObjectId], ...] = ()


def specs_of(
    repo: Repository, report: Report, target: Target | None = None
) -> tuple[Mapping[str, str], tuple[SpecId, ...]]:
    """Return the contents of the files that diagnostics name, by path, and the identities of all specs, sorted.

    `target` is the cluster and environment whose specs are wanted; None if the platform file has no environments.
    """
    reading = read(repo, report, Lookup("status"), target)
    return reading.texts(report), tuple(each.id for each in reading.facts)


def validate_repository(
    repo: Repository,
    report: Report,
    *,
    known: Known = UNKNOWN,
    keep_objects: bool = True,
    target: Target | None = None,
    first: Made | None = None,
) -> Compiled:
    """Compile without extensions and Node.js, and without reading the committed output. Diagnostics go to `report`.

    `known` are the cached results. With `keep_objects`, the result has the outputs. `target` is the cluster and
    environment to compile for; None if the platform file has no environments. `first` is what another cluster of the
    environment was compiled to.
    """
    lookup = Lookup("validate", known)
    made = alike.for_checks(first, target) if first and target else None
    if made is None:
        reading = read(repo, report, lookup, target)
        said = tuple(report.diagnostics)
        program = reading.program
        plain = tuple(plain_objects(program))
        definitions = spec_stage.definitions(plain, program.platform.kubernetes_version)
        setting = Setting(program, reading.context, definitions, keep_objects)
        specs = specs_alone(setting, reading, report)
        if target and not report.failed:
            made = Made(target, reading, said, setting, plain, specs)
    else:
        reading, setting, plain, specs = made.reading, made.setting, made.others, made.specs
        report.silence(reading.program.platform.policy.quiet)
        report.add(*made.diagnostics)
    parts = with_platform(specs, setting, plain, reading, lookup)
    _conclude(parts, setting, reading, report)
    return Compiled(
        reading.texts(report),
        parts.outputs,
        objects=parts.objects,
        program=setting.program,
        specs=tuple(each.id for each in reading.facts),
        count=count(each.file for each in reading.facts),
        known=None if report.failed else remembered(reading, parts),
        runs=parts.runs if target else {},
        made=made,
        placed=parts.placed(target.runs) if target else (),
    )


def compile_repository(
    repo: Repository,
    out: Path,
    report: Report,
    recompile: Recompile = NOTHING,
    *,
    composer: ComposerPool | None = None,
    known: Known = UNKNOWN,
    keep_objects: bool = True,
    base: Base | None = None,
    target: Target | None = None,
    first: Made | None = None,
) -> Compiled:
    """Compile the repository `repo` for the output folder `out`. Diagnostics go to `report`; nothing is written.

    `recompile` are the specs whose runs are not reused. `composer` can serve several calls; if it is None, this call
    makes one. `known` are the cached results. With `keep_objects`, the result has the outputs. `base` holds the runs of
    the base commit, which may be reused although the specs compile to other files now; None if there is none. Files
    that `out` already holds come without their content. `target` is the cluster and environment to compile for; None
    if the platform file has no environments. `first` is what another cluster of the environment was compiled to.
    """
    if composer is None:
        with closing(ComposerPool(lasting=False)) as own:
            return compile_repository(
                repo,
                out,
                report,
                recompile,
                composer=own,
                known=known,
                keep_objects=keep_objects,
                base=base,
                target=target,
                first=first,
            )
    adopted = adoption.source(target, out)
    tree = known.tree or seen(out)
    if target and adopted:
        tree, known = adoption.tree(target, adopted), UNKNOWN
    found, problems = inventory.read(tree.root)
    lookup = Lookup("synth", known, found)
    made = alike.again(first, target, found, tree, base) if first and target else None
    if made is None:
        reading = read(repo, report, lookup, target)
        said = tuple(report.diagnostics)
        program = reading.program
        extended = _extend(reading, repo.folder, composer, report)
        if report.failed and extended is not None:
            return Compiled(reading.texts(report))
        others = (*(output_layout.of_extensions(extended.additions) if extended else ()), *plain_objects(program))
        setting = Setting(
            program,
            reading.context,
            spec_stage.definitions(others, program.platform.kubernetes_version),
            keep_objects,
            Committed.of(found, tree, [each.id for each in reading.facts], base),
            recompile,
            composer,
            Started(target.environment.name, target.runs) if target and target.runs is not None else None,
            {unit.spec: unit for unit in extended.units} if extended else None,
            reading.retired,
            of_target=target is not None,
        )
        specs = specs_alone(setting, reading, report)
        if target and not extended and not report.failed:
            made = Made(target, reading, said, setting, others, specs)
    else:
        reading, others, specs = made.reading, made.others, made.specs
        setting = replace(made.setting, composer=composer)
        program, extended = reading.program, None
        report.silence(program.platform.policy.quiet)
        report.add(*made.diagnostics)
    parts = with_platform(specs, setting, others, reading, lookup)
    if parts.complete:
        lost = lost_inventory(found, tree, [each.id for each in reading.facts])
        report.add(*_spoiled(problems, lost, tree, recompile))
    if program.platform_document:
        settled = argocd_name.findings(program.platform.argocd, found, tree)
        report.add_findings(program.platform_document, settled)
    if target and adopted:
        moved = adoption.moves(program.platform.argocd, found, tree)
        report.add_findings(target.source, (replace(each, path=(*target.path, *each.path)) for each in moved))
    _conclude(parts, setting, reading, report)
    if report.failed:
        return Compiled(reading.texts(report))
    more = composer.render_outputs(settings(program))
    files = (*parts.files, *Renderings().all(more, tree))
    return Compiled(
        reading.texts(report),
        (*parts.outputs, *more) if keep_objects else (),
        adoption.loaded(files, tree) if adopted else files,
        parts.objects + len(more),
        inventory.read(out)[0] if adopted else found,
        parts.starts,
        program,
        tuple(each.id for each in reading.facts),
        count(each.file for each in reading.facts),
        None if extended else remembered(reading, parts),
        {spec: each for spec, found in parts.lowered.items() for each in found if each.code == "SP810"},
        parts.runs,
        made,
    )


def _extend(reading: Reading, repo: Path, composer: ComposerPool, report: Report) -> Extensions | None:
    """Execute the extensions on the units of all specs; return None if the platform file names no extensions."""
    program = reading.program
    if not program.platform.extensions:
        return None
    units = lower(program.specs, program, reading.context, report)
    if report.failed:
        return Extensions(())
    composer.use_jsii()
    extended = extend(program, composer.render(units), repo)
    report.add(*extended.diagnostics)
    return extended


def _conclude(parts: Parts, setting: Setting, reading: Reading, report: Report) -> None:
    """Add the diagnostics of all checks to `report`: of each spec, across specs, and about committed runs.

    Do nothing if an error stopped the compilation.
    """
    if not parts.complete:
        return
    report.add(*parts.reused)
    gone, committed = dict(parts.gone), setting.committed
    if committed:
        compared = committed.compared
        gone |= runs.without_recompiled(compared.strays, Inventory(compared.gone), setting.recompile)
    stage.conclude(parts.checked, setting.program, gone, report, elsewhere=reading.find)


def _spoiled(
    broken: Sequence[Diagnostic],
    lost: Sequence[tuple[SpecId | None, Diagnostic]],
    tree: OutputFolder,
    recompile: Recompile,
) -> list[Diagnostic]:
    """Return what is to be said of a `broken` and of a `lost` inventory.

    It is an error; it is a warning if the user recompiles all specs, or the one whose entries are lost.
    """
    if recompile.everything:
        return [inventory.unless_known_newer(tree.root, each) for each in (*broken, *(found for _, found in lost))]
    given = [replace(each, severity=Severity.WARNING) for spec, each in lost if spec and recompile.covers(spec)]
    return [*broken, *given, *(each for spec, each in lost if not (spec and recompile.covers(spec)))]
