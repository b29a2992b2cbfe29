"""The stages in their order.

`load` reads files into documents, `validate` documents into specs, `resolve` specs into a program. The specs go on in
batches (`batch`), which are shared out to processes: `lower` makes units of manifests of them, cdk8s renders these
(`memory`), they are given their files (`layout`), committed runs are put back (`runs`), `check` looks at each spec, and
`render` makes the bytes. Extensions see the units of all specs, before there are batches. What no spec makes comes last
(`delivery`), with the checks across specs. Every stage adds to one report; after a stage that reported an error, the
later ones have nothing sound to work on and are left out. Nothing is written here.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path

from stowplan.compiler import batch, check, inventory, layout, parallel, runs
from stowplan.compiler.batch import Batch, Setting
from stowplan.compiler.beside import Beside
from stowplan.compiler.checks import local
from stowplan.compiler.committed import Committed
from stowplan.compiler.delivery import Placed, delivered, plain_objects, settings
from stowplan.compiler.extensions import Extensions, extend
from stowplan.compiler.inventory import Inventory
from stowplan.compiler.kept import Kept
from stowplan.compiler.load import load
from stowplan.compiler.lower import context_of, lower
from stowplan.compiler.memory import Memory
from stowplan.compiler.model import Output, Program, Sources
from stowplan.compiler.previous import lost_inventory
from stowplan.compiler.render import Rendered, Renderings
from stowplan.compiler.resolve import resolve_beside
from stowplan.compiler.runs import Recompile
from stowplan.compiler.source import Diagnostic, Report
from stowplan.compiler.spec_facts import SpecFacts
from stowplan.compiler.tree import Tree, seen
from stowplan.compiler.validate import validate
from stowplan.library.dialects.context import Context
from stowplan.schema.meta import ObjectId, SpecId
from stowplan.schema.records import dataclass

NOTHING = Recompile()

_WORTH_PROCESSES = 100
"""Specs from which on more processes gain more time than they take to begin."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """What a run made; nothing where an error stopped it.

    `files` are those of `outputs`, `objects` is their number; `outputs` themselves are only there where they were
    asked for. `committed` is the inventory that the run began with, `starts` are the Jobs that a sync would start.
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
    kept: Kept | None = None


@dataclass(frozen=True, slots=True)
class _Reading:
    """What was read: `facts` of all specs, those `beside` the program included; what was `said` of files as such."""

    sources: Sources
    program: Program
    facts: tuple[SpecFacts, ...]
    said: tuple[Diagnostic, ...]
    beside: Beside

    def texts(self, report: Report) -> Mapping[str, str]:
        """The sources that something may be said of, by file."""
        return {**self.sources.texts, **self.beside.texts(report)}


def specs_of(repo: Path, report: Report) -> tuple[Sources, tuple[SpecId, ...]]:
    """The identities of all specs, sorted."""
    reading = _read(repo, report)
    return reading.sources, tuple(spec.id for spec in reading.program.specs)


def validate_repository(repo: Path, report: Report, *, keep_objects: bool = True) -> Compiled:
    """Everything but extensions and what depends on the committed output. Starts no Node."""
    reading = _read(repo, report)
    program = reading.program
    context = context_of(program, version("stowplan"))
    plain = plain_objects(program)
    definitions = local.definitions(plain, program.platform.kubernetes_version)
    setting = Setting(program, context, definitions, keep_objects)
    batches = _batches(setting, plain, reading.beside, report)
    _conclude(batches, setting, reading.beside, report)
    return Compiled(reading.sources.texts, _outputs(batches), objects=_number(batches))


def compile_repository(
    repo: Path,
    out: Path,
    report: Report,
    recompile: Recompile = NOTHING,
    *,
    memory: Memory | None = None,
    kept: Kept | None = None,
    keep_objects: bool = True,
) -> Compiled:
    """The output of the repository in `repo`, given what `out` holds already. `memory` serves the next call.

    `kept` is what the last run left that wrote `out`, if `out` and Stowplan are still the same: then specs that did
    not change are not compiled, and their files come without contents.
    """
    if memory is not None:
        return _compile(repo, out, report, recompile, memory, kept=kept, keep_objects=keep_objects)
    with closing(Memory(lasting=False)) as own:
        return _compile(repo, out, report, recompile, own, kept=kept, keep_objects=keep_objects)


def _compile(
    repo: Path,
    out: Path,
    report: Report,
    recompile: Recompile,
    memory: Memory,
    *,
    kept: Kept | None,
    keep_objects: bool,
) -> Compiled:
    tree = seen(out)
    reading = _read(repo, report, kept if kept and kept.is_in(tree) else None)
    program, beside = reading.program, reading.beside
    found, problems = _inventory(tree, beside, recompile)
    context = beside.added_to(context_of(program, version("stowplan")))
    extended = _extend(program, context, repo, memory, report)
    if report.failed and extended is not None:
        return Compiled(reading.texts(report))
    others = [*(layout.of_extensions(extended.additions) if extended else ()), *plain_objects(program)]
    setting = Setting(
        program,
        context,
        local.definitions(others, program.platform.kubernetes_version),
        keep_objects,
        Committed.of(found, tree, [each.id for each in reading.facts]),
        recompile,
        memory,
        {unit.spec: unit for unit in extended.units} if extended else None,
    )
    batches = _batches(setting, others, beside, report)
    if batches:
        report.add(*problems)
    _conclude(batches, setting, beside, report)
    if report.failed:
        return Compiled(reading.texts(report))
    more = settings(program)
    return Compiled(
        reading.texts(report),
        (*_outputs(batches), *more) if keep_objects else (),
        (*_files(batches, beside, found), *Renderings().all(more, tree)),
        _number(batches) + len(beside.objects) + len(more),
        found,
        tuple(sorted(run for each in batches for run in each.starts)),
        program,
        None if extended else _kept(reading, batches),
    )


