"""What of the committed output stays: the runs of specs that have not changed, and of those that wait."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from stowplan.compiler.checks import spec_stage
from stowplan.compiler.committed import retirement, runs
from stowplan.compiler.committed.last_output import Committed
from stowplan.compiler.committed.objects import lost_inventory, previous
from stowplan.compiler.committed.runs import Start
from stowplan.compiler.committed.started import Sorted, Started, sort
from stowplan.compiler.compiling.reading import Reading
from stowplan.compiler.compiling.steps import Compilation, Said, Validation
from stowplan.compiler.diagnostics.locations import SYNTH
from stowplan.compiler.diagnostics.report import Diagnostic
from stowplan.compiler.lowering.composer_pool import ComposerPool
from stowplan.compiler.model import OutputFile, Spec
from stowplan.compiler.output import inventory
from stowplan.compiler.output.inventory import Inventory
from stowplan.compiler.output.render import Renderings
from stowplan.library.composition.tree import ChartSource
from stowplan.library.manifest import Json, Unit
from stowplan.schema.diagnostics import Severity
from stowplan.schema.meta import ObjectId, SpecId


@dataclass(frozen=True, slots=True)
class Kept:
    """The outputs with committed runs in place of compiled ones, and how they differ from what was there.

    `before` holds the committed objects that changes are judged by, `gone` those that the specs no longer have, and
    `starts` the Jobs that a sync would start. `waiting` are the diagnostics about runs that wait to be started.
    `diagnostics` are those about reused runs. `renderings` has the files that were rendered for the comparison.
    """

    outputs: tuple[OutputFile, ...]
    renderings: Renderings
    before: Mapping[ObjectId, Json]
    gone: Mapping[ObjectId, Json]
    starts: tuple[Start, ...]
    diagnostics: tuple[Diagnostic, ...]
    waiting: Mapping[SpecId, tuple[Diagnostic, ...]]


def keep(outputs: Sequence[OutputFile], specs: Sequence[SpecId | None], reading: Reading, committed: Committed) -> Kept:
    """Return `outputs`, all those of `specs`, with committed runs reused; None stands for the platform file."""
    own, renderings = committed.inventory.of(specs), Renderings()
    if reading.retired:
        outputs = retirement.without_runs(outputs, reading.retired)
        own = own.of(each for each in specs if each not in reading.retired)
    chosen, target = Sorted(outputs), reading.target
    if target.runs is not None:
        documents = {spec.id: spec for spec in reading.program.specs}
        chosen = sort(Started(target.environment.name, target.runs), outputs, documents, own, committed)
    reused = runs.reuse(chosen.outputs, own, committed, renderings, kept=chosen.kept)
    compared = committed.compared
    listed = compared.inventory.of(specs)
    written = previous(reused.outputs, listed, compared.files, renderings)
    everything = {**compared.strays, **written}
    known = Inventory((*listed.entries, *compared.gone))
    before = runs.without_recompiled(everything, known, committed.recompile)
    present = {output.id for output in reused.outputs}
    return Kept(
        reused.outputs,
        renderings,
        before,
        {known: body for known, body in before.items() if known in written and known not in present},
        runs.starts(reused.outputs, everything),
        reused.diagnostics,
        chosen.said,
    )


@dataclass(frozen=True, slots=True)
class Keeping(Validation):
    """The steps of `synth`, which writes what is compiled over the `committed` output.

    `composer` renders the units by cdk8s. `extended` are the units that extensions returned, rendered before; empty
    without extensions.
    """

    committed: Committed
    composer: ComposerPool
    extended: Mapping[SpecId, Unit]

    def of_outputs(self, outputs: Sequence[OutputFile], specs: Sequence[SpecId | None]) -> Compilation:
        reading = self.reading
        if reading.program.command != SYNTH:
            outputs = [replace(each, command=reading.program.command) for each in outputs]
        kept = keep(outputs, specs, reading, self.committed)
        checked = spec_stage.check(kept.outputs, reading.program.platform, self.definitions, kept.before)
        wrong = any(found.found.severity is Severity.ERROR for each in checked for found in each.findings)
        return Compilation(
            lowered=kept.waiting,
            outputs=kept.outputs if self.keep_objects else (),
            # Some objects may have no YAML after an error, and nothing is written anyway.
            files=() if wrong else tuple(kept.renderings.all(kept.outputs, self.committed.tree)),
            checked=tuple(checked),
            reused=kept.diagnostics,
            starts=kept.starts,
            gone=kept.gone,
        )

    @property
    def alone(self) -> bool:
        return self.composer.lasting

    def composed(self, charts: Sequence[ChartSource]) -> Sequence[ChartSource]:
        return self.composer.render_charts(charts)

    def prepare(self) -> None:
        Validation.prepare(self)
        self.composer.prepare()

    def units(self, specs: Sequence[Spec]) -> tuple[list[Unit], Said]:
        if self.extended:
            return [self.extended[each.id] for each in specs], {each.id: () for each in specs}
        return Validation.units(self, specs)

    def rendered(self, units: Sequence[Unit]) -> Sequence[Unit]:
        return units if self.extended else self.composer.render(units)


def strays(committed: Committed) -> Mapping[ObjectId, Json]:
    """Return the committed objects that belong to no present spec, without those of runs to recompile."""
    compared = committed.compared
    return runs.without_recompiled(compared.strays, Inventory(compared.gone), committed.recompile)


def spoiled(committed: Committed, reading: Reading) -> list[Diagnostic]:
    """Return diagnostics of an inventory that is broken, or that lacks specs although their files are there.

    It is an error; it is a warning if the user recompiles all specs, or the one whose entries are lost.
    """
    tree, broken, recompile = committed.tree, committed.broken, committed.recompile
    lost = lost_inventory(committed.inventory, tree, [each.id for each in reading.program.specs])
    if recompile.everything:
        return [inventory.unless_known_newer(tree.root, each) for each in (*broken, *(found for _, found in lost))]
    given = [replace(each, severity=Severity.WARNING) for spec, each in lost if spec and recompile.covers(spec)]
    return [*broken, *given, *(each for spec, each in lost if not (spec and recompile.covers(spec)))]
