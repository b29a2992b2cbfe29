"""Runs of training jobs in an environment with `runs: manual`, which start only where somebody has named them.

A run is named by the hash at the end of the names of its Jobs, and by its whole digest. So an entry starts exactly what
was reviewed: a changed spec is another run. An entry of before may lack the digest.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from stowplan.compiler.committed import copies, retirement, run_digest
from stowplan.compiler.committed.last_output import Committed
from stowplan.compiler.committed.objects import body_of
from stowplan.compiler.committed.runs import by_spec
from stowplan.compiler.diagnostics.report import Diagnostic, diagnose
from stowplan.compiler.model import OutputFile, Spec
from stowplan.compiler.output.inventory import Inventory
from stowplan.compiler.output.inventory_lines import Entry
from stowplan.library.engines.registry import STARTING_KINDS
from stowplan.library.values.names import hash_of, without_hash
from stowplan.schema.diagnostics import Severity, finding
from stowplan.schema.kinds.table import TRAINING_KINDS
from stowplan.schema.meta import SpecId
from stowplan.schema.platform.environments import StartedRun


class NamedRun(NamedTuple):
    """A run by the hash in its names and its digest; both are empty without a run."""

    hash: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Started:
    """The runs that may start in an environment, by spec. `environment` is its name."""

    environment: str
    runs: Mapping[SpecId, Sequence[StartedRun]]

    def naming(self, spec: SpecId, run: NamedRun) -> list[StartedRun]:
        """Return the entries that name a run of a spec; empty for no run."""
        entries = [each for each in self.runs.get(spec, ()) if each.run == run.hash]
        return [each for each in entries if each.digest in (None, run.digest)]


@dataclass(frozen=True, slots=True)
class Sorted:
    """The outputs without runs that wait, the specs whose committed run is kept, and the diagnostics by spec."""

    outputs: Sequence[OutputFile]
    kept: frozenset[SpecId] = frozenset()
    said: Mapping[SpecId, tuple[Diagnostic, ...]] = field(default_factory=dict)


def sort(
    started: Started,
    outputs: Sequence[OutputFile],
    specs: Mapping[SpecId, Spec],
    previous: Inventory,
    committed: Committed,
) -> Sorted:
    """Choose the runs that are written: of each training job the compiled one, the committed one, or none.

    `outputs` are the compiled outputs, `previous` is the inventory of the `committed` output. The run of an unchanged
    spec is the committed one. Of a changed spec, and of one to recompile, the compiled run is written if it is named,
    else the committed one is kept if that is named. Without either, the objects of the run, what only its pods need,
    and the custom resource are left out. A run that is not named is SP810, an entry without a digest SP816.
    """
    chosen: list[OutputFile] = []
    kept: set[SpecId] = set()
    said: dict[SpecId, tuple[Diagnostic, ...]] = {}
    for spec, own in by_spec(outputs).items():
        compiled = _compiled(own)
        if spec is None or spec.kind not in TRAINING_KINDS or not compiled.hash:
            chosen += own
            continue
        entries = [entry for entry in copies.apart(previous.by_spec.get(spec, ()))[0] if entry.run]
        before = _before(entries, own, committed)
        # What was edited by hand is compiled anew.
        unchanged = bool(before.digest) and all(entry.spec_digest in own[0].digests for entry in entries)
        renewed = unchanged and committed.recompile.covers(spec)
        present = before if unchanged and not renewed else compiled
        named, goes_on = started.naming(spec, present), started.naming(spec, before)
        for run, naming in ((present, named), (before, goes_on)):
            if naming and not any(each.digest for each in naming) and spec not in said:
                said[spec] = (_incomplete(started, specs[spec], run, _unknown(spec, run, committed)),)
        if named:
            chosen += own
            continue
        waiting = _waiting(started, specs[spec], present, before, kept=bool(goes_on), renewed=renewed)
        said[spec] = (waiting, *said.get(spec, ()))
        if goes_on:
            kept.add(spec)
            chosen += own
        else:
            chosen += [each for each in retirement.without_runs(own, [spec]) if each.id.kind != spec.kind]
    return Sorted(chosen, frozenset(kept), said)


def run_of(outputs: Iterable[OutputFile]) -> str:
    """Return the hash of the run among the outputs of a spec; empty if there is none."""
    job = copies.run_of(outputs)
    return _hash([job.name]) if job else ""


def _compiled(own: Sequence[OutputFile]) -> NamedRun:
    job = copies.run_of(own)
    bodies = [each.manifest.body for each in copies.apart(own)[0] if each.manifest.run]
    return NamedRun(_hash([job.name]), run_digest.of_objects(bodies)) if job else NamedRun()


def _before(entries: Sequence[Entry], own: Sequence[OutputFile], committed: Committed) -> NamedRun:
    """Return the committed run, whose files are `entries`; without a digest if one of them is missing or edited.

    `own` are the compiled outputs of the spec.
    """
    names = [entry.id.name for entry in entries if entry.id.kind in STARTING_KINDS]
    # A run has Jobs of its gate too, with hashes of their own.
    job = copies.run_of(own)
    found = _hash(sorted(names, key=lambda name: not job or without_hash(name) != without_hash(job.name)))
    bodies = [body_of(entry, committed.tree) for entry in entries]
    sound = [body for body in bodies if body is not None]
    return NamedRun(found, run_digest.of_objects(sound) if len(sound) == len(bodies) else "")


def _unknown(spec: SpecId, run: NamedRun, committed: Committed) -> Severity | None:
    """Return the severity with which the base commit refuses runs that it does not have; None if it has this one.

    None also without a base commit, where nobody knows.
    """
    if committed.base is None:
        return None
    ids = (each.id for each in committed.base.vouchers if each.spec == spec and each.id.kind in STARTING_KINDS)
    return None if any(_hash([each.name]) == run.hash for each in ids) else committed.base.severity


def _hash(names: Iterable[str]) -> str:
    """Return the hash at the end of the first of the names that has one; empty if none has."""
    return next(filter(None, map(hash_of, names)), "")


def _waiting(started: Started, spec: Spec, run: NamedRun, before: NamedRun, *, kept: bool, renewed: bool) -> Diagnostic:
    """Return SP810 for the run that waits. `before` is the committed run, if any; with `kept` it stays.

    With `renewed`, only `--recompile` makes this run of an unchanged spec.

    A committed run that does not stay is ended by the next sync, so the diagnostic is a warning then.
    """
    stays = f" Its run {before.hash} stays as it is." if kept else ""
    ends = (
        f" Its run {before.hash} is taken out of the output, and Argo CD ends it." if before.hash and not kept else ""
    )
    alike = any(each.run == run.hash for each in started.runs.get(spec.id, ()))
    why = "names another run with these characters, as its digest shows" if alike else "does not name it"
    message = f"The run {run.hash} of {spec.id} is not started: `start` of {started.environment} {why}."
    place = f"put it in the place of the entry with the run {before.hash} in" if kept else "add it to"
    again = ", and give `--recompile` again" if renewed else ""
    hint = f"To start it, {place} `start` of the environment: {_entry(spec, run)}{again}."
    severity = Severity.WARNING if ends else None
    found = finding("SP810", ("metadata", "name"), f"{message}{stays}{ends}", hint, severity=severity)
    return diagnose(spec.document, found)


def _incomplete(started: Started, spec: Spec, run: NamedRun, severity: Severity | None) -> Diagnostic:
    """Return SP816 for a run that is named without its digest. `severity` is as from `_unknown`."""
    message = (
        f"`start` of {started.environment} names the run {run.hash} of {spec.id} by these characters alone, which "
        "another run can have."
    )
    if severity:
        message += " The base commit does not have this run."
    hint = f"Put this in the place of the entry: {_entry(spec, run)}."
    return diagnose(spec.document, finding("SP816", ("metadata", "name"), message, hint, severity=severity))


def _entry(spec: Spec, run: NamedRun) -> str:
    named = f"kind: {spec.id.kind}, namespace: {spec.id.namespace}, name: {spec.id.name}"
    return f"{{{named}, digest: {run.digest}, run: {run.hash}}}"
