"""Pod templates of the agents. All satisfy Pod Security `restricted` (Kubernetes 1.35 and later)."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from stowplan.library.ir.data import Origin, Placement, SecretName, Site
from stowplan.library.manifest import Json
from stowplan.library.values import labels
from stowplan.schema.agents.agent_config import CONFIG_DIRECTORY, NODE_ENV, POD_ENV, RUN_ENV
from stowplan.schema.platform.settings import Resources

Agent = Literal["cache", "control", "git", "transfer"]

PARTITION, PARTITIONS = "--partition", "--partitions"
"""Arguments of a task on one cache node: the node's number, and how many nodes there were when it was added."""

_LOCAL = "local"
"""What images have in place of a registry if the platform file names none."""
_NAME = "stowplan-"
"""Beginning of the names of all agent images."""

AGENT_USER = 65532
ROOT = 0
SCRATCH = "/tmp"  # noqa: S108 - a directory in the pod, on an emptyDir of its own
SCRATCH_VOLUME = "scratch"
SCRATCH_SIZE, GIT_SCRATCH = "1Gi", "4Gi"
"""Most scratch space of an agent; that of one with Git holds three indexes, of up to ten million files each."""


def image(site: Site, agent: Agent) -> str:
    """Return the image reference of an agent: with the digest if the platform file gives one, else with the tag.

    Without a registry in the platform file the image has the prefix `local/`, which no registry serves: users build it
    and load it into the cluster nodes by hand.
    """
    images = site.platform.images
    digest = getattr(images.digests, agent)
    name = image_name(images.registry or _LOCAL, agent)
    return f"{name}@{digest}" if digest else f"{name}:{images.tag or site.version}"


def image_name(registry: str, agent: str) -> str:
    """Return the name of the image of `agent`, such as `git`, in a registry: without tag and digest."""
    return f"{registry}/{_NAME}{agent}"


def is_local(image: str) -> bool:
    """Return whether an image reference is one that `image` returns without a registry."""
    return image.startswith(f"{_LOCAL}/{_NAME}")


def amounts(resources: Resources) -> Json:
    """Return CPU and memory, requests and limits, as the field `resources` of a container."""
    requests, limits = resources.requests, resources.limits
    return {
        "requests": {"cpu": requests.cpu, "memory": requests.memory},
        "limits": {"cpu": limits.cpu, "memory": limits.memory},
    }


NOWHERE_SPECIAL = Placement()


class Mount(NamedTuple):
    """Claim that an agent's container mounts: the claim's name, and the mount path."""

    claim: str
    path: str
    read_only: bool = False


class FileMount(NamedTuple):
    """Volume that is mounted read-only: its name, its source as in a pod's `volumes`, and its mount path."""

    name: str
    source: Json
    path: str


_NONE: Mapping[str, Any] = {}


class AgentPod(NamedTuple):
    """Values that differ between the pods of the agents.

    `component` is the name of the container and the value of a label, `agent` the image. `module` is the Python module
    that the container runs, and `args` are its arguments. `probes` are commands by the name of the container's field,
    such as `livenessProbe`; they run every 30 seconds. `user` is the id of both user and group. `config_map` and
    `service_account` are names of objects in the pod's namespace. `env` comes after the variables of all agents. The
    affinities are whole fields of a pod, as `affinity.required` returns them. `scratch_size` is the most that `/tmp`
    may hold, as a quantity. `extra_labels` and `annotations` are the pod's.
    """

    component: str
    agent: Agent
    module: str
    args: tuple[str, ...]
    config_map: str
    service_account: str
    resources: Resources | Json
    user: int = AGENT_USER
    mount: Mount | None = None
    env: tuple[Json, ...] = ()
    placement: Placement = NOWHERE_SPECIAL
    pod_affinity: Json | None = None
    pod_anti_affinity: Json | None = None
    probes: Mapping[str, Sequence[str]] = _NONE
    restart_policy: Literal["Always", "Never", "OnFailure"] = "Never"
    scratch_size: str = SCRATCH_SIZE
    extra_labels: Mapping[str, str] = _NONE
    annotations: Mapping[str, str] = _NONE
    files: tuple[FileMount, ...] = ()
    security: Mapping[str, Any] = _NONE
    """Fields of the pod's `securityContext` that extend or replace those for user and groups."""
    deadline_seconds: int | None = None
    """Deadline of one pod in seconds; a Job's own deadline covers all its pods together."""
    init: tuple[Json, ...] = ()
    """Containers that must end before that of the agent starts."""


def template(pod: AgentPod, origin: Origin, site: Site) -> Json:
    """Return the pod template of an agent that works for the spec of `origin`, with the standard labels of the spec."""
    return with_labels(pod, labels.standard(origin.spec, pod.component), site)


def with_labels(pod: AgentPod, given: Mapping[str, str], site: Site) -> Json:
    """Return the pod template of any agent, with the labels `given`, which the extra labels of `pod` may replace."""
    spec: Json = {
        "automountServiceAccountToken": True,
        "containers": [_container(pod, site)],
        "enableServiceLinks": False,
        "restartPolicy": pod.restart_policy,
        "securityContext": {**_pod_security(pod.user), **pod.security},
        "serviceAccountName": pod.service_account,
        "terminationGracePeriodSeconds": 30,
        "volumes": _volumes(pod),
    }
    if pod.init:
        spec["initContainers"] = list(pod.init)
    if affinity := _affinity(pod):
        spec["affinity"] = affinity
    if pod.placement.tolerations:
        spec["tolerations"] = list(pod.placement.tolerations)
    if pod.placement.node_selector:
        spec["nodeSelector"] = dict(pod.placement.node_selector)
    if pod.deadline_seconds:
        spec["activeDeadlineSeconds"] = pod.deadline_seconds
    metadata: Json = {"labels": {**given, **pod.extra_labels}}
    if pod.annotations:
        metadata["annotations"] = dict(pod.annotations)
    return {"metadata": metadata, "spec": spec}


