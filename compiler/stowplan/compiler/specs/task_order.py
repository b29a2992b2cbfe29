"""Order between specs: what each one runs after, and tasks on one dataset that contradict each other."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from stowplan.compiler.specs.spec_facts import SpecFacts
from stowplan.library.dialects.shared import run_order
from stowplan.library.dialects.shared.run_order import Predecessor
from stowplan.schema.diagnostics import FieldPath, Finding, did_you_mean, finding
from stowplan.schema.kinds.table import KINDS, TRAINING_KINDS
from stowplan.schema.meta import AFTER_ANNOTATION, SpecId

_OPPOSITES = {"sync": "rmr", "rmr": "sync", "warmup": "clear", "clear": "warmup"}
"""For each operation the one that undoes it: which of the two comes last decides what is there in the end."""

Specs = Mapping[SpecId, SpecFacts]


def findings(spec: SpecFacts, specs: Specs, refused: Collection[SpecId], *, incomplete: bool) -> Iterator[Finding]:
    """Yield findings about what a spec runs after.

    `specs` are all specs by identity. Those in `refused`, whose documents have errors, are not reported as missing, and
    none is if the specs are `incomplete`.
    """
    for each in spec.after:
        other = specs.get(each.spec)
        if each.spec == spec.id:
            message = "The spec would wait for itself."
            yield finding("SP752", each.at, message, "Name another spec, or remove it.")
        elif other is None:
            if each.spec not in refused and not incomplete:
                yield _missing(each, specs.keys() - {spec.id})
        elif other.repeats:
            message = f"{each.spec} runs on a schedule, so it is never over."
            hint = "Give both a schedule, or name a task without one."
            yield finding("SP753", each.at, message, hint)
        elif circle := _way(each.spec, spec.id, specs):
            message = f"These wait for each other: {' after '.join(map(str, (spec.id, *circle)))}."
            yield finding("SP752", each.at, message, "Remove one of them from what another one runs after.")


def unreported(spec: SpecFacts) -> Iterator[Finding]:
    """Yield findings about training jobs that a task runs after, on a platform without a reporter.

    Tasks report themselves. A training job that runs after others is refused by the rules of its gate.
    """
    for each in spec.after if spec.id.kind not in TRAINING_KINDS else ():
        if each.spec.kind in TRAINING_KINDS:
            message = f"Without a reporter nobody says when {each.spec} is complete, so the task would wait for ever."
            hint = "Remove `reporter: false` from the platform file, or add the task once the job is complete."
            yield finding("SP771", each.at, message, hint)


def changes(specs: Specs) -> Mapping[SpecId, SpecFacts]:
    """Return the first task that changes the data of a dataset, by dataset. `specs` are all specs by identity."""
    tasks = sorted((each for each in specs.values() if each.changes), key=lambda each: each.id, reverse=True)
    return {reference.spec: task for task in tasks for reference in task.references}


def unrecorded(spec: SpecFacts, changed: Mapping[SpecId, SpecFacts]) -> Iterator[Finding]:
    """Yield findings about revisions for which a job waits, of datasets that tasks change.

    The gate of the job reads `status.revision` of the dataset, which the dataset's own sync and refresh alone write. A
    task renews the revision in the volume, by which the pods wait. `changed` is the result of `changes`.
    """
    for reference in spec.references:
        if reference.revision and (task := changed.get(reference.spec)):
            message = (
                f"{task.id} changes the data of {reference.spec}, and its `status.revision` does not show that: the job"
                " may wait for ever, or hold nodes while it waits."
            )
            hint = "Bring new data by `refresh` of the Dataset instead of the task, or remove `revision`."
            yield finding("SP772", reference.revision, message, hint)


def contradictions(specs: Specs) -> Iterator[tuple[SpecFacts, Finding]]:
    """Yield each spec, and a finding, that contradicts an earlier task (by file) on its dataset without an order."""
    seen: dict[SpecId, list[tuple[str, SpecFacts]]] = {}
    for spec in sorted(specs.values(), key=lambda each: (each.spec.document.file, each.spec.document.index)):
        if spec.operation is None or spec.operation.word not in _OPPOSITES:
            continue
        for reference in spec.references:
            others = seen.setdefault(reference.spec, [])
            for word, other in others:
                opposite = word == _OPPOSITES[spec.operation.word]
                if opposite and not _way(spec.id, other.id, specs) and not _way(other.id, spec.id, specs):
                    yield spec, _unordered(spec.id, other.id, spec.operation.at)
                    break
            others.append((spec.operation.word, spec))


def _missing(named: Predecessor, specs: Collection[SpecId]) -> Finding:
    kind, namespace, name = named.spec
    known = [each.name for each in specs if each.kind == kind and each.namespace == namespace]
    message = f"There is no {kind} {name} in namespace {namespace}."
    return finding("SP751", named.at, message, did_you_mean(name, known))


def _unordered(spec: SpecId, other: SpecId, path: FieldPath) -> Finding:
    message = f"{other} does the opposite, on the same data and at the same time: the last one to end decides."
    order = f"`runAfter: [{{kind: {other.kind}, name: {other.name}}}]`"
    if KINDS[spec.kind].model.AFTER == run_order.ANNOTATION:
        order = f"the annotation `{AFTER_ANNOTATION}: {other.kind}/{other.name}`"
    hint = f"Write {order} here, or the reverse there. A task that is over can be removed."
    return finding("SP754", path, message, hint)


def _way(start: SpecId, end: SpecId, specs: Specs) -> Sequence[SpecId]:
    """Return the specs from `start` to `end`, each of which runs after the next one; empty if there is no such way."""
    ways: list[tuple[SpecId, ...]] = [(start,)]
    seen = {start}
    for way in ways:
        if way[-1] == end:
            return way
        for each in specs[way[-1]].after if way[-1] in specs else ():
            if each.spec not in seen:
                seen.add(each.spec)
                ways.append((*way, each.spec))
    return ()
