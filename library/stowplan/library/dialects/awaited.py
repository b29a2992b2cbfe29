"""What a training job runs after, in the form in which its gate waits for it."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from stowplan.library.builders import gate
from stowplan.library.dialects.shared import run_order
from stowplan.library.dialects.shared.context import Context, Lowered
from stowplan.library.ir.gate import Wait
from stowplan.library.manifest import Manifest, Unit
from stowplan.library.values import labels
from stowplan.library.values.names import HASH_LENGTH
from stowplan.schema.agents.gate_config import digest
from stowplan.schema.kinds.custom_resource import CustomResource
from stowplan.schema.kinds.table import DATASET_KINDS, TRAINING_KINDS
from stowplan.schema.meta import SpecId

Lower = Callable[[CustomResource, Context], Lowered]
"""Lowers one spec, as its dialect does."""


def named(model: CustomResource, context: Context) -> tuple[SpecId, ...]:
    """Return the specs that a training job runs after, sorted; nothing for other kinds, whose pods wait themselves."""
    if model.kind not in TRAINING_KINDS:
        return ()
    return run_order.specs(run_order.of_model(model, context.namespace(model.metadata.namespace)))


def of(model: CustomResource, context: Context, lower: Lower) -> Mapping[SpecId, Wait]:
    """Return what a spec runs after; an empty mapping unless it trains. `lower` compiles the others.

    Of a spec that is not in the context, or has errors, run and digest are empty.
    """
    return {spec: _wait(spec, context, lower) for spec in named(model, context)}


def _wait(spec: SpecId, context: Context, lower: Lower) -> Wait:
    unknown = _unknown(spec)
    other = context.specs.get(spec) or context.datasets.get(spec)
    if other is None:
        return unknown
    # A run is named by what it does, not by the runs before it: so specs that wait for each other end here too.
    before = {each: _unknown(each) for each in named(other, context)}
    unit = lower(other, replace(context, awaited=before)).unit
    resources = (digest(each.body) for each in unit.manifests if each.kind == spec.kind)
    return unknown._replace(run=_run(unit), digest=next(resources, ""))


def _unknown(spec: SpecId) -> Wait:
    return Wait(spec, "Ready" if spec.kind in DATASET_KINDS else "Complete", run="", digest="")


def _run(unit: Unit) -> str:
    """Return the hash at the end of the names of the Jobs by which a spec is done; empty if it has none."""
    starting = (each for each in unit.manifests if each.run and each.kind in ("Job", "JobSet"))
    found = (each.name[-HASH_LENGTH:] for each in starting if _decides(each, unit.spec))
    return next(found, "")


def _decides(work: Manifest, spec: SpecId) -> bool:
    own = work.body["metadata"]["labels"]
    if gate.is_gate(work.body) or labels.OUTPUT in own:
        return False
    return spec.kind not in DATASET_KINDS or own[labels.COMPONENT] == "sync"
