"""Pod templates of a TrainingJob, built from the fields of its roles."""

import math
from typing import Any

from stowplan.library.dialects.training_job.commands import IMAGE, MASTER_PORT, command, own_etcd
from stowplan.library.dialects.training_job.etcd import etcd, etcd_volume
from stowplan.library.dialects.training_job.topology import PORT, Shape, scheduler
from stowplan.library.frameworks.paddle_legacy import PaddleLegacy
from stowplan.library.manifest import Json
from stowplan.library.values import quantities
from stowplan.library.values.names import LABEL_LIMIT, shorten
from stowplan.schema.kinds.training_job import JobRole, TrainerRole, TrainingJob
from stowplan.schema.platform.platform import Platform

GPU = "nvidia.com/gpu"

_ROLE_LABELS = {"master": "paddle-job-master", "pserver": "paddle-job-pserver", "trainer": "paddle-job"}
_MASTER_RESOURCES = {
    "limits": {"cpu": "2", "memory": "1Gi"},
    "requests": {"cpu": "1", "memory": "500Mi"},
}


def framework(model: TrainingJob) -> PaddleLegacy:
    """Return the framework object, with the fields of the spec from which it makes the variables."""
    spec = model.spec
    trainer = spec.trainer or TrainerRole()
    resources = trainer.resources or {}
    limits = resources.get("limits") or {}
    requests = {**limits, **(resources.get("requests") or {})}
    gpus = quantities.amount(limits.get(GPU, 0)) or 0
    count = quantities.amount(requests.get(GPU if gpus else "cpu", 0)) or 0
    return PaddleLegacy(
        job=model.metadata.name,
        entrypoint=trainer.entrypoint or "",
        workspace=trainer.workspace or "",
        port=spec.port or PORT,
        dense_ports=spec.ports_num or 1,
        sparse_ports=spec.ports_num_for_sparse or 1,
        passes=spec.passes or 1,
        trainer_count=math.ceil(count),
        uses_gpu=gpus > 0,
        external_etcd=own.host if (own := own_etcd(model)) else None,
    )


def template(model: TrainingJob, role: str, layout: Shape, platform: Platform) -> Json:
    """Return the PodTemplateSpec of a role, as the old operator made it. Raises `ValueError` as `command` does."""
    pod = outline(model, role, layout, platform)
    words = command(model, role)
    optional: dict[str, Any] = {
        "command": words,
        "workingDir": _directory(getattr(model.spec, role) or JobRole()) if words else None,
        "ports": _ports(role, layout),
    }
    pod["spec"]["containers"][0] |= {key: value for key, value in optional.items() if value not in (None, [])}
    return pod


def outline(model: TrainingJob, role: str, layout: Shape, platform: Platform) -> Json:
    """Return the PodTemplateSpec of a role without its command and its ports.

    It can also be built if the spec has errors: an entrypoint that cannot be split, or a number of ports in millions.
    """
    spec = model.spec
    given: JobRole = getattr(spec, role) or JobRole()
    pod: Json = {"containers": [_container(model, role, given)]}
    if role == "master" and layout.own_etcd:
        pod["initContainers"] = [etcd(platform.paddle.etcd_image)]
    volumes = [*(spec.volumes or ()), *([etcd_volume()] if "initContainers" in pod else ())]
    optional = {
        "volumes": volumes,
        "schedulerName": scheduler(spec),
        "terminationGracePeriodSeconds": given.grace_period_seconds,
        "tolerations": given.tolerations,
        "nodeSelector": given.node_selector,
        "imagePullSecrets": given.image_pull_secrets,
    }
    pod |= {key: value for key, value in optional.items() if value not in (None, [], {})}
    return {"metadata": _metadata(model, role), "spec": pod}


def _container(model: TrainingJob, role: str, given: JobRole) -> Json:
    container: Json = {"name": role, "image": model.spec.image or IMAGE, "imagePullPolicy": "Always"}
    envs = given.envs or {}
    optional: dict[str, Any] = {
        "env": [{"name": name, "value": envs[name]} for name in sorted(envs)],
        "resources": given.resources or (_MASTER_RESOURCES if role == "master" else None),
        "volumeMounts": model.spec.volume_mounts,
        "livenessProbe": given.liveness_probe,
        "readinessProbe": given.readiness_probe,
        "lifecycle": {"preStop": {"exec": {"command": given.pre_stop_cmd}}} if given.pre_stop_cmd else None,
    }
    return container | {key: value for key, value in optional.items() if value not in (None, [], {})}


def _directory(role: JobRole) -> str | None:
    """Return the working directory of the entrypoint; None if it is not given or not absolute.

    Container runtimes refuse relative paths.
    """
    workspace = role.workspace if isinstance(role, TrainerRole) else None
    return workspace if workspace and workspace.startswith("/") else None


def _ports(role: str, layout: Shape) -> list[Json]:
    if role == "master":
        return [{"name": "master-port", "containerPort": MASTER_PORT, "protocol": "TCP"}]
    ports = layout.server_ports if role == "pserver" else layout.trainer_ports
    return [{"name": f"jobport-{port}", "containerPort": port, "protocol": "TCP"} for port in ports]


def _metadata(model: TrainingJob, role: str) -> Json:
    """Return the pod template's labels and annotations that the old launcher and schedulers read."""
    spec = model.spec
    priority = spec.annotations.priority if spec.annotations else None
    name = shorten(model.metadata.name, LABEL_LIMIT)
    labels = {_ROLE_LABELS[role]: name, **({"priority": priority} if priority else {})}
    notes = {
        "scheduling.k8s.io/group-name": spec.pod_group_name,
        "priority": priority if role == "trainer" else None,
    }
    annotations = {key: value for key, value in notes.items() if value}
    return {"labels": labels, **({"annotations": annotations} if annotations else {})}
