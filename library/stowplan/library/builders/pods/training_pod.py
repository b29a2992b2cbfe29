"""Pods of training jobs: the user's template, and what Stowplan adds for the role.

Nothing in the template is removed except entries that the API server of Kubernetes would refuse: of list entries with
equal keys (see `MERGE_KEYS`) only the last one stays, as in the old operators.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from stowplan.library.builders.pods.affinity import spread
from stowplan.library.ir.training import DatasetMount, Environment, Role, TrainingGroup
from stowplan.library.manifest import Json
from stowplan.library.values import labels, quantities

CONTAINER_LISTS = ("initContainers", "containers")

MERGE_KEYS: Mapping[str, tuple[str, ...]] = {
    "env": ("name",),
    "ports": ("containerPort", "protocol"),
    "volumeMounts": ("mountPath",),
}
"""Lists of a container whose entries Kubernetes identifies by a key, and the fields of an entry that form the key."""

HELPER_GRACE_SECONDS = 5
"""Seconds from SIGTERM to SIGKILL for the pods of helpers, unless the user says otherwise. Kubernetes' default is 30.

Helpers end when the outcome of the job is certain, and have nothing to save. Servers of Paddle since 2.5 ignore SIGTERM
as the first process of a container, so each would take all the time there is.
"""

_PROTOCOL = "TCP"
_BY_THE_CLUSTER = ("creationTimestamp",)


def template(
    group: TrainingGroup, role: Role, variables: Environment, *, run: str, subdomain: str, restart: str
) -> Json:
    """Return the PodTemplateSpec of a role: the user's, with variables, mounts, labels and a subdomain for DNS names.

    `role.template` must come from `settled`. `variables` come from the framework. `run` is the hash of the run,
    `subdomain` the name of its Service, `restart` the restart policy.
    """
    spec = dict(role.template["spec"])
    first = dict(spec["containers"][role.container])
    spec["containers"] = [first if at == role.container else each for at, each in enumerate(spec["containers"])]
    if env := environment(first.get("env") or [], variables):
        first["env"] = env
    _mount(spec, first, group.mounts)
    if any(mount.near for mount in group.mounts):
        _place(spec, group, role, run)
    if role.host_network:
        _use_host_network(spec, first, role)
    if not role.decides:
        _end_soon(spec)
    spec["subdomain"] = subdomain
    spec["restartPolicy"] = restart
    return {"metadata": _metadata(role.template.get("metadata") or {}, group, role, run), "spec": spec}


def settled(template: Json) -> Json:
    """Return a copy of a user's pod template: no empty lists, floats as text, the last of one `merge_key`."""
    spec = _without_empty_lists(template["spec"])
    for container in containers(spec):
        _merge(container)
    rest = {key: quantities.without_fractions(value) for key, value in template.items() if key != "spec"}
    return {**rest, "spec": spec}


def _without_empty_lists(value: Any) -> Any:
    """Return a copy of `value` without empty lists, and with strings for floats (see `quantities.without_fractions`).

    Empty lists have no meaning in a pod. Kubernetes' API server drops them, so Git would differ from the cluster.
    """
    if isinstance(value, dict):
        given = {key: item for key, item in value.items() if item != []} if [] in value.values() else value
        return {key: item if isinstance(item, str) else _without_empty_lists(item) for key, item in given.items()}
    if isinstance(value, list):
        return [item if isinstance(item, str) else _without_empty_lists(item) for item in value]
    return quantities.without_fractions(value)


def containers(spec: Json) -> list[Json]:
    """Return all containers of the pod with this `spec`, init containers first; not copies."""
    return [container for field in CONTAINER_LISTS for container in spec.get(field) or ()]


def merge_key(field: str, entry: Json) -> tuple[Any, ...]:
    """Return the key that identifies an entry of the list `field`: `env`, `ports` or `volumeMounts`.

    It is a tuple of the values of the fields in `MERGE_KEYS`. A port without a protocol counts as TCP.
    """
    return tuple(entry.get(key, _PROTOCOL if key == "protocol" else None) for key in MERGE_KEYS[field])


