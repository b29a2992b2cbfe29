"""Risks of an object's pods: fields that Pod Security forbids, service accounts, Secrets, images, and other fields."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from stowplan.compiler.checks.objects.pods import Pod, pods_anywhere
from stowplan.compiler.checks.pods.security import baseline_violations, violations
from stowplan.compiler.checks.pods.violation import Violation
from stowplan.compiler.diff.change import Danger, Pair, Risk
from stowplan.compiler.diff.fields import Nothing
from stowplan.compiler.diff.risks.pod_fields import properties
from stowplan.compiler.diff.risks.pods import Pods
from stowplan.compiler.diff.wording import shown
from stowplan.compiler.kubernetes.fields import identity, items, mapping
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath, dotted
from stowplan.schema.kinds.table import KINDS

_SECRET_FIELDS = ("secret", "secretRef", "secretKeyRef", "nodePublishSecretRef")
_STRUCTURE = ("spec", "template", "jobTemplate")
"""Steps of a pod's path that are left out in messages, because nearly all paths have them."""


@dataclass(frozen=True, slots=True)
class _Trait:
    """A property of a pod that is a risk if it is new."""

    risk: Risk
    holder: FieldPath
    """Path of the pod or container, see `_place`."""
    implied: bool = False
    """True for a property that every pod has in some form: a missing protection, or an image.

    It is a risk only if the holder existed before. So a removed protection and a changed image are shown, and those of
    new pods are not.
    """


def added(pair: Pair, pods: Pods) -> Iterator[Risk]:
    """Yield each risk that the object's pods did not have before, in no order. `pods` are those of the new output."""
    if pair.after is None:
        return
    before = pair.before or {}
    known = {trait.risk for trait in _traits(before, pods)}
    paths = [path for pod in _pods(before) for path in (pod.spec_path, *(path for path, _ in pod.containers))]
    holders = {_place(before, path) for path in paths}
    new = {trait.risk for trait in _traits(pair.after, pods) if not trait.implied or trait.holder in holders}
    yield from new - known


def _pods(body: Json) -> tuple[Pod, ...]:
    """Return the pods of an object; none for the custom resource of a spec, because its compiled objects have them."""
    own = identity(body)
    known = KINDS.get(own.kind)
    return () if known and known.group == own.group else pods_anywhere(body)


def _traits(body: Json, pods: Pods) -> Iterator[_Trait]:
    for pod in _pods(body):
        yield from _forbidden(body, pod)
        yield from _account(body, pod, pods)
        holder = _place(body, pod.spec_path)
        yield from (_Trait(each.risk, holder, each.implied) for each in properties(pod))
        for name in _secrets([pod.spec.get("volumes"), [container for _, container in pod.containers]]):
            yield _Trait(Risk(Danger.RIGHTS, f"Its pods read the Secret {name}."), holder)
        for _, container in pod.containers:
            whose = f" of {dotted(holder)}" if holder else ""
            text = f"Container {container.get('name')}{whose} runs the image {container.get('image')}."
            # The pod is the holder: the image of a container that is added to a known pod is shown.
            yield _Trait(Risk(Danger.IMAGE, text), holder, implied=True)


def _forbidden(body: Json, pod: Pod) -> Iterator[_Trait]:
    """Yield a trait for each violation of the levels `baseline` and `restricted`, each field once."""
    found = baseline_violations(pod)
    known = {violation.path for violation in found}
    for violation in (*found, *(each for each in violations(pod) if each.path not in known)):
        value = _value(body, violation.path)
        missing = value is Nothing.HERE or violation.path[-1] == "drop"
        place = dotted(_place(body, violation.path))
        text = f"{place} is {'missing' if value is Nothing.HERE else shown(value)}: {violation.message}"
        yield _Trait(Risk(Danger.SECURITY, text), _holder(body, pod, violation), missing)


def _holder(body: Json, pod: Pod, violation: Violation) -> FieldPath:
    paths = (path for path, _ in pod.containers if violation.path[: len(path)] == path)
    return _place(body, next(paths, pod.spec_path))


def _account(body: Json, pod: Pod, pods: Pods) -> Iterator[_Trait]:
    """Yield traits for the pod's ServiceAccount and its token; none if the account was compiled for the same spec."""
    named = pod.spec.get("serviceAccountName") or pod.spec.get("serviceAccount")
    if pods.owns(body, str(named)):
        return
    holder = _place(body, pod.spec_path)
    text = f"Its pods act as the ServiceAccount {named or 'default'}."
    yield _Trait(Risk(Danger.RIGHTS, text), holder, implied=not named)
    token, volumes = pod.spec.get("automountServiceAccountToken"), items(pod.spec, "volumes")
    projected = any(
        "serviceAccountToken" in each for volume in volumes for each in items(volume, "projected", "sources")
    )
    if token or projected:
        yield _Trait(Risk(Danger.RIGHTS, "Its pods get the token of their ServiceAccount."), holder)
    elif token is None:
        text = "Its pods get the token of their ServiceAccount, unless that forbids it."
        yield _Trait(Risk(Danger.RIGHTS, text), holder, implied=True)


def _secrets(value: Any) -> Iterator[str]:
    """Yield the names of all Secrets that a value names at any depth, in volumes and environment variables."""
    left = [value]
    while left:
        value = left.pop()
        if isinstance(value, list):
            left += value
        elif isinstance(value, dict):
            for field in _SECRET_FIELDS:
                own = mapping(value, field)
                yield from (str(own[key]) for key in ("secretName", "name") if key in own)
            left += value.values()


def _place(body: Json, path: FieldPath) -> FieldPath:
    """Return a path with the names of list items in place of indices, and without the steps in `_STRUCTURE`."""
    place: list[str | int] = []
    value: Any = body
    for part in path:
        value = _value(value, (part,))
        name = value.get("name") if isinstance(part, int) and isinstance(value, dict) else None
        if part not in _STRUCTURE:
            place.append(name if isinstance(name, str) else part)
    return tuple(place)


def _value(body: Any, path: FieldPath) -> Any:
    try:
        for part in path:
            body = body[part]
    except (KeyError, IndexError, TypeError):
        return Nothing.HERE
    return body
