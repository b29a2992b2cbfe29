"""Outputs of training jobs: their copies are reused apart from the run, so an edit of them does not train again."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from stowplan.compiler.committed.one_run import RunChoice
from stowplan.compiler.lowering import output_layout
from stowplan.compiler.model import OutputFile
from stowplan.compiler.output.inventory_lines import Entry
from stowplan.library.builders import gate
from stowplan.library.dialects.training.outputs import following
from stowplan.library.engines.registry import STARTING_KINDS
from stowplan.schema.meta import ObjectId

_Part = TypeVar("_Part", OutputFile, Entry)


def apart(of_spec: Sequence[_Part]) -> tuple[list[_Part], list[_Part]]:
    """Split the outputs or entries of a spec: those of its run, and those of the Jobs that copy the run's results."""
    found = [output_layout.is_of_copies(each.spec_digest) for each in of_spec]
    pairs = list(zip(of_spec, found, strict=True))
    return [each for each, copies in pairs if not copies], [each for each, copies in pairs if copies]


def run_of(outputs: Iterable[OutputFile]) -> ObjectId | None:
    """Return the Job or JobSet that trains, which the gate's Job does not; None if no run is among the outputs."""
    starting = (each for each in outputs if each.manifest.run and each.id.kind in STARTING_KINDS)
    return next((each.id for each in starting if not gate.is_gate(each.manifest.body)), None)


def following_run(copies: Sequence[OutputFile], compiled: ObjectId | None, run: ObjectId | None) -> list[OutputFile]:
    """Return the outputs that copy from the run `compiled`, changed to copy from `run`; unchanged if that is None."""
    if run is None or run == compiled:
        return [*copies]
    return [replace(each, manifest=following.following(each.manifest, run)) for each in copies]


def written(
    compiled: Sequence[OutputFile],
    committed: Sequence[Entry],
    own: Sequence[OutputFile],
    choice: RunChoice,
    *,
    changed: bool,
) -> list[OutputFile]:
    """Return the outputs that copy from a run that is written: the `committed` ones, or those that are `compiled`.

    `choice` decides and collects the problems. `own` are all compiled outputs of the spec, at least one. With
    `changed`, an older run stays as it is, with its own copies.
    """
    if not (committed if changed else compiled):
        return []
    # Without compiled copies, the committed ones still need an output of their spec.
    like = compiled or [replace(own[0], spec_digest=committed[0].spec_digest, content_digest="")]
    return [each for each in choice.written(like, committed, changed=changed) if each.manifest.run]