def environment(own: Sequence[Json], ours: Environment) -> list[Json]:
    """Return the variables of a container: Stowplan's (`ours`) first, then the user's (`own`); no name occurs twice.

    The user's variables may so refer to Stowplan's by `$(NAME)`. Of two variables with one name, the user's replaces
    one of `ours.defaults`, and one of `ours.fixed` replaces the user's.
    """
    if not own:
        return [*ours.fixed, *ours.defaults]
    theirs = {variable["name"] for variable in own}
    fixed = {variable["name"] for variable in ours.fixed}
    defaults = [variable for variable in ours.defaults if variable["name"] not in theirs]
    return [*ours.fixed, *defaults, *(variable for variable in own if variable["name"] not in fixed)]


def _merge(container: Json) -> None:
    for field in MERGE_KEYS:
        if len(container.get(field) or ()) > 1:
            container[field] = list({merge_key(field, entry): entry for entry in container[field]}.values())


def _mount(spec: Json, first: Json, mounts: Sequence[DatasetMount]) -> None:
    if waits := [mount.wait for mount in mounts if mount.wait]:
        spec["initContainers"] = [*waits, *(spec.get("initContainers") or ())]
    for mount in mounts:
        claim = {"name": mount.volume, "persistentVolumeClaim": {"claimName": mount.claim}}
        # Several datasets may be in one claim.
        if claim not in (spec.get("volumes") or ()):
            spec["volumes"] = [*(spec.get("volumes") or ()), claim]
        place = {"subPath": mount.sub_path} if mount.sub_path else {}
        access = {"readOnly": True} if mount.read_only else {}
        own = {"mountPath": mount.path, "name": mount.volume, **access, **place}
        first["volumeMounts"] = [*(first.get("volumeMounts") or ()), own]


def _place(spec: Json, group: TrainingGroup, role: Role, run: str) -> None:
    """Add to `spec` affinity to the cache pods, and a constraint that spreads the role's pods over the cluster nodes.

    The user's own terms also apply.
    """
    affinity = dict(spec.get("affinity") or {})
    pod_affinity = dict(affinity.get("podAffinity") or {})
    for mount in group.mounts:
        for field, terms in mount.near.items():
            pod_affinity[field] = [*(pod_affinity.get(field) or ()), *terms]
    spec["affinity"] = {**affinity, "podAffinity": pod_affinity}
    if role.size > 1 or group.elastic:
        _spread(spec, spread(labels.role_selector(group.origin.spec, run, role.name)))


def _spread(spec: Json, constraint: Json) -> None:
    """Add a spread constraint, unless the user has one with the same topology key and the same strictness.

    Kubernetes refuses two such constraints.
    """
    own = spec.get("topologySpreadConstraints") or ()
    keys = ("topologyKey", "whenUnsatisfiable")
    if not any(all(each.get(key) == constraint[key] for key in keys) for each in own):
        spec["topologySpreadConstraints"] = [*own, constraint]


def _use_host_network(spec: Json, first: Json, role: Role) -> None:
    """Put the pod on the host network and declare its ports, so that the scheduler separates pods with the same ports.

    The DNS policy `ClusterFirst`, the default of Kubernetes, is replaced: on the host network it resolves no Service.
    """
    spec["hostNetwork"] = True
    if spec.get("dnsPolicy", "ClusterFirst") == "ClusterFirst":
        spec["dnsPolicy"] = "ClusterFirstWithHostNet"
    known = {merge_key("ports", port) for container in containers(spec) for port in container.get("ports") or ()}
    ports = [{"containerPort": port, "hostPort": port, "protocol": _PROTOCOL} for port in role.ports]
    if missing := [port for port in ports if merge_key("ports", port) not in known]:
        first["ports"] = [*(first.get("ports") or ()), *missing]


def _end_soon(spec: Json) -> None:
    """Shorten the grace period of a helper's pod, unless the user gives one or a container does work when it stops."""
    stops = any((container.get("lifecycle") or {}).get("preStop") for container in containers(spec))
    if not stops:
        spec.setdefault("terminationGracePeriodSeconds", HELPER_GRACE_SECONDS)


def _metadata(given: Json, group: TrainingGroup, role: Role, run: str) -> Json:
    spec = group.origin.spec
    own = given.get("labels") or {}
    metadata = {key: value for key, value in given.items() if key not in _BY_THE_CLUSTER}
    metadata["labels"] = {
        **labels.standard(spec, role.name),
        **({role.run_label: run} if role.run_label else {}),
        **own,
        **labels.role_selector(spec, run, role.name),
    }
    return metadata
