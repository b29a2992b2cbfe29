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

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from stowplan.compiler.cache.compiled_file import CompiledFiles, Known
from stowplan.compiler.checks import spec_stage, stage
from stowplan.compiler.committed import runs
from stowplan.compiler.committed.last_output import Committed
from stowplan.compiler.committed.objects import lost_inventory
from stowplan.compiler.committed.runs import Recompile
from stowplan.compiler.committed.vouching import Base
from stowplan.compiler.compiling.compile_all import Parts, compile_all
from stowplan.compiler.compiling.compile_specs import Setting
from stowplan.compiler.compiling.lookup import Lookup
from stowplan.compiler.compiling.reading import Reading, read
from stowplan.compiler.compiling.remember import remembered
from stowplan.compiler.diagnostics.report import Diagnostic, Report
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
from stowplan.compiler.repository.spec_count import SpecCount, count
from stowplan.schema.meta import ObjectId, SpecId

NOTHING, UNKNOWN = Recompile(), Known()


@dataclass(frozen=True, slots=True)
class Compiled:
    """Result of compiling; only `texts` is given if an error stopped it.

    `texts` are the contents of the files that diagnostics name, by path. `files` are the files of the output, and
    `objects` is the number of objects. `outputs` is empty unless the caller asked for it by `keep_objects`. `committed`
    is the inventory of the committed output. `starts` are the Jobs that a sync would start. `specs` are the identities
    of all specs, and `count` is their number; `program` may lack those that the cache has. `known` goes to the cache;
    None if the next command cannot use it.
    """

    texts: Mapping[str, str]
    outputs: tuple[Output, ...] = ()
    files: tuple[Rendered, ...] = ()
    objects: int = 0
    committed: Inventory = field(default_factory=Inventory)
    starts: tuple[ObjectId, ...] = ()
    program: Program | None = None
    specs: tuple[SpecId, ...] = ()
    count: SpecCount = field(default_factory=SpecCount)
    known: CompiledFiles | None = None


def specs_of(repo: Path, report: Report) -> tuple[Mapping[str, str], tuple[SpecId, ...]]:
    """Return the contents of the files that diagnostics name, by path, and the identities of all specs, sorted."""
    reading = read(repo, report, Lookup("status"))
    return reading.texts(report), tuple(each.id for each in reading.facts)


def validate_repository(repo: Path, report: Report, *, known: Known = UNKNOWN, keep_objects: bool = True) -> Compiled:
    """Compile without extensions and Node.js, and without reading the committed output. Diagnostics go to `report`.

    `known` are the cached results. With `keep_objects`, the result has the outputs.
    """
    lookup = Lookup("validate", known)
    reading = read(repo, report, lookup)
    program = reading.program
    plain = plain_objects(program)
    definitions = spec_stage.definitions(plain, program.platform.kubernetes_version)
    setting = Setting(program, reading.context, definitions, keep_objects)
    parts = compile_all(setting, plain, reading, lookup, report)
    _conclude(parts, setting, reading, report)
    return Compiled(
        reading.texts(report),
        parts.outputs,
        objects=parts.objects,
        program=program,
        count=count(each.file for each in reading.facts),
        known=None if report.failed else remembered(reading, parts),
    )


def compile_repository(
    repo: Path,
    out: Path,
    report: Report,
    recompile: Recompile = NOTHING,
    *,
    composer: ComposerPool | None = None,
    known: Known = UNKNOWN,
    keep_objects: bool = True,
    base: Base | None = None,
) -> Compiled:
    """Compile the repository in `repo` for the output folder `out`. Diagnostics go to `report`; nothing is written.

    `recompile` are the specs whose runs are not reused. `composer` can serve several calls; if it is None, this call
    makes one. `known` are the cached results. With `keep_objects`, the result has the outputs. `base` holds the runs of
    the base commit, which may be reused although the specs compile to other files now; None if there is none. Files
    that `out` already holds come without their content.
    """
    if composer is None:
        with closing(ComposerPool(lasting=False)) as own:
            return compile_repository(
                repo, out, report, recompile, composer=own, known=known, keep_objects=keep_objects, base=base
            )
    tree = known.tree or seen(out)
    found, problems = _inventory(tree, recompile)
    lookup = Lookup("synth", known, found)
    reading = read(repo, report, lookup)
    program = reading.program
    extended = _extend(reading, repo, composer, report)
    if report.failed and extended is not None:
        return Compiled(reading.texts(report))
    others = [*(output_layout.of_extensions(extended.additions) if extended else ()), *plain_objects(program)]
    setting = Setting(
        program,
        reading.context,
        spec_stage.definitions(others, program.platform.kubernetes_version),
        keep_objects,
        Committed.of(found, tree, [each.id for each in reading.facts], base),
        recompile,
        composer,
        {unit.spec: unit for unit in extended.units} if extended else None,
    )
    parts = compile_all(setting, others, reading, lookup, report)
    report.add(*(problems if parts.complete else ()))
    _conclude(parts, setting, reading, report)
    if report.failed:
        return Compiled(reading.texts(report))
    more = composer.render_outputs(settings(program))
    return Compiled(
        reading.texts(report),
        (*parts.outputs, *more) if keep_objects else (),
        (*parts.files, *Renderings().all(more, tree)),
        parts.objects + len(more),
        found,
        parts.starts,
        program,
        tuple(each.id for each in reading.facts),
        count(each.file for each in reading.facts),
        None if extended else remembered(reading, parts),
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
        gone |= runs.without_recompiled(committed.strays, Inventory(committed.gone), setting.recompile)
    stage.conclude(parts.checked, setting.program, gone, report, elsewhere=reading.find)


def _inventory(tree: OutputFolder, recompile: Recompile) -> tuple[Inventory, list[Diagnostic]]:
    """Return the committed inventory and its diagnostics.

    A lost or broken inventory is an error; it is a warning if the user recompiles all specs.
    """
    found, problems = inventory.read(tree.root)
    problems += lost_inventory(tree)
    if recompile.everything:
        problems = [inventory.unless_known_newer(tree.root, problem) for problem in problems]
    return found, problems
