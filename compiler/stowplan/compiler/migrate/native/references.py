"""Which specs may become native, so that each still finds the specs that it refers to."""

from collections import Counter
from collections.abc import Iterable, Iterator

from stowplan.compiler.migrate.native.draft import Draft
from stowplan.compiler.migrate.native.kinds.registry import PLANS
from stowplan.compiler.migrate.native.scope import Scope, refers_to
from stowplan.schema.diagnostics import Finding, finding
from stowplan.schema.meta import SpecId

_NAME = ("metadata", "name")


def settled(drafts: Iterable[Draft], scope: Scope) -> tuple[dict[SpecId, Draft], list[tuple[Draft, Finding]]]:
    """Return the drafts that are carried out, by identity of their legacy spec, and a finding for each other one.

    Drafts with findings of their own are not carried out, and have no other finding here.
    """
    kept = {each.spec.id: each for each in drafts if not each.refused}
    found: list[tuple[Draft, Finding]] = []
    while lost := list(_lost(kept, scope)):
        found += lost
        for each, _ in lost:
            kept.pop(each.spec.id, None)
    return kept, found


def _lost(kept: dict[SpecId, Draft], scope: Scope) -> Iterator[tuple[Draft, Finding]]:
    """Yield the drafts that cannot be carried out if those in `kept` are, with a finding for each."""
    natives = Counter([*(each.id for each in kept.values()), *(each.id for each in scope.specs)])
    for each in kept.values():
        if (problem := _needed(each, kept) or _needing(each, kept, scope) or _double(each, natives)) is not None:
            yield each, problem


def _needed(each: Draft, kept: dict[SpecId, Draft]) -> Finding | None:
    if each.plan.needs is None or each.plan.needs[0] in kept:
        return None
    needed, at = each.plan.needs
    message = f"{needed} does not become a Dataset, so this spec stays a {each.spec.id.kind}."
    hint = f"Migrate both together; the finding at {needed.kind} {needed.name} says what is in the way."
    return finding("SP427", at, message, hint)


def _needing(each: Draft, kept: dict[SpecId, Draft], scope: Scope) -> Finding | None:
    """Return a finding about a SampleSet with a user that stays legacy; None if all users become native."""
    if each.spec.id.kind != "SampleSet":
        return None
    users = (user.id for user in scope.specs if refers_to(user, each.spec))
    stays = sorted(user for user in users if user.kind in PLANS and user not in kept)
    if not stays:
        return None
    names = ", ".join(str(user) for user in stays)
    message = f"This SampleSet stays, since specs that refer to it stay: {names}."
    return finding("SP427", _NAME, message, "Migrate all of them together, or leave it as it is.")


def _double(each: Draft, natives: Counter[SpecId]) -> Finding | None:
    if natives[each.id] < 2:
        return None
    message = f"There would be two specs {each.id}, so this one stays a {each.spec.id.kind}."
    return finding("SP427", _NAME, message, "Give one of the two another name first.")
