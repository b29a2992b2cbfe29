"""What may go wrong when a change is synced: rules over the object before and after."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from stowplan.compiler.checks.fixed_fields import fixed
from stowplan.compiler.difference import rights
from stowplan.compiler.difference.change import Action, Danger, Pair, Risk
from stowplan.compiler.difference.pods import TEMPLATES, Pods
from stowplan.compiler.manifest_fields import identity, items, mapping
from stowplan.library.manifest import Json
from stowplan.library.quantities import larger

_RUNS = ("Job", "JobSet")
_SHOWN_RIGHTS = 6
_Rule = Callable[[Pair], Iterator[Risk]]


def risks(pair: Pair, pods: Pods) -> tuple[Risk, ...]:
    """All risks of one object, the worst first. `pods` are those that there will be."""
    found = [risk for rule in _RULES for risk in rule(pair)]
    found += _opened(pair, pods)
    return tuple(sorted(found, key=lambda risk: (list(Danger).index(risk.danger), risk.text)))


def _data(pair: Pair) -> Iterator[Risk]:
    before, after = pair.before or {}, pair.after or {}
    if pair.kind in ("PersistentVolume", "PersistentVolumeClaim"):
        if pair.action in (Action.REMOVED, Action.REPLACED):
            yield Risk(Danger.DATA, "Nothing here stands for its data any more; Argo CD leaves it in the cluster.")
        policy = "persistentVolumeReclaimPolicy"
        if mapping(before, "spec").get(policy) == "Retain" != mapping(after, "spec").get(policy, "Retain"):
            yield Risk(Danger.DATA, "The volume is deleted with its claim from now on.")
        sizes = (mapping(body, "spec", "resources", "requests").get("storage") for body in (before, after))
        if pair.action is Action.CHANGED and larger(*sizes):
            yield Risk(Danger.DATA, "The claim shrinks.")
    if pair.kind in ("CustomResourceDefinition", "Namespace") and pair.action is Action.REMOVED:
        yield Risk(Danger.DATA, "With it would go everything in it.")
    if pair.after and pair.action is not Action.REMOVED:
        yield from _deleting(pair)


def _deleting(pair: Pair) -> Iterator[Risk]:
    """Specs that delete data when their run starts."""
    now, was = (_deletes(body) if body else "" for body in (pair.after, pair.before))
    if now and now != was:
        yield Risk(Danger.DATA, now)


def _deletes(body: Json) -> str:
    spec = mapping(body, "spec")
    if body.get("kind") == "SampleJob" and not spec.get("terminate"):
        if spec.get("type") == "rmr":
            paths = mapping(spec, "rmrOptions").get("paths") or []
            return f"It removes {', '.join(map(str, paths))} from the dataset."
        if any(mapping(spec, "syncOptions").get(key) for key in ("delete-src", "delete-dst")):
            return "Its sync deletes what only one side has."
    if body.get("kind") == "DataCube" and mapping(spec, "executor", "options").get("mirror"):
        return "It deletes what the source lacks."
    return ""


def _run(pair: Pair) -> Iterator[Risk]:
    if pair.kind not in _RUNS:
        return
    sleeps, slept = (bool(body and mapping(body, "spec").get("suspend")) for body in (pair.after, pair.before))
    match pair.action:
        case Action.REPLACED:
            old = identity(pair.before or {}).name
            yield Risk(Danger.RUN, f"The run {old} is ended{'' if sleeps else ', and a new one starts'}.")
        case Action.REMOVED:
            yield Risk(Danger.RUN, "The run is ended, and its pods are deleted.")
        case Action.CREATED if not sleeps:
            yield Risk(Danger.RUN, "It starts when it is synced.")
        case Action.CHANGED if slept and not sleeps:
            yield Risk(Danger.RUN, "It was suspended, and starts when it is synced.")
        case Action.CHANGED if sleeps and not slept:
            yield Risk(Danger.RUN, "The run is suspended: its pods are deleted.")


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
        yield Risk(Danger.IMMUTABLE, f"Kubernetes lets nobody change {'.'.join(path)}: the sync would fail.")


def _rights(pair: Pair) -> Iterator[Risk]:
    if pair.after is None:
        return
    if pair.kind in rights.ROLES:
        new = list(rights.said(rights.added(pair.before, pair.after)))
        shown = new[:_SHOWN_RIGHTS]
        more = f"; and {len(new) - len(shown)} more" if len(new) > len(shown) else ""
        if new:
            yield Risk(Danger.RIGHTS, f"New rights: {'; '.join(shown)}{more}.")
    if pair.kind in ("RoleBinding", "ClusterRoleBinding") and pair.before is not None:
        known = items(pair.before, "subjects")
        new_ones = [each for each in items(pair.after, "subjects") if each not in known]
        for subject in new_ones:
            yield Risk(Danger.RIGHTS, f"{subject.get('kind')} {subject.get('name')} is given the rights of its role.")
    if pair.kind == "AppProject" and pair.before is not None:
        for field in ("clusterResourceWhitelist", "destinations", "namespaceResourceWhitelist", "sourceRepos"):
            before, after = (mapping(body, "spec").get(field) or [] for body in (pair.before, pair.after))
            if any(each not in before for each in after):
                yield Risk(Danger.RIGHTS, f"Argo CD may do more: {field} has grown.")


def _crd(pair: Pair) -> Iterator[Risk]:
    if pair.kind == "CustomResourceDefinition" and pair.action is Action.CHANGED:
        yield Risk(Danger.CRD, "Objects of this kind in the whole cluster are read by it.")


_POD_FIELDS = ("hostNetwork", "hostPID", "hostIPC")


def _security(pair: Pair) -> Iterator[Risk]:
    after = pair.after
    if after is None:
        return
    known = set(_loosenings(pair.before)) if pair.before else set()
    for text in sorted(set(_loosenings(after)) - known):
        yield Risk(Danger.SECURITY, text)


def _opened(pair: Pair, pods: Pods) -> Iterator[Risk]:
    """A network policy that goes while pods that it was for stay."""
    if pair.kind == "NetworkPolicy" and pair.before and pair.after is None:
        own = identity(pair.before)
        if pods.any_has(own.namespace, mapping(pair.before, "spec", "podSelector", "matchLabels")):
            yield Risk(Danger.SECURITY, "What it shut out is let in.")


def _loosenings(body: Mapping[str, Any]) -> Iterator[str]:
    for place in TEMPLATES:
        pod = mapping(body, *place, "spec")
        yield from (f"Its pods have {name}." for name in _POD_FIELDS if pod.get(name))
        paths = [mapping(volume, "hostPath").get("path") for volume in items(pod, "volumes")]
        yield from (f"Its pods see {path} of their node." for path in paths if path)
        for container in (*items(pod, "initContainers"), *items(pod, "containers")):
            context = mapping(container, "securityContext")
            if context.get("privileged"):
                yield f"Container {container.get('name')} is privileged."
            for capability in mapping(context, "capabilities").get("add") or ():
                yield f"Container {container.get('name')} has the capability {capability}."


_RULES: tuple[_Rule, ...] = (_data, _run, _schedule, _rollout, _immutable, _rights, _crd, _security)
