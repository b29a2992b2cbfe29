"""Risks of syncing a change: each rule looks at one object before and after."""

from collections.abc import Callable, Iterator

from stowplan.compiler.checks.history.fixed_fields import fixed
from stowplan.compiler.diff.change import Action, Danger, Pair, Risk, worst_first
from stowplan.compiler.diff.risks import pod_risks
from stowplan.compiler.diff.risks.grants import grants
from stowplan.compiler.diff.risks.lineages import lineages
from stowplan.compiler.diff.risks.pods import Pods
from stowplan.compiler.kubernetes.fields import annotation, identity, mapping
from stowplan.library.builders import gate
from stowplan.library.dialects.registry import reading
from stowplan.library.engines.registry import STARTING_KINDS
from stowplan.library.manifest import Json
from stowplan.library.values import labels
from stowplan.library.values.quantities import larger
from stowplan.schema.kinds.table import DATASET_KINDS
from stowplan.schema.meta import RUN_ANNOTATION

_Rule = Callable[[Pair], Iterator[Risk]]


def risks(pair: Pair, pods: Pods) -> tuple[Risk, ...]:
    """Return all risks of the change of one object, worst first. `pods` are those of the new output."""
    found = [risk for rule in _RULES for risk in rule(pair)]
    found += _opened(pair, pods)
    found += pod_risks.added(pair, pods)
    return worst_first(found)


def _data(pair: Pair) -> Iterator[Risk]:
    before, after = pair.before or {}, pair.after or {}
    if pair.kind in ("PersistentVolume", "PersistentVolumeClaim"):
        if pair.action in (Action.REMOVED, Action.REPLACED):
            yield from _removed(before)
        policy = "persistentVolumeReclaimPolicy"
        if mapping(before, "spec").get(policy) == "Retain" != mapping(after, "spec").get(policy, "Retain"):
            yield Risk(Danger.DATA, "The volume is deleted with its claim from now on.")
        sizes = (mapping(body, "spec", "resources", "requests").get("storage") for body in (before, after))
        if pair.action is Action.CHANGED and larger(*sizes):
            yield Risk(Danger.DATA, "The claim shrinks.")
    if pair.kind in ("CustomResourceDefinition", "Namespace") and pair.action is Action.REMOVED:
        yield Risk(Danger.DATA, "With it would go everything in it.")


def _removed(before: Json) -> Iterator[Risk]:
    """Yield the risk of a claim or volume that the output does not contain any more."""
    if annotation(before, labels.SYNC_OPTIONS) != labels.REMOVE:
        yield Risk(Danger.DATA, "The output does not contain its data any more; Argo CD leaves it in the cluster.")
    elif before.get("kind") == "PersistentVolumeClaim" and not mapping(before, "spec").get("volumeName"):
        yield Risk(Danger.DATA, "Argo CD deletes the claim, and its storage class may delete the data.")


def _left(pair: Pair) -> Iterator[Risk]:
    """Yield a risk if a dataset in a claim of the user goes; the volumes of other datasets have risks of their own."""
    removed = pair.before if pair.kind in DATASET_KINDS and pair.action is Action.REMOVED else None
    if removed and mapping(removed, "spec", "volume", "claim"):
        yield Risk(Danger.DATA, "Its data stays in the claim; nothing manages or deletes it any more.")


def _deletions(pair: Pair) -> Iterator[Risk]:
    """Yield a risk if the spec in the custom resource now requests a deletion, or requests it again for a new run."""
    before, after = pair.before or {}, pair.after or {}
    text = _deletion(after)
    if text and (text != _deletion(before) or annotation(before, RUN_ANNOTATION) != annotation(after, RUN_ANNOTATION)):
        yield Risk(Danger.DATA, text)


def _deletion(body: Json) -> str:
    spec, loss = mapping(body, "spec"), reading(body.get("kind")).loss(body)
    held = spec.get("terminate") or spec.get("suspend")
    return loss.text if loss and not held else ""


def _run(pair: Pair) -> Iterator[Risk]:
    if pair.kind not in STARTING_KINDS or gate.is_gate(pair.after or pair.before or {}):
        return
    sleeps, slept = (_sleeps(body or {}) for body in (pair.after, pair.before))
    waits = gate.waits(pair.after) if pair.after else ""
    when = f"once {waits} is ready" if waits else "when it is synced"
    match pair.action:
        case Action.REPLACED:
            old = identity(pair.before or {}).name
            yield Risk(Danger.RUN, f"The run {old} is ended{'' if sleeps else ', and a new one starts'}.")
        case Action.REMOVED:
            yield Risk(Danger.RUN, "The run is ended, and its pods are deleted.")
        case Action.CREATED if not sleeps:
            yield Risk(Danger.RUN, f"It starts {when}.")
        case Action.CHANGED if slept and not sleeps:
            yield Risk(Danger.RUN, f"It was suspended, and starts {when}.")
        case Action.CHANGED if sleeps and not slept:
            yield Risk(Danger.RUN, "The run is suspended: its pods are deleted.")


def _sleeps(body: Json) -> bool:
    """Return whether the user holds the run back; a gate opens one that is closed for another reason."""
    return bool(body and mapping(body, "spec").get("suspend") and not gate.waits(body))


def _schedule(pair: Pair) -> Iterator[Risk]:
    if pair.kind != "CronJob":
        return
    if pair.after is None:
        yield Risk(Danger.RUN, "No run starts by its schedule any more; one that is under way is ended.")
        return
    before, after = (mapping(body or {}, "spec") for body in (pair.before, pair.after))
    woken = before.get("suspend") or before.get("schedule") != after.get("schedule")
    if woken and not after.get("suspend"):
        yield Risk(Danger.RUN, f"Runs start by the schedule {after.get('schedule')}.")


def _rollout(pair: Pair) -> Iterator[Risk]:
    if pair.kind not in ("StatefulSet", "Deployment") or pair.before is None:
        return
    before, after = (mapping(body or {}, "spec", "template") for body in (pair.before, pair.after))
    if pair.action in (Action.REMOVED, Action.REPLACED):
        yield Risk(Danger.RUN, "Its pods are deleted.")
    elif before != after:
        yield Risk(Danger.RUN, "Its pods are replaced one after the other.")


def _immutable(pair: Pair) -> Iterator[Risk]:
    if pair.action is not Action.CHANGED or pair.before is None or pair.after is None:
        return
    own = identity(pair.after)
    for path, _, _ in fixed((own.group, own.kind), pair.before).changes(pair.before, pair.after):
        yield Risk(Danger.IMMUTABLE, f"{'.'.join(path)} is immutable: the sync would fail.")


def _crd(pair: Pair) -> Iterator[Risk]:
    if pair.kind == "CustomResourceDefinition" and pair.action is Action.CHANGED:
        yield Risk(Danger.CRD, "Objects of this kind in the whole cluster are read by it.")


def _opened(pair: Pair, pods: Pods) -> Iterator[Risk]:
    """Yield a risk if a NetworkPolicy is removed while pods that it selects stay."""
    if pair.kind == "NetworkPolicy" and pair.before and pair.after is None:
        own = identity(pair.before)
        if pods.any_has(own.namespace, mapping(pair.before, "spec", "podSelector", "matchLabels")):
            yield Risk(Danger.SECURITY, "What it shut out is let in.")


_RULES: tuple[_Rule, ...] = (_data, _left, _deletions, _run, lineages, _schedule, _rollout, _immutable, grants, _crd)
