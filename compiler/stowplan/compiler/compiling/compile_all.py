"""Compiling all specs of a program, in several processes, and then the objects of the platform file."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from stowplan.compiler.compiling import processes
from stowplan.compiler.compiling.steps import Compilation, Validation
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.lowering.platform_objects import OutputPlace, delivered
from stowplan.compiler.model import OutputFile
from stowplan.library.engines.registry import STARTING_KINDS
from stowplan.library.values.names import hash_of
from stowplan.schema.kinds.table import TRAINING_KINDS
from stowplan.schema.meta import ObjectId, SpecId
from stowplan.schema.platform.environments import StartedRun

SIZE = 50
"""Number of specs that a process compiles at a time: few enough for little memory and an even share of the work."""

WORTH_PROCESSES = 100
"""Number of specs from which several processes save more time than their start costs."""


@dataclass(frozen=True, slots=True)
class Parts(Compilation):
    """Results for all specs and, once they are added, for the platform file. `checked` is sorted by spec.

    `complete` is False if an error stopped the compilation.
    """

    complete: bool = False

    @property
    def objects(self) -> int:
        """The number of compiled objects of all specs and of the platform file."""
        return sum(len(part.facts.objects) for part in self.checked)

    @property
    def runs(self) -> dict[SpecId, frozenset[str]]:
        """The hashes of the runs of training jobs, by spec."""
        return {
            part.spec: hashes(each.id for each in part.facts.objects)
            for part in self.checked
            if part.spec and part.spec.kind in TRAINING_KINDS
        }

    def placed(self, started: Mapping[SpecId, Sequence[StartedRun]] | None) -> tuple[tuple[str, ObjectId], ...]:
        """Return the objects with their paths, without jobs none of whose runs may start.

        `started` are the runs that may, by spec; None if all may.
        """
        return tuple(
            (each.path, each.id)
            for part in self.checked
            if started is None or part.spec is None or part.spec.kind not in TRAINING_KINDS or started.get(part.spec)
            for each in part.facts.objects
        )


def hashes(objects: Iterable[ObjectId]) -> frozenset[str]:
    """Return the hashes of runs at the ends of the names of those objects that start pods, such as Jobs."""
    return frozenset(hash_of(each.name) for each in objects if each.kind in STARTING_KINDS) - {""}


def specs_alone(steps: Validation, report: Report) -> Parts:
    """Compile all specs, without the platform file. Diagnostics of lowering go to `report`.

    If `report` has an error already, the specs are only lowered. The result is not `complete` after any error.
    """
    specs = steps.reading.program.specs
    found = [Compilation(Validation.units(steps, specs)[1])] if report.failed else list(_compiled(steps))
    lowered = {spec: own for each in found for spec, own in each.lowered.items()}
    report.add(*(each for own in lowered.values() for each in own))
    if report.failed:
        return Parts(lowered=lowered)
    own = _joined(found)
    return replace(
        own, complete=True, lowered=lowered, checked=tuple(sorted(own.checked, key=lambda part: part.spec or ()))
    )


def with_platform(own: Parts, steps: Validation, others: Sequence[OutputFile]) -> Parts:
    """Return the results `own` of all specs together with those of the platform file and of `others`.

    `others` are the plain objects and those of extensions. If `own` is not complete, it is returned as it is.
    """
    if not own.complete:
        return own
    places = {OutputPlace.of(each.path, each.id, part.spec) for part in own.checked for each in part.facts.objects}
    outputs = delivered(places, others, steps.reading.program, steps.composed)
    rest = steps.of_outputs(outputs, [None])
    return replace(_joined([own, rest]), complete=True, lowered=own.lowered)


def _joined(found: Sequence[Compilation]) -> Parts:
    outputs = (output for each in found for output in each.outputs)
    return Parts(
        outputs=tuple(sorted(outputs, key=lambda each: (each.path, each.id))),
        files=tuple(file for each in found for file in each.files),
        checked=tuple(part for each in found for part in each.checked),
        reused=tuple(each for own in found for each in own.reused),
        starts=tuple(sorted(run for each in found for run in each.starts)),
        gone={known: body for each in found for known, body in each.gone.items()},
    )


def _compiled(steps: Validation) -> Iterator[Compilation]:
    """Yield the results of all specs, in groups of `SIZE`, by several processes unless there are few specs."""
    specs = steps.reading.program.specs
    groups = [specs[start : start + SIZE] for start in range(0, len(specs), SIZE)]
    number = 1 if steps.alone or len(specs) < WORTH_PROCESSES else processes.processes()
    if number > 1:
        steps.prepare()
    return processes.mapped(steps.of_specs, groups, number)
