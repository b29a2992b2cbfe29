"""Fields of a user's pod that the Pod Security level of the platform file forbids."""

from collections.abc import Iterator
from typing import NamedTuple

from stowplan.compiler.checks.objects.object import Object
from stowplan.compiler.checks.objects.pods import Pod
from stowplan.compiler.checks.pods.security import baseline_violations, violations
from stowplan.compiler.checks.pods.violation import Violation
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.meta import SpecId
from stowplan.schema.platform.platform import Platform
from stowplan.schema.platform.pod_grants import PodGrant

_NETWORK: PodGrant = "hostNetwork"
_PORTS: PodGrant = "hostPorts"
_NODE: PodGrant = "nodeName"


class Excess(NamedTuple):
    """A field of a user's pod that the platform does not allow, with message and hint of the finding about it."""

    path: FieldPath
    message: str
    hint: str


def excess_of(obj: Object, pod: Pod, platform: Platform) -> tuple[Excess, ...]:
    """Return the forbidden fields of a pod: the first for each missing entry of the platform's `policy.allow`.

    For a rule that no entry can waive, it is the first field of each name. Empty if the level is `privileged`.
    """
    policy = platform.policy
    if policy.pod_security_level == "privileged":
        return ()
    first: dict[str, Violation] = {}
    for violation in _violations(_without_devices(pod, obj.spec, platform), policy.pod_security_level):
        if violation.grant not in policy.allow:
            first.setdefault(violation.grant or str(violation.path[-1]), violation)
    return tuple([_excess(found, obj.spec, policy.pod_security_level) for found in first.values()])


def _violations(pod: Pod, level: str) -> Iterator[Violation]:
    """Yield the violations of a level, and one for `nodeName`.

    Host ports of a pod on the network of its cluster node are left out: such a pod needs them.
    """
    on_host = bool(pod.spec.get(_NETWORK))
    found = violations(pod) if level == "restricted" else baseline_violations(pod)
    yield from (each for each in found if not (on_host and each.grant == _PORTS))
    if pod.spec.get(_NODE):
        message = "The pod skips the scheduler, and with it taints, queues and quotas."
        yield Violation((*pod.spec_path, _NODE), message, "Remove the field, or use `nodeSelector`.", _NODE)


def _without_devices(pod: Pod, spec: SpecId | None, platform: Platform) -> Pod:
    """Return the pod without the host directories that `accelerators` of the platform file gives to MxJobs."""
    if spec is None or spec.kind != "MxJob" or not platform.accelerators:
        return pod
    given = [volume.host_path for each in platform.accelerators.values() for volume in each.volumes]
    volumes: list[Json] = [
        {"name": ""} if volume.get("hostPath") in [{"path": path} for path in given] else volume
        for volume in pod.volumes
    ]
    return pod._replace(volumes=volumes)


def _excess(found: Violation, spec: SpecId | None, level: str) -> Excess:
    message = f"{found.message} The platform allows no more than the level {level} (`policy.podSecurityLevel`)."
    hint = found.hint.removesuffix(".")
    if found.grant == _NETWORK and spec and spec.kind == "PaddleJob":
        hint = "Remove `hostNetwork` or `intranet: Host`"
    way_out = f"allow: [{found.grant}]" if found.grant else "podSecurityLevel: baseline"
    return Excess(found.path, message, f"{hint}, or write `policy.{way_out}` in the platform file.")
