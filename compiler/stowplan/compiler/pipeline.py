"""The stages in their order.

`load` reads files into documents, `validate` documents into specs, `resolve` specs into a program. The specs go on in
batches (`batch`), which are shared out to processes: `lower` makes units of manifests of them, cdk8s renders these
(`composer_pool`), they are given their files (`layout`), committed runs are put back (`runs`), `check` looks at each
spec, and `render` makes the bytes. Extensions see the units of all specs, before there are batches. What no spec makes
comes last (`delivery`), with the checks across specs. Every stage adds to one report; after a stage that reported an
error, the later ones have nothing sound to work on and are left out. Nothing is written here.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

from stowplan.compiler.batches import batch, worker_pool
from stowplan.compiler.batches.batch import Batch, Setting
from stowplan.compiler.batches.front_end import Reading, read
from stowplan.compiler.checks import spec_stage, stage
from stowplan.compiler.checks.across_specs.facts import Facts
from stowplan.compiler.checks.history.changes import Changes
from stowplan.compiler.checks.spec_stage import Checked
from stowplan.compiler.committed import runs
from stowplan.compiler.committed.last_output import Committed
from stowplan.compiler.committed.objects import lost_inventory
from stowplan.compiler.committed.runs import Recompile
from stowplan.compiler.committed.vouching import Base
from stowplan.compiler.diagnostics.report import Diagnostic, Report
from stowplan.compiler.incremental.cached_specs import Beside
from stowplan.compiler.incremental.output_snapshot import Standing
from stowplan.compiler.incremental.spec_cache import Before, Kept, KeptRest, places_of
from stowplan.compiler.lowering import output_layout
from stowplan.compiler.lowering.composer_pool import ComposerPool
from stowplan.compiler.lowering.extensions import Extensions, extend
from stowplan.compiler.lowering.lower import lower
from stowplan.compiler.lowering.platform_objects import Place, delivered, plain_objects, settings
from stowplan.compiler.model import Output, Program, Sources
from stowplan.compiler.output import inventory
from stowplan.compiler.output.content_spool import Spool
from stowplan.compiler.output.folder import Tree
from stowplan.compiler.output.inventory import Inventory
from stowplan.compiler.output.inventory_lines import to_line
from stowplan.compiler.output.render import Rendered, Renderings
from stowplan.library.dialects.shared.context import Context
from stowplan.schema.frozen import dataclass
from stowplan.schema.meta import ObjectId, SpecId

NOTHING = Recompile()

_WORTH_PROCESSES = 100
"""Specs from which on more processes gain more time than they take to begin."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """What a run made; nothing where an error stopped it.

    `files` are those of `outputs`, but those that `committed` has unread; `objects` is their number. `outputs`
    themselves are only there where they were asked for. `committed` is the inventory that the run began with, `starts`
    are the Jobs that a sync would start.
    `texts` are the sources, by file. `kept` is for the next run, where extensions had no part in this one: they may
    have looked at anything.
    """

    texts: Mapping[str, str]
    outputs: tuple[Output, ...] = ()
    files: tuple[Rendered, ...] = ()
    objects: int = 0
    committed: Inventory = Inventory()
    starts: tuple[ObjectId, ...] = ()
    program: Program | None = None
    specs: tuple[SpecId, ...] = ()
    kept: Kept | None = None


def specs_of(repo: Path, report: Report) -> tuple[Sources, tuple[SpecId, ...]]:
    """The identities of all specs, sorted."""
    reading = read(repo, report)
    return reading.sources, tuple(each.id for each in reading.facts)


def validate_repository(
    repo: Path,
    report: Report,
    *,
    before: Before = Before(),  # noqa: B008 - frozen
    keep_objects: bool = True,
) -> Compiled:
    """Everything but extensions and what depends on the committed output. Starts no Node.

    Where it is known what another such run kept, specs that did not change are not lowered.
    """
    reading = _read(repo, report, before, None, keep_objects=keep_objects)
    program, beside = reading.program, reading.beside
    plain = plain_objects(program)
    definitions = spec_stage.definitions(plain, program.platform.kubernetes_version)
    setting = Setting(program, reading.context, definitions, keep_objects)
    batches = _batches(setting, plain, reading, report)
    _conclude(batches, setting, reading, report)
    return Compiled(
        reading.texts(report),
        _outputs(batches),
        objects=_number(batches, beside),
        program=program,
        kept=None if report.failed else _kept(reading, batches),
    )


def compile_repository(
    repo: Path,
    out: Path,
    report: Report,
    recompile: Recompile = NOTHING,
    *,
    memory: ComposerPool | None = None,
    before: Before = Before(),  # noqa: B008 - frozen
    keep_objects: bool = True,
    base: Base | None = None,
) -> Compiled:
    """The output of the repository in `repo`, given what `out` holds already. `memory` serves the next call.

    `base` vouches for committed runs that are not what the specs compile to now. Where it is known what the last run
    kept, specs that did not change are not compiled, and their files come without contents.
    """
    if memory is not None:
        return _compile(repo, out, report, recompile, memory, before=before, keep_objects=keep_objects, base=base)
    with closing(ComposerPool(lasting=False)) as own:
        return _compile(repo, out, report, recompile, own, before=before, keep_objects=keep_objects, base=base)


def _compile(
    repo: Path,
    out: Path,
    report: Report,
    recompile: Recompile,
    memory: ComposerPool,
    *,
    before: Before,
    keep_objects: bool,
    base: Base | None,
) -> Compiled:
    before = before.settled(out)
    tree = before.tree or Tree(out)
    reading = _read(repo, report, before, memory, keep_objects=keep_objects)
    program, beside = reading.program, reading.beside
    found, problems = _inventory(tree, beside, before.standing, recompile)
    extended = _extend(program, reading.context, repo, memory, report)
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
        memory,
        {unit.spec: unit for unit in extended.units} if extended else None,
    )
    batches = _batches(setting, others, reading, report)
    if batches:
        report.add(*problems)
    _conclude(batches, setting, reading, report)
    if report.failed:
        return Compiled(reading.texts(report))
    more = memory.render_outputs(settings(program))
    return Compiled(
        reading.texts(report),
        (*_outputs(batches), *more) if keep_objects else (),
        (*(file for each in batches for file in each.files), *Renderings().all(more, tree)),
        _number(batches, beside) + len(more),
        found,
        tuple(sorted(run for each in batches for run in each.starts)),
        program,
        tuple(each.id for each in reading.facts),
        None if extended else _kept(reading, batches),
    )


def _read(repo: Path, report: Report, before: Before, memory: ComposerPool | None, *, keep_objects: bool) -> Reading:
    """All that is read; by several processes where nobody asks for specs later."""
    return read(repo, report, before, 1 if keep_objects else _processes(memory))


def _processes(memory: ComposerPool | None) -> int:
    """How many may work for this one: a lasting memory serves one alone."""
    return 1 if memory and memory.lasting else worker_pool.processes()


def _kept(reading: Reading, batches: Sequence[Batch]) -> Kept:
    unread = {each.id for each in reading.beside.facts}
    said = [*reading.said, *(found for each in batches for found in each.lowered)]
    facts = [each for each in reading.facts if each.id not in unread]
    known = Kept.of_run(reading.sources, said, facts, (part for each in batches for part in each.checked))
    part = next(iter(batches[-1].checked), Checked(None, (), Facts(), Changes()))
    rest = reading.beside.rest
    if not (rest and rest.objects is part.facts):
        rest = KeptRest(_places(batches, reading.beside), part.findings, part.facts)
    files = {**reading.beside.files, **known.files}
    return replace(known, files=files, rest=None if reading.program.passed_through else rest)


def _extend(program: Program, context: Context, repo: Path, memory: ComposerPool, report: Report) -> Extensions | None:
    """What extensions make of the units of all specs; None where there are no extensions."""
    if not program.platform.extensions:
        return None
    units = lower(program.specs, program, context, report)
    if report.failed:
        return Extensions(())
    memory.use_jsii()
    extended = extend(program, memory.render(units), repo)
    report.add(*extended.diagnostics)
    return extended


def _batches(setting: Setting, others: Sequence[Output], reading: Reading, report: Report) -> list[Batch]:
    """The specs in batches, and behind them what no spec makes; nothing where reading or lowering found an error."""
    if report.failed:
        lower(setting.program.specs, setting.program, setting.context, report)
        return []
    memory, beside = setting.memory, reading.beside
    number = 1 if reading.size < _WORTH_PROCESSES else _processes(memory)
    if number > 1:
        batch.warm_up(reading.examples, setting)
        setting = replace(setting, spool=Spool())
        if memory:
            memory.prepare()
    batches = list(worker_pool.mapped(partial(batch.compile_specs, setting=setting), reading.parts, number))
    report.add(*(found for each in batches for found in each.lowered))
    if report.failed:
        return []
    return [*batches, _rest(batches, setting, others, beside)]


def _rest(batches: Sequence[Batch], setting: Setting, others: Sequence[Output], beside: Beside) -> Batch:
    """What no spec makes. It follows from the places of what specs make, so it may stay as it is."""
    places, known = _places(batches, beside), beside.rest
    if known and known.places == places and not others:
        files = tuple(_same(known, setting.committed)) if setting.committed else ()
        return Batch(files=files, checked=(Checked(None, known.findings, known.objects, Changes()),))
    outputs = delivered(places, others, setting.program)
    rendered = setting.memory.render_outputs(outputs) if setting.memory else outputs
    return batch.finish(rendered, setting, [None])


def _same(known: KeptRest, committed: Committed) -> Iterator[Rendered]:
    """The files of what no spec makes, as they are."""
    entries = {entry.path: entry for entry in committed.entries([None])}
    for each in known.objects.objects:
        entry = entries[each.path]
        yield Rendered(each.path, each.id, each.source, entry.sha256, to_line(entry), None)


def _places(batches: Sequence[Batch], beside: Beside) -> frozenset[Place]:
    """Where the objects of specs are."""
    return beside.places | places_of((part.spec, part.facts) for each in batches for part in each.checked if part.spec)


def _conclude(batches: Sequence[Batch], setting: Setting, reading: Reading, report: Report) -> None:
    """Add what is wrong with the specs by themselves and with each other."""
    if not batches:
        return
    report.add(*(found for each in batches for found in each.kept))
    gone = {known: body for each in batches for known, body in each.gone.items()}
    if setting.committed:
        committed = setting.committed
        gone |= runs.without_recompiled(committed.strays, Inventory(committed.gone), setting.recompile)
    parts = [*(part for each in batches for part in each.checked), *reading.beside.checked]
    stage.conclude(parts, setting.program, gone, report, elsewhere=reading.find)


def _outputs(batches: Sequence[Batch]) -> tuple[Output, ...]:
    """Those that were kept, sorted by path."""
    return tuple(sorted((output for each in batches for output in each.outputs), key=lambda each: (each.path, each.id)))


def _number(batches: Sequence[Batch], beside: Beside) -> int:
    """How many objects there are. After an error that kept all from being made, there are none."""
    made = sum(len(part.facts.objects) for each in batches for part in each.checked)
    return made + len(beside.objects) if batches else 0


def _inventory(
    tree: Tree, beside: Beside, standing: Standing | None, recompile: Recompile
) -> tuple[Inventory, list[Diagnostic]]:
    """The inventory of the last run. That it is lost is an error, unless all runs are to be compiled anew."""
    if beside.specs:
        if standing:
            return standing.beside(beside.gone), []
        return inventory.read_beside(tree.root, beside.inventory, {fact.path for fact in beside.objects}), []
    found, problems = inventory.read(tree.root)
    problems += lost_inventory(tree)
    if recompile.everything:
        problems = [inventory.unless_known_newer(tree.root, problem) for problem in problems]
    return found, problems
