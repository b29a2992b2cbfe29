"""The rules that the Pod Security level `restricted` adds to `baseline`."""

from collections.abc import Callable, Iterator
from typing import Any, Literal

from stowplan.compiler.checks.objects.pods import Pod
from stowplan.compiler.checks.pods.violation import (
    HOST_PATH,
    PROFILES,
    SECURITY,
    Rule,
    Violation,
    security_contexts,
)
from stowplan.compiler.kubernetes.fields import mapping, texts
from stowplan.schema.platform.pod_grants import PodGrant

_VOLUME_TYPES = frozenset("configMap csi downwardAPI emptyDir ephemeral persistentVolumeClaim projected secret".split())


def _volumes(pod: Pod) -> Iterator[Violation]:
    for index, volume in enumerate(pod.volumes):
        for kind in sorted(volume.keys() - {"name"} - _VOLUME_TYPES):
            message = f"A volume of the type {kind} is forbidden; allowed are {', '.join(sorted(_VOLUME_TYPES))}."
            path = (*pod.spec_path, "volumes", index, kind)
            grant = HOST_PATH if kind == HOST_PATH else ""
            yield Violation(path, message, "Use a claim, or another allowed type.", grant)


def _run_as_non_root(pod: Pod) -> Iterator[Violation]:
    message = "The container must not run as root."
    hint = "Set runAsNonRoot to true."
    yield from _unless_inherited(pod, ("runAsNonRoot",), fits=lambda value: value is True, message=message, hint=hint)


def _run_as_user(pod: Pod) -> Iterator[Violation]:
    for path, context in security_contexts(pod):
        if context.get("runAsUser") == 0:
            yield Violation((*path, "runAsUser"), "Found 0, which is root.", "Set another user id.")


def _seccomp(pod: Pod) -> Iterator[Violation]:
    message = 'Allowed are "RuntimeDefault" and "Localhost".'
    hint = "Set seccompProfile.type to RuntimeDefault."
    keys = ("seccompProfile", "type")
    fits = PROFILES.__contains__
    yield from _unless_inherited(pod, keys, fits=fits, message=message, hint=hint, grant="seccomp")


def _escalation(pod: Pod) -> Iterator[Violation]:
    for path, container in pod.containers:
        if mapping(container, SECURITY).get("allowPrivilegeEscalation") is not False:
            field = (*path, SECURITY, "allowPrivilegeEscalation")
            yield Violation(field, "A process could gain more rights than its parent has.", "Set it to false.")


def _capabilities(pod: Pod) -> Iterator[Violation]:
    for path, container in pod.containers:
        capabilities = mapping(container, SECURITY, "capabilities")
        place = (*path, SECURITY, "capabilities")
        if "ALL" not in texts(capabilities.get("drop")):
            yield Violation((*place, "drop"), "The container keeps capabilities.", 'Set it to ["ALL"].')
        for added in sorted(set(texts(capabilities.get("add"))) - {"NET_BIND_SERVICE"}):
            message = f"The capability {added} is forbidden; only NET_BIND_SERVICE may be added."
            yield Violation((*place, "add"), message, "Remove it.", "capabilities")


def _unless_inherited(
    pod: Pod,
    keys: tuple[str, ...],
    *,
    fits: Callable[[Any], bool],
    message: str,
    hint: str,
    grant: PodGrant | Literal[""] = "",
) -> Iterator[Violation]:
    """Yield a violation for each security context whose value at `keys` is wrong, or missing here and in the pod.

    `fits` says whether a value is allowed. `grant`, the entry of `policy.allow` of the platform, waives a wrong value,
    but not a missing one.
    """
    pod_value = mapping(pod.spec, SECURITY, *keys[:-1]).get(keys[-1])
    for path, context in security_contexts(pod):
        value = mapping(context, *keys[:-1]).get(keys[-1])
        is_pod = path == (*pod.spec_path, SECURITY)
        inherited = is_pod or pod_value is not None  # a wrong value of the pod is reported there
        if not fits(value) if value is not None else not inherited:
            found = "It is not set." if value is None else f"Found {_text(value)}."
            yield Violation((*path, *keys), f"{found} {message}", hint, "" if value is None else grant)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else f'"{value}"'


VOLUME_RULES: tuple[Rule, ...] = (_volumes,)
USER_RULES: tuple[Rule, ...] = (_run_as_non_root, _run_as_user)
LINUX_RULES: tuple[Rule, ...] = (_seccomp, _escalation, _capabilities)
"""Rules that do not apply to pods for Windows."""