def run_env() -> Json:
    """Return the environment variable that tells an agent its run: the name of the agent's Job.

    Kubernetes takes the name from a label of the pod that the Job controller sets.
    """
    return field_env(RUN_ENV, f"metadata.labels['{labels.JOB_NAME}']")


def secret_env(secret: SecretName, variables: Mapping[str, str], *, optional: Sequence[str]) -> tuple[Json, ...]:
    """Return environment variables from a Secret. `variables` has the name of each variable by the key in the Secret.

    The keys in `optional` may be missing; the pod then starts without these variables. It must be in the Secret's
    namespace, which the variables do not name.
    """
    return tuple(
        {"name": variable, "valueFrom": {"secretKeyRef": _key(secret, key, optional=key in optional)}}
        for key, variable in variables.items()
    )


def _key(secret: SecretName, key: str, *, optional: bool) -> Json:
    reference: Json = {"name": secret.name, "key": key}
    return {**reference, "optional": True} if optional else reference


def _container(pod: AgentPod, site: Site) -> Json:
    mounts = [*_MOUNTS]
    if pod.mount:
        # HostToContainer: the pod sees a mount that the CSI driver recovers.
        mount: Json = {"name": "dataset", "mountPath": pod.mount.path, "mountPropagation": "HostToContainer"}
        mounts.append({**mount, "readOnly": True} if pod.mount.read_only else mount)
    mounts += [{"name": each.name, "mountPath": each.path, "readOnly": True} for each in pod.files]
    container: Json = {
        "name": pod.component,
        "image": image(site, pod.agent),
        "command": ["python", "-m", pod.module],
        "env": [*_OWN_ENV, *pod.env],
        "resources": amounts(pod.resources) if isinstance(pod.resources, Resources) else pod.resources,
        "securityContext": _CONTAINER_SECURITY,
        "volumeMounts": mounts,
    }
    if pod.args:
        container["args"] = list(pod.args)
    for name, command in pod.probes.items():
        container[name] = {"exec": {"command": list(command)}, "periodSeconds": 30, "timeoutSeconds": 10}
    return container


def field_env(name: str, path: str) -> Json:
    """Return an environment variable whose value is the pod's field at `path`, such as `metadata.name`."""
    return {"name": name, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": path}}}


_OWN_ENV: tuple[Json, ...] = (
    {"name": "HOME", "value": SCRATCH},
    field_env(NODE_ENV, "spec.nodeName"),
    field_env(POD_ENV, "metadata.name"),
)
OF_RUN: tuple[Json, ...] = (
    field_env(POD_ENV, "metadata.name"),
    field_env(RUN_ENV, f"metadata.labels['{labels.RUN_HASH}']"),
)
"""Variables of a container in a training pod: the name of the pod, and the hash of its run."""
_MOUNTS: tuple[Json, ...] = (
    {"name": "config", "mountPath": CONFIG_DIRECTORY, "readOnly": True},
    {"name": SCRATCH_VOLUME, "mountPath": SCRATCH},
)
_CONTAINER_SECURITY: Json = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "readOnlyRootFilesystem": True,
}
"""All pods share this dictionary, since the body of a manifest is never changed."""


def control(name: str, command: Sequence[str], site: Site, **fields: Any) -> Json:
    """Return a container with the image and the resources `control`, for a pod with containers of a user or an agent.

    `command` is its whole command. `fields` are more fields by their names in Kubernetes, such as `args` or
    `volumeMounts`; they take the place of those that are set here, such as the security context.
    """
    return {
        "name": name,
        "image": image(site, "control"),
        "command": list(command),
        "resources": amounts(site.platform.resources.control),
        "securityContext": restricted_container(),
        **fields,
    }


def restricted_container() -> Json:
    """Return the security context of a container that Stowplan adds to a user's pod.

    It satisfies Pod Security `restricted` whatever the pod's own security context is.
    """
    return {**_CONTAINER_SECURITY, **_pod_security(AGENT_USER)}


def _pod_security(user: int) -> Json:
    return {
        "runAsGroup": user,
        "runAsNonRoot": user != ROOT,
        "runAsUser": user,
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def _volumes(pod: AgentPod) -> list[Json]:
    volumes: list[Json] = [
        {"name": "config", "configMap": {"name": pod.config_map}},
        {"name": SCRATCH_VOLUME, "emptyDir": {"sizeLimit": pod.scratch_size}},
    ]
    if pod.mount:
        claim: Json = {"claimName": pod.mount.claim}
        source = {**claim, "readOnly": True} if pod.mount.read_only else claim
        volumes.append({"name": "dataset", "persistentVolumeClaim": source})
    return [*volumes, *({"name": each.name, **each.source} for each in pod.files)]


def _affinity(pod: AgentPod) -> Json:
    parts: dict[str, Any] = {
        "nodeAffinity": pod.placement.node_affinity,
        "podAffinity": pod.pod_affinity,
        "podAntiAffinity": pod.pod_anti_affinity,
    }
    return {name: value for name, value in parts.items() if value}
