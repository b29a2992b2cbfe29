"""The stages in their order.

`load` reads files into documents, `validate` documents into specs, `resolve` specs into a program, `lower` the
program into units of manifests. The units go through cdk8s (`constructs`), where extensions may patch them, are given
their files (`layout`, `delivery`), committed runs are put back (`runs`), and `check` looks at the result. Every stage
adds to one report; after a stage that reported an error, the later ones have nothing sound to work on and are left
out. Nothing is written here.
"""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from stowplan.compiler import inventory, layout, runs
from stowplan.compiler.check import check
from stowplan.compiler.delivery import deliver, settings
from stowplan.compiler.extensions import Addition, extend
from stowplan.compiler.inventory import Inventory
from stowplan.compiler.load import load
from stowplan.compiler.lower import lower
from stowplan.compiler.model import Output, Program, Sources
from stowplan.compiler.previous import lost_inventory, previous
from stowplan.compiler.render import Rendered, Renderings
from stowplan.compiler.resolve import resolve
from stowplan.compiler.runs import Recompile
from stowplan.compiler.source import Diagnostic, Report
from stowplan.compiler.tree import Tree, seen
from stowplan.compiler.validate import validate
from stowplan.library.manifest import Unit
from stowplan.schema.meta import ObjectId, SpecId

if TYPE_CHECKING:
    from stowplan.library.composition import Composer

NOTHING = Recompile()


@dataclass(slots=True)
class Memory:
    """What a process knows that compiles again and again: the units that cdk8s rendered before, by spec."""

    units: dict[SpecId, Unit] = field(default_factory=dict)
    composer: "Composer | None" = None

    def compose(self, units: Sequence[Unit]) -> None:
        """Have cdk8s render all units. It renders one as it is given, so a known one is not rendered again."""
        fresh = [unit for unit in units if self.units.get(unit.spec) != unit]
        if fresh:
            if self.composer is None:
                from stowplan.library.composition import Composer  # noqa: PLC0415 - start-up time

                self.composer = Composer()
            self.composer.send(fresh)
            self.composer.finish()
        self.units = {unit.spec: unit for unit in units}

    def close(self) -> None:
        """End what runs."""
        if self.composer is not None:
            self.composer.close()
            self.composer = None


@dataclass(frozen=True, slots=True)
class Compiled:
    """What a run made; `outputs` is empty where an error stopped it.

    `files` are those of `outputs`. `committed` is the inventory that the run began with, `starts` are the Jobs that a
    sync would start.
    """

    sources: Sources
    outputs: tuple[Output, ...] = ()
    files: tuple[Rendered, ...] = ()
    committed: Inventory = Inventory()  # noqa: RUF009 - frozen
    starts: tuple[ObjectId, ...] = ()
    program: Program | None = None

    @property
    def extended(self) -> bool:
        """Whether extensions had a part in it: they may have looked at anything."""
        return self.program is not None and bool(self.program.platform.extensions)


def specs_of(repo: Path, report: Report) -> tuple[Sources, tuple[SpecId, ...]]:
    """The identities of all specs, sorted."""
    sources = load(repo, report)
    return sources, tuple(spec.id for spec in resolve(validate(sources, report), report).specs)


def validate_repository(repo: Path, report: Report) -> Compiled:
    """Everything but extensions and what depends on the committed output. Starts no Node."""
    sources = load(repo, report)
    program = resolve(validate(sources, report), report)
    units = lower(program, version("stowplan"), report)
    if report.failed:
        return Compiled(sources)
    outputs = deliver(layout.of_specs(units, program), program)
    check(outputs, program, {}, report)
    return Compiled(sources, tuple(outputs))


def compile_repository(
    repo: Path, out: Path, report: Report, recompile: Recompile = NOTHING, *, memory: Memory | None = None
) -> Compiled:
    """All outputs of the repository in `repo`, given what `out` holds already. `memory` serves the next call."""
    if memory is not None:
        return _compile_repository(repo, out, report, recompile, memory)
    with closing(Memory()) as own:
        return _compile_repository(repo, out, report, recompile, own)


def _compile_repository(repo: Path, out: Path, report: Report, recompile: Recompile, memory: Memory) -> Compiled:
    sources = load(repo, report)
    program = resolve(validate(sources, report), report)
    units = lower(program, version("stowplan"), report)
    if report.failed:
        return Compiled(sources)
    composed, additions = _compose(program, units, repo, memory, report)
    if report.failed:
        return Compiled(sources)
    outputs = deliver([*layout.of_specs(composed, program), *layout.of_extensions(additions)], program)
    tree, renderings = seen(out), Renderings()
    committed, problems = _committed(tree, recompile)
    kept = runs.keep(outputs, committed, tree, recompile, renderings)
    report.add(*problems, *kept.diagnostics)
    before = previous(kept.outputs, committed, tree, renderings)
    starts = runs.starts(kept.outputs, before)
    check(kept.outputs, program, runs.without_recompiled(before, committed, recompile), report)
    if report.failed:
        return Compiled(sources)
    everything = (*kept.outputs, *settings(program))
    return Compiled(sources, everything, tuple(renderings.all(everything, tree)), committed, starts, program)


def _committed(tree: Tree, recompile: Recompile) -> tuple[Inventory, list[Diagnostic]]:
    """The inventory of the last run. That it is lost is an error, unless all runs are to be compiled anew."""
    committed, problems = inventory.read(tree.root)
    problems += lost_inventory(tree)
    if recompile.everything:
        problems = [inventory.unless_known_newer(tree.root, problem) for problem in problems]
    return committed, problems


def _compose(
    program: Program, units: Sequence[Unit], repo: Path, memory: Memory, report: Report
) -> tuple[Sequence[Unit], Sequence[Addition]]:
    """The units as cdk8s renders them, and what extensions add."""
    memory.compose(units)
    extended = extend(program, units, repo)
    report.add(*extended.diagnostics)
    return extended.units, extended.additions
