"""The pod template of a Training: from the fields of the spec and the profiles, with the user's own merged over it."""

from typing import Any

from stowplan.library.dialects.training import profiles, security
from stowplan.library.manifest import Json
from stowplan.library.values import strategic_merge
from stowplan.schema.kinds.native.training import TRAINER, Training
from stowplan.schema.platform.platform import Platform
from stowplan.schema.platform.profiles import ProfileVariable

TEMPLATE = "io.k8s.api.core.v1.PodTemplateSpec"

SHM = "shm"
SHM_PATH = "/dev/shm"  # noqa: S108 - a directory in the pod, on an emptyDir of its own


def template(model: Training, platform: Platform) -> Json:
    """Return the pod template of a Training. It lacks its trainer only if the user's template takes that out.

    What neither the fields nor the template say is filled in as Pod Security `restricted` asks, if the platform does.
    """
    merged = strategic_merge.merge(_own(model, platform), model.spec.template or {}, TEMPLATE)
    return security.filled(merged) if platform.policy.fill_security_context else merged


def trainer_index(template: Json) -> int | None:
    """Return the index of the container that trains; None if the template has no such container."""
    names = [container.get("name") for container in template["spec"].get("containers") or ()]
    return names.index(TRAINER) if TRAINER in names else None


def _own(model: Training, platform: Platform) -> Json:
    """Return the template that the fields of the spec and its profiles give."""
    device, network = profiles.accelerator(model, platform), profiles.network(model, platform)
    shm, grace = shm_size(model, platform), model.spec.restart and model.spec.restart.grace_seconds
    fields: dict[str, Any] = {
        "hostNetwork": network.host_network,
        "nodeSelector": dict(device.node_selector),
        "tolerations": list(device.tolerations),
        "volumes": [{"name": SHM, "emptyDir": {"medium": "Memory", "sizeLimit": shm}}] if shm else [],
    }
    spec = {
        "automountServiceAccountToken": False,
        "containers": [_trainer(model, platform)],
        **{key: value for key, value in fields.items() if value},
        **({"terminationGracePeriodSeconds": grace} if grace is not None else {}),
    }
    return {"metadata": {"annotations": dict(network.annotations)} if network.annotations else {}, "spec": spec}


def _trainer(model: Training, platform: Platform) -> Json:
    spec, network = model.spec, profiles.network(model, platform)
    device = profiles.accelerator(model, platform)
    container: dict[str, Any] = {
        "name": TRAINER,
        "image": spec.image,
        "command": spec.command,
        "args": spec.args,
        "env": _env([*device.env, *network.env], spec.env or []),
        "envFrom": spec.env_from,
        "resources": _resources(spec.resources_per_node or {}, {**device.resources, **network.resources}),
        "securityContext": {"capabilities": {"add": list(network.capabilities)}} if network.capabilities else None,
        "volumeMounts": [{"name": SHM, "mountPath": SHM_PATH}] if shm_size(model, platform) else None,
        "workingDir": spec.code.mount_path if spec.code else None,
    }
    return {key: value for key, value in container.items() if value}


def shm_size(model: Training, platform: Platform) -> str | None:
    """Return the size of `/dev/shm`: the user's own, else that of the network's profile; None for the runtime's own."""
    return model.spec.shm_size or profiles.network(model, platform).shm_size


def _env(given: list[ProfileVariable], own: list[Json]) -> list[Json]:
    """Return the variables of profiles, and then the user's, which replace those of the same name."""
    ours = {each.name: {"name": each.name, "value": each.value} for each in given}
    theirs = {str(each.get("name")): each for each in own}
    return [*(each for name, each in ours.items() if name not in theirs), *theirs.values()]


def _resources(own: Json, limits: dict[str, str]) -> Json:
    """Return the user's resources with the limits of profiles for those that the user leaves out."""
    both = {**limits, **(own.get("limits") or {})}
    return {**own, "limits": both} if both else own