def _read(repo: Path, report: Report, kept: Kept | None = None) -> _Reading:
    """Read all files, or those that `kept` does not know or that are concerned by what it does not know."""
    found = Report()
    sources = load(repo, found, kept.stale if kept else None)
    if kept and not kept.foresaw(sources):
        found, kept = Report(), None
        sources = load(repo, found)
    program = validate(sources, found)
    beside = Beside(kept or Kept(), sources)
    report.add(*found.diagnostics, *beside.said)
    program, facts = resolve_beside(program, beside.facts, beside.document, report)
    return _Reading(sources, program, facts, tuple(found.diagnostics), beside)


def _kept(reading: _Reading, batches: Sequence[Batch]) -> Kept:
    own = {spec.id for spec in reading.program.specs}
    said = [*reading.said, *(found for each in batches for found in each.lowered)]
    facts = [each for each in reading.facts if each.id in own]
    known = Kept.of_run(reading.sources, said, facts, (part for each in batches for part in each.checked))
    return replace(known, files={**reading.beside.files, **known.files})


def _files(batches: Sequence[Batch], beside: Beside, committed: Inventory) -> Iterator[Rendered]:
    """Those that were rendered, and those that stay as they are."""
    yield from (file for each in batches for file in each.files)
    for fact in beside.objects:
        yield Rendered(fact.path, fact.id, fact.source, "", committed.unread[fact.path].decode(), None)


def _extend(program: Program, context: Context, repo: Path, memory: Memory, report: Report) -> Extensions | None:
    """What extensions make of the units of all specs; None where there are no extensions."""
    if not program.platform.extensions:
        return None
    units = lower(program.specs, program, context, report)
    if report.failed:
        return Extensions(())
    memory.send(units)
    memory.finish()
    extended = extend(program, units, repo)
    report.add(*extended.diagnostics)
    return extended


def _batches(setting: Setting, others: Sequence[Output], beside: Beside, report: Report) -> list[Batch]:
    """The specs in batches, and behind them what no spec makes; nothing where reading or lowering found an error."""
    specs = setting.program.specs
    if report.failed:
        lower(specs, setting.program, setting.context, report)
        return []
    parts = [specs[start : start + batch.SIZE] for start in range(0, len(specs), batch.SIZE)]
    memory = setting.memory
    number = 1 if len(specs) < _WORTH_PROCESSES or (memory and memory.lasting) else parallel.processes()
    if number > 1:
        batch.warm_up(specs, setting)
        if memory:
            memory.prepare()
    batches = list(parallel.mapped(partial(batch.compile_specs, setting=setting), parts, number))
    report.add(*(found for each in batches for found in each.lowered))
    if report.failed:
        return []
    places = [
        Placed(fact.path, fact.id.namespace, fact.spec)
        for checked in (*beside.checked, *(part for each in batches for part in each.checked))
        for fact in checked.facts.objects
    ]
    return [*batches, batch.finish(delivered(places, others, setting.program), setting, [None])]


def _conclude(batches: Sequence[Batch], setting: Setting, beside: Beside, report: Report) -> None:
    """Add what is wrong with the specs by themselves and with each other."""
    if not batches:
        return
    report.add(*(found for each in batches for found in each.kept))
    gone = {known: body for each in batches for known, body in each.gone.items()}
    if setting.committed:
        committed = setting.committed
        gone |= runs.without_recompiled(committed.strays, Inventory(committed.gone), setting.recompile)
    parts = [*(part for each in batches for part in each.checked), *beside.checked]
    check.conclude(parts, setting.program, gone, report, beside.find)


def _outputs(batches: Sequence[Batch]) -> tuple[Output, ...]:
    """Those that were kept, sorted by path."""
    return tuple(sorted((output for each in batches for output in each.outputs), key=lambda each: (each.path, each.id)))


def _number(batches: Sequence[Batch]) -> int:
    return sum(len(part.facts.objects) for each in batches for part in each.checked)


def _inventory(tree: Tree, beside: Beside, recompile: Recompile) -> tuple[Inventory, list[Diagnostic]]:
    """The inventory of the last run. That it is lost is an error, unless all runs are to be compiled anew."""
    if beside.specs:
        return inventory.read_beside(tree.root, {fact.path for fact in beside.objects}), []
    found, problems = inventory.read(tree.root)
    problems += lost_inventory(tree)
    if recompile.everything:
        problems = [inventory.unless_known_newer(tree.root, problem) for problem in problems]
    return found, problems
