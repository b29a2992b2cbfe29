"""The pods of a Training: from the fields of the spec and the profiles, with the user's own template merged over them.

What neither the fields nor the template say is filled in as Pod Security `restricted` asks, if the platform does.
"""

from typing import Any, NamedTuple

from stowplan.library.builders.pods.training_pod import CONTAINER_LISTS, containers
from stowplan.library.dialects.training import processes
from stowplan.library.dialects.training.job import Job
from stowplan.library.frameworks.api import Launch
from stowplan.library.manifest import Json
from stowplan.library.values import strategic_merge
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, finding
from stowplan.schema.kinds.native.training import TRAINER, Training
from stowplan.schema.platform.profiles import ProfileVariable

TEMPLATE = "io.k8s.api.core.v1.PodTemplateSpec"

SHM = "shm"
SHM_PATH = "/dev/shm"  # noqa: S108 - a directory in the pod, on an emptyDir of its own

_NEEDS_ESCALATION = ("SYS_ADMIN", "CAP_SYS_ADMIN", "ALL")
"""Capabilities with which Kubernetes refuses `allowPrivilegeEscalation: false` (`ValidateSecurityContext`)."""


class TrainingPod(NamedTuple):
    """The compiled pods of a Training, without datasets, checkpoints and code.

    `template` is their PodTemplateSpec, and `container` the index of its container that trains. `launch` is how that
    container starts its processes.
    """

    template: Json
    container: int
    launch: Launch

    @property
    def spec(self) -> Json:
        """The spec of the pods."""
        spec: Json = self.template["spec"]
        return spec

    @property
    def trainer(self) -> Json:
        """The container that trains, with the variables of the spec, its template and its profiles."""
        trainer: Json = self.spec["containers"][self.container]
        return trainer


def compiled(job: Job) -> tuple[TrainingPod | None, list[Finding]]:
    """Return the pods of a job, and findings; None if the user's template cannot be merged or takes out the trainer."""
    try:
        template = strategic_merge.merge(_own(job), job.spec.template or {}, TEMPLATE)
    except strategic_merge.PatchError as problem:
        path = ("spec", "template", *problem.path)
        return None, [finding("SP488", path, str(problem), "Correct it, or remove it from the template.")]
    names = [container.get("name") for container in template["spec"].get("containers") or ()]
    if TRAINER not in names:
        return None, [_no_trainer(job.model)]
    if job.platform.policy.fill_security_context:
        template = _secured(template)
    index = names.index(TRAINER)
    count = processes.count(job.spec.num_proc_per_node, template["spec"]["containers"][index])
    return TrainingPod(template, index, Launch(job.spec.num_nodes, count, job.bounds)), []


def _no_trainer(model: Training) -> Finding:
    message = f"The template takes out the container {TRAINER}, which trains."
    hint = f"Change fields of {TRAINER} instead, and add other containers under names of their own."
    own = ((model.spec.template or {}).get("spec") or {}).get("containers")
    path: FieldPath = ("spec", "template", *(("spec", "containers") if own else ()))
    return finding("SP488", path, message, hint, anchor=Anchor.KEY)


def _own(job: Job) -> Json:
    """Return the template that the fields of the spec and its profiles give."""
    network, shm, grace = job.network, job.shm_size, job.spec.restart and job.spec.restart.grace_seconds
    fields: dict[str, Any] = {
        "hostNetwork": network.host_network,
        "nodeSelector": dict(job.device.node_selector),
        "tolerations": list(job.device.tolerations),
        "volumes": [{"name": SHM, "emptyDir": {"medium": "Memory", "sizeLimit": shm}}] if shm else [],
    }
    spec = {
        "automountServiceAccountToken": False,
        "containers": [_trainer(job)],
        **{key: value for key, value in fields.items() if value},
        **({"terminationGracePeriodSeconds": grace} if grace is not None else {}),
    }
    return {"metadata": {"annotations": dict(network.annotations)} if network.annotations else {}, "spec": spec}


def _trainer(job: Job) -> Json:
    spec, device, network = job.spec, job.device, job.network
    container: dict[str, Any] = {
        "name": TRAINER,
        "image": spec.image,
        "command": spec.command,
        "args": spec.args,
        "env": _env([*device.env, *network.env], spec.env or []),
        "envFrom": spec.env_from,
        "resources": _resources(spec.resources_per_node or {}, {**device.resources, **network.resources}),
        "securityContext": {"capabilities": {"add": list(network.capabilities)}} if network.capabilities else None,
        "volumeMounts": [{"name": SHM, "mountPath": SHM_PATH}] if job.shm_size else None,
        "workingDir": spec.code.mount_path if spec.code else None,
    }
    return {key: value for key, value in container.items() if value}


def _env(given: list[ProfileVariable], own: list[Json]) -> list[Json]:
    """Return the variables of profiles, and then the user's, which replace those of the same name."""
    ours = {each.name: {"name": each.name, "value": each.value} for each in given}
    theirs = {str(each.get("name")): each for each in own}
    return [*(each for name, each in ours.items() if name not in theirs), *theirs.values()]


def _resources(own: Json, limits: dict[str, str]) -> Json:
    """Return the user's resources with the limits of profiles for those that the user leaves out."""
    both = {**limits, **(own.get("limits") or {})}
    return {**own, "limits": both} if both else own


def _secured(template: Json) -> Json:
    """Return a copy of a pod template with the fields of security contexts that are not given.

    A field that contradicts one that is given stays away: a container that asks for user 0 or for privileges gets them,
    and the checks of Pod Security say what the platform must allow for it.
    """
    spec = dict(template["spec"])
    for field in CONTAINER_LISTS:
        if spec.get(field):
            spec[field] = [_secured_container(each) for each in spec[field]]
    own: Json = spec.get("securityContext") or {}
    given: dict[str, Any] = {"seccompProfile": {"type": "RuntimeDefault"}}
    contexts = [own, *(each.get("securityContext") or {} for each in containers(spec))]
    if all(context.get("runAsUser") != 0 for context in contexts):
        given["runAsNonRoot"] = True
    spec["securityContext"] = {**given, **own}
    return {**template, "spec": spec}


def _secured_container(container: Json) -> Json:
    own: Json = container.get("securityContext") or {}
    capabilities: Json = own.get("capabilities") or {}
    needs = own.get("privileged") or any(name in _NEEDS_ESCALATION for name in capabilities.get("add") or ())
    given = {} if needs else {"allowPrivilegeEscalation": False}
    context = {**given, **own, "capabilities": {"drop": ["ALL"], **capabilities}}
    return {**container, "securityContext": context}
