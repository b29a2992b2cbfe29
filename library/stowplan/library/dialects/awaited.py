"""What a training job runs after, in the form in which its gate waits for it."""

from collections.abc import Mapping
from dataclasses import replace

from stowplan.library.dialects.shared import run_order
from stowplan.library.dialects.shared.context import Context, Lowered
from stowplan.library.dialects.training_group import waiting
from stowplan.library.dialects.training_group.waiting import Lower
from stowplan.library.ir.gate import Wait
from stowplan.library.manifest import Unit
from stowplan.schema.kinds.custom_resource import CustomResource
from stowplan.schema.kinds.table import TRAINING_KINDS
from stowplan.schema.meta import SpecId


def named(model: CustomResource, context: Context) -> tuple[SpecId, ...]:
    """Return the specs that a training job runs after, sorted; nothing for other kinds, whose pods wait themselves."""
    if model.kind not in TRAINING_KINDS:
        return ()
    return run_order.specs(run_order.of_model(model, context.namespace(model.metadata.namespace)))


def of(model: CustomResource, context: Context, lower: Lower[CustomResource]) -> Mapping[SpecId, Wait]:
    """Return what a spec runs after, by the specs that it names; an empty mapping unless it trains.

    `lower` compiles these specs, each once: `context.waits` keeps the results. Of a spec that is not in the context, or
    has errors, run and digest are empty.
    """

    def alone(other: CustomResource, context: Context) -> Lowered:
        # A run is named by what it does, not by the runs before it: so specs that wait for each other end here too.
        before = {each: waiting.of_unit(Unit(each, ())) for each in named(other, context)}
        return lower(other, replace(context, awaited=before))

    found = {spec: context.specs.get(spec) or context.datasets.get(spec) for spec in named(model, context)}
    return {
        spec: waiting.of_spec(other, alone, context) if other else waiting.of_unit(Unit(spec, ()))
        for spec, other in found.items()
    }
