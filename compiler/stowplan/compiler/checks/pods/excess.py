"""Fields of a user's pod that the Pod Security level of the platform file forbids."""

from collections.abc import Iterator
from dataclasses import replace

from stowplan.compiler.checks.objects.object import Object
from stowplan.compiler.checks.objects.pods import Pod
from stowplan.compiler.checks.pods.security import baseline_violations, violations
from stowplan.compiler.checks.pods.violation import Violation
from stowplan.compiler.kubernetes.fields import mapping
from stowplan.compiler.kubernetes.pod_networks import NETWORK_ANNOTATIONS
from stowplan.library.dialects.registry import pods
from stowplan.library.manifest import Json
from stowplan.schema.meta import SpecId
from stowplan.schema.platform.platform import Platform
from stowplan.schema.platform.pod_grants import PodGrant

_NETWORK: PodGrant = "hostNetwork"
_PORTS: PodGrant = "hostPorts"
_NODE: PodGrant = "nodeName"
_NETWORKS: PodGrant = "networks"


def excess_of(obj: Object, pod: Pod, platform: Platform) -> tuple[Violation, ...]:
    """Return the forbidden fields of a pod of `obj`: the first for each missing entry of the platform's `policy.allow`.

    Messages and hints are those of the finding about it. For a rule that no entry can waive, it is the first field of
    each name. Empty if the level is `privileged`.
    """
    policy = platform.policy
    if policy.pod_security_level == "privileged":
        return ()
    first: dict[str, Violation] = {}
    violations_found = _violations(_without_devices(pod, obj.spec, platform), policy.pod_security_level)
    for violation in (*violations_found, *_networks(pod, platform)):
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


def _networks(pod: Pod, platform: Platform) -> Iterator[Violation]:
    """Yield a violation for each annotation of Multus, unless a profile of the platform has the same one."""
    given = [each for profile in platform.profiles.networks.values() for each in profile.annotations.items()]
    for key, value in mapping(pod.metadata, "annotations").items():
        if key in NETWORK_ANNOTATIONS and (key, value) not in given:
            message = f'The pod joins the network "{value}", where no NetworkPolicy of the cluster holds.'
            hint = "Remove it, or name a network of `profiles.networks` in the spec of a Training."
            yield Violation((*pod.path, "metadata", "annotations", key), message, hint, _NETWORKS)


def _without_devices(pod: Pod, spec: SpecId | None, platform: Platform) -> Pod:
    """Return the pod without the host directories that the platform file gives to pods of this kind."""
    given = [*pods(spec).host_paths(platform)]
    if not given:
        return pod
    volumes: list[Json] = [
        {"name": ""} if volume.get("hostPath") in [{"path": path} for path in given] else volume
        for volume in pod.volumes
    ]
    return pod._replace(volumes=volumes)


def _excess(found: Violation, spec: SpecId | None, level: str) -> Violation:
    message = f"{found.message} The platform allows no more than the level {level} (`policy.podSecurityLevel`)."
    if found.grant == _NETWORKS:
        message = f"{found.message} The platform does not allow it."
    hint, way_out = found.hint.removesuffix("."), "podSecurityLevel: baseline"
    if found.grant:
        hint, way_out = pods(spec).hints.get(found.grant, hint), f"allow: [{found.grant}]"
    return replace(found, message=message, hint=f"{hint}, or write `policy.{way_out}` in the platform file.")
