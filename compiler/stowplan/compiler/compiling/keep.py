"""What of the committed output stays: the runs of specs that have not changed, and of those that wait."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stowplan.compiler.committed import retirement, runs
from stowplan.compiler.committed.last_output import Committed
from stowplan.compiler.committed.objects import previous
from stowplan.compiler.committed.runs import Start
from stowplan.compiler.committed.started import Sorted, Started, sort
from stowplan.compiler.compiling.reading import Reading
from stowplan.compiler.diagnostics.report import Diagnostic
from stowplan.compiler.model import Output
from stowplan.compiler.output.inventory import Inventory
from stowplan.compiler.output.render import Renderings
from stowplan.library.manifest import Json
from stowplan.schema.meta import ObjectId, SpecId


@dataclass(frozen=True, slots=True)
class Kept:
    """The outputs with committed runs in place of compiled ones, and how they differ from what was there.

    `before` holds the committed objects that changes are judged by, `gone` those that the specs no longer have, and
    `starts` the Jobs that a sync would start. `waiting` are the diagnostics about runs that wait to be started.
    `renderings` has the files that were rendered for the comparison.
    """

    outputs: tuple[Output, ...]
    renderings: Renderings
    before: Mapping[ObjectId, Json]
    gone: Mapping[ObjectId, Json]
    starts: tuple[Start, ...]
    diagnostics: tuple[Diagnostic, ...]
    waiting: Mapping[SpecId, tuple[Diagnostic, ...]]


def keep(outputs: Sequence[Output], specs: Sequence[SpecId | None], reading: Reading, committed: Committed) -> Kept:
    """Reuse the committed runs of `specs`, of which `outputs` are all outputs; None stands for the platform file."""
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
