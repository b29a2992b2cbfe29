"""Runs of training jobs in an environment with `runs: manual`, which start only where somebody has named them.

A run is named by the hash at the end of the names of its Jobs. So an entry starts exactly what was reviewed: a changed
spec is another run.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from stowplan.compiler.committed import copies, retirement
from stowplan.compiler.committed.runs import by_spec
from stowplan.compiler.diagnostics.report import Diagnostic, diagnose
from stowplan.compiler.model import Output, Spec
from stowplan.compiler.output.inventory import Inventory
from stowplan.library.builders import gate
from stowplan.library.engines.registry import STARTING_KINDS
from stowplan.library.values.names import without_hash
from stowplan.schema.diagnostics import Severity, finding
from stowplan.schema.kinds.table import TRAINING_KINDS
from stowplan.schema.meta import ObjectId, SpecId


@dataclass(frozen=True, slots=True)
class Started:
    """The runs that may start in an environment: their hashes, by spec. `environment` is its name."""

    environment: str
    runs: Mapping[SpecId, frozenset[str]]


class Sorted(NamedTuple):
    """The outputs without runs that wait, the specs whose committed run is kept, and the infos about waiting runs."""

    outputs: Sequence[Output]
    kept: frozenset[SpecId]
    waiting: Mapping[SpecId, Diagnostic]


def sort(started: Started, outputs: Sequence[Output], specs: Mapping[SpecId, Spec], previous: Inventory) -> Sorted:
    """Choose the runs that are written: of each training job the compiled one, the committed one, or none.

    `outputs` are the compiled outputs, `previous` is the inventory of the committed output. The run of an unchanged
    spec is the committed one. Of a changed spec, the compiled run is written if it is named, else the committed one is
    kept if that is named. Without either, the objects of the run, what only its pods need, and the custom resource are
    left out. A run that is not named is SP810.
    """
    chosen: list[Output] = []
    kept: set[SpecId] = set()
    waiting: dict[SpecId, Diagnostic] = {}
    for spec, own in by_spec(outputs).items():
        job = _job(own)
        compiled = _hash([job])
        if spec is None or spec.kind not in TRAINING_KINDS or not compiled:
            chosen += own
            continue
        named = started.runs.get(spec, frozenset())
        entries = [entry for entry in copies.apart(previous.by_spec.get(spec, ()))[0] if entry.run]
        names = [entry.id.name for entry in entries if entry.id.kind in STARTING_KINDS]
        # A run has Jobs of its gate and its outputs too, with hashes of their own.
        before = _hash(sorted(names, key=lambda name: without_hash(name) != without_hash(job)))
        unchanged = bool(before) and all(entry.spec_digest in own[0].digests for entry in entries)
        present = before if unchanged else compiled
        if present in named:
            chosen += own
            continue
        waiting[spec] = _waiting(started, specs[spec], present, before, kept=before in named)
        if before in named:
            kept.add(spec)
            chosen += own
        else:
            chosen += [each for each in retirement.without_runs(own, [spec]) if each.id.kind != spec.kind]
    return Sorted(chosen, frozenset(kept), waiting)


def run_of(outputs: Iterable[Output]) -> str:
    """Return the hash of the run among the outputs of a spec; empty if there is none."""
    return _hash([_job(outputs)])


def _job(outputs: Iterable[Output]) -> str:
    """Return the name of the first object that starts the pods of a run, empty without one; its gate is none."""
    starting = (each for each in outputs if each.manifest.run and each.id.kind in STARTING_KINDS)
    return next((each.id.name for each in starting if not gate.is_gate(each.manifest.body)), "")


def hashes(objects: Iterable[ObjectId]) -> frozenset[str]:
    """Return the hashes of the runs that objects belong to by their names; those that start no pods belong to none."""
    return frozenset(_hash([each.name]) for each in objects if each.kind in STARTING_KINDS) - {""}


def _hash(names: Iterable[str]) -> str:
    """Return the hash at the end of the first of the names that has one; empty if none has."""
    return next((name.rpartition("-")[2] for name in names if without_hash(name) != name), "")


def _waiting(started: Started, spec: Spec, run: str, before: str, *, kept: bool) -> Diagnostic:
    """Return SP810 for the run that waits. `before` is the committed run, empty without one; with `kept` it stays.

    A committed run that does not stay is ended by the next sync, so the diagnostic is a warning then.
    """
    stays = f" Its run {before} stays as it is." if kept else ""
    ends = f" Its run {before} is taken out of the output, and Argo CD ends it." if before and not kept else ""
    message = f"The run {run} of {spec.id} is not started: `start` of {started.environment} does not name it."
    entry = f"{{kind: {spec.id.kind}, namespace: {spec.id.namespace}, name: {spec.id.name}, run: {run}}}"
    place = f"put it in the place of the entry with the run {before} in" if kept else "add it to"
    hint = f"To start it, {place} `start` of the environment: {entry}."
    severity = Severity.WARNING if ends else None
    found = finding("SP810", ("metadata", "name"), f"{message}{stays}{ends}", hint, severity=severity)
    return diagnose(spec.document, found)
