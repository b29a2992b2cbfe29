"""`Draft`: the migration of one spec as far as it does not depend on other specs."""

import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from stowplan.compiler.kubernetes.fields import value_at
from stowplan.compiler.migrate.native.fields import carried_out, leaves
from stowplan.compiler.migrate.native.kinds.registry import PLANS
from stowplan.compiler.migrate.native.plan import MigrationPlan, Move, Omit, Step, Write
from stowplan.compiler.migrate.native.scope import Scope
from stowplan.compiler.model import Spec
from stowplan.library.dialects.shared import run_order
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, dotted, finding
from stowplan.schema.kinds.table import KINDS
from stowplan.schema.meta import SpecId
from stowplan.schema.parse_model import read

_HINT = "Remove it if the spec may do without, or leave the spec as it is."
_LATER = "Remove the annotation, migrate, and write `runAfter` with the new kinds."


@dataclass(frozen=True, slots=True)
class Draft:
    """A spec, the plan for its migration, and the findings that keep it from being migrated."""

    spec: Spec
    plan: MigrationPlan
    refused: tuple[Finding, ...]

    @property
    def id(self) -> SpecId:
        """The identity of the native spec."""
        return SpecId(self.plan.kind, self.spec.id.namespace, self.spec.id.name)


def draft(spec: Spec, scope: Scope) -> Draft:
    """Return the draft of a spec of a legacy kind. `spec.document` must be in canonical spelling."""
    plan = PLANS[spec.id.kind](spec.model, spec, scope)
    plan = replace(plan, refused=(*plan.refused, *_ordered(spec, scope)))
    if not plan.steps:
        return Draft(spec, plan, plan.refused)
    plan = replace(plan, steps=_complete(plan))
    refused = [*plan.refused, *(each for each in _lost(plan, spec) if not _about(each, plan.refused))]
    refused = refused or list(_invalid(plan, spec))
    return Draft(spec, plan, tuple(refused))


def omitted(each: Draft) -> Iterator[Finding]:
    """Yield a finding for each field that is left out and that users may wonder about."""
    for step in each.plan.steps:
        if (
            isinstance(step, Omit)
            and step.reason
            and next(leaves(value_at(each.spec.document.data, step.old)), None) is not None
        ):
            message = f"`{dotted(step.old[1:])}` is left out: {step.reason}."
            yield finding("SP428", step.old, message, "Nothing to do.", anchor=Anchor.KEY)


def _complete(plan: MigrationPlan) -> tuple[Step, ...]:
    """Return the steps of a plan with those that all kinds share."""
    of_metadata = [each for each in plan.steps if isinstance(each, Omit) and each.old[:1] == ("metadata",)]
    return (
        *of_metadata,
        Write(("apiVersion",), KINDS[plan.kind].api_version, ("apiVersion",)),
        Write(("kind",), plan.kind, ("kind",)),
        Move(("metadata",), ("metadata",)),
        *(each for each in plan.steps if each not in of_metadata and (not isinstance(each, Omit) or each.old)),
    )


def _lost(plan: MigrationPlan, spec: Spec) -> Iterator[Finding]:
    """Yield a finding for each field that no step names, of nested ones for the outermost."""
    data = copy.deepcopy(spec.document.data)
    carried_out(plan, data)
    named = {each.old[:length] for each in plan.steps for length in range(len(each.old) + 1)}
    seen: set[FieldPath] = set()
    for leaf in leaves(data):
        at = next((leaf[:length] for length in range(2, len(leaf) + 1) if leaf[:length] not in named), leaf)
        if at not in seen:
            seen.add(at)
            why = next((reason for path, reason in plan.reasons if leaf[: len(path)] == path), "there is no such field")
            message = f"`{dotted(at[1:])}` cannot be kept in a {plan.kind}: {why}."
            yield finding("SP427", at, message, _HINT, anchor=Anchor.KEY)


def _about(one: Finding, others: Iterable[Finding]) -> bool:
    """Return whether one of the findings `others` is about the same value as `one`, or about a part or whole of it."""
    lengths = ((other.path, min(len(one.path), len(other.path))) for other in others)
    return any(one.path[:length] == path[:length] for path, length in lengths)


def _invalid(plan: MigrationPlan, spec: Spec) -> Iterator[Finding]:
    """Yield a finding for each error that the native spec would have, at the field that the value comes from."""
    _, problems = read(KINDS[plan.kind].model, carried_out(plan, copy.deepcopy(spec.document.data)))
    for problem in problems:
        steps = [each for each in plan.steps if isinstance(each, Move | Write) and each.old]
        found = [each for each in steps if problem.path[: len(each.new)] == each.new]
        at = (*found[-1].old, *problem.path[len(found[-1].new) :]) if found else ("kind",)
        message = f"In a {plan.kind}, this would be refused: {problem.message}"
        yield finding("SP427", at, message, problem.hint)


def _ordered(spec: Spec, scope: Scope) -> Iterator[Finding]:
    """Yield a finding if a spec runs after others, or others run after it: their kinds might be others afterwards."""
    if run_order.of_model(spec.model, spec.id.namespace):
        message = "The annotation names specs by their old kinds."
        yield finding("SP427", run_order.ANNOTATION, message, _LATER, anchor=Anchor.KEY)
    for other in scope.specs:
        if spec.id in (each.spec for each in run_order.of_model(other.model, other.id.namespace)):
            message = f"{other.id} runs after this spec, and names it by its old kind."
            yield finding(
                "SP427", ("metadata", "name"), message, "Remove it there first, and write it anew afterwards."
            )
            return
