"""Pod templates of a TrainingJob, which has none of its own: made from the fields of its roles."""

import math
import shlex
from typing import Any
from urllib.parse import urlsplit

from stowplan.library import quantities
from stowplan.library.dialects.training_job_shape import PORT, Shape
from stowplan.library.frameworks.paddle_legacy import PaddleLegacy
from stowplan.library.manifest import Json
from stowplan.schema.platform import Platform
from stowplan.schema.training_job import MasterRole, ServerRole, TrainerRole, TrainingJob

IMAGE = "paddlepaddle/paddlecloud-job"
MASTER_PORT, ETCD_PORT, ETCD_PEER_PORT = 8080, 2379, 2380
ETCD = "etcd"
GPU = "nvidia.com/gpu"

_ROLE_LABELS = {"master": "paddle-job-master", "pserver": "paddle-job-pserver", "trainer": "paddle-job"}
_MASTER_COMMAND = ["paddle_k8s", "start_master"]
_MASTER_RESOURCES = {
    "limits": {"cpu": "2", "memory": "1Gi"},
    "requests": {"cpu": "1", "memory": "500Mi"},
}
_ETCD_RESOURCES = {
    "limits": {"cpu": "1", "memory": "1Gi"},
    "requests": {"cpu": "100m", "memory": "128Mi"},
}
_ETCD_USER = 65532
_ETCD_DATA = "/var/lib/etcd"


def framework(model: TrainingJob) -> PaddleLegacy:
    """What the variables are made from."""
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
        port=spec.port if spec.port is not None else PORT,
        dense_ports=1 if spec.ports_num is None else spec.ports_num,
        sparse_ports=1 if spec.ports_num_for_sparse is None else spec.ports_num_for_sparse,
        passes=1 if spec.passes is None else spec.passes,
        trainer_count=math.ceil(count),
        uses_gpu=gpus > 0,
        external_etcd=_host(spec.master.etcd_endpoint) if spec.master and spec.master.etcd_endpoint else None,
    )


def template(model: TrainingJob, role: str, layout: Shape, platform: Platform) -> Json:
    """The PodTemplateSpec of a role: what the old operator made, each role with its own values."""
    spec = model.spec
    given: MasterRole = getattr(spec, role) or MasterRole()
    wishes = spec.annotations
    pod: Json = {"containers": [_container(model, role, given, layout)]}
    if role == "master" and layout.own_etcd:
        pod["initContainers"] = [_etcd(platform.paddle.etcd_image)]
    volumes = [*(spec.volumes or ()), *([_etcd_volume()] if "initContainers" in pod else ())]
    scheduler = (wishes.scheduler if wishes else None) or spec.scheduler_name
    optional = {
        "volumes": volumes,
        "schedulerName": scheduler,
        "terminationGracePeriodSeconds": given.grace_period_seconds,
        "tolerations": given.tolerations,
        "nodeSelector": given.node_selector,
        "imagePullSecrets": given.image_pull_secrets,
    }
    pod |= {key: value for key, value in optional.items() if value not in (None, [], {})}
    return {"metadata": _metadata(model, role), "spec": pod}


def command(role: MasterRole) -> list[str] | None:
    """The entrypoint, split as a shell does; None without one. Raises ValueError where a quote is not closed."""
    entrypoint = role.entrypoint if isinstance(role, ServerRole) else None
    return shlex.split(entrypoint) if entrypoint else None


def _container(model: TrainingJob, role: str, given: MasterRole, layout: Shape) -> Json:
    container: Json = {"name": role, "image": model.spec.image or IMAGE, "imagePullPolicy": "Always"}
    words = _MASTER_COMMAND if role == "master" else command(given)
    envs = given.envs or {}
    optional: dict[str, Any] = {
        "command": words,
        "workingDir": given.workspace if isinstance(given, TrainerRole) and words else None,
        "env": [{"name": name, "value": envs[name]} for name in sorted(envs)],
        "ports": _ports(role, layout),
        "resources": given.resources or (_MASTER_RESOURCES if role == "master" else None),
        "volumeMounts": model.spec.volume_mounts,
        "livenessProbe": given.liveness_probe,
        "readinessProbe": given.readiness_probe,
        "lifecycle": {"preStop": {"exec": {"command": given.pre_stop_cmd}}} if given.pre_stop_cmd else None,
    }
    return container | {key: value for key, value in optional.items() if value not in (None, [], {})}


def _ports(role: str, layout: Shape) -> list[Json]:
    if role == "master":
        return [{"name": "master-port", "containerPort": MASTER_PORT, "protocol": "TCP"}]
    ports = layout.server_ports if role == "pserver" else layout.trainer_ports
    return [{"name": f"jobport-{port}", "containerPort": port, "protocol": "TCP"} for port in ports]


def _metadata(model: TrainingJob, role: str) -> Json:
    """Labels and annotations that the old launcher and schedulers looked for."""
    spec = model.spec
    priority = spec.annotations.priority if spec.annotations else None
    labels = {_ROLE_LABELS[role]: model.metadata.name, **({"priority": priority} if priority else {})}
    notes = {
        "scheduling.k8s.io/group-name": spec.pod_group_name,
        "priority": priority if role == "trainer" else None,
    }
    annotations = {key: value for key, value in notes.items() if value}
    return {"labels": labels, **({"annotations": annotations} if annotations else {})}


def _etcd(image: str) -> Json:
    """One member without a past: its state ends with the job. It is ready before the master starts."""
    client, peer = f"http://0.0.0.0:{ETCD_PORT}", f"http://127.0.0.1:{ETCD_PEER_PORT}"
    return {
        "name": ETCD,
        "image": image,
        "restartPolicy": "Always",
        "command": ["etcd"],
        "args": [
            f"--advertise-client-urls=http://$(POD_IP):{ETCD_PORT}",
            f"--data-dir={_ETCD_DATA}/data",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=etcd0={peer}",
            "--initial-cluster-state=new",
            f"--listen-client-urls={client}",
            f"--listen-peer-urls={peer}",
            "--name=etcd0",
        ],
        "env": [{"name": "POD_IP", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "status.podIP"}}}],
        "ports": [{"name": "etcd-port", "containerPort": ETCD_PORT, "protocol": "TCP"}],
        "resources": _ETCD_RESOURCES,
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
            "runAsGroup": _ETCD_USER,
            "runAsNonRoot": True,
            "runAsUser": _ETCD_USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "startupProbe": {"failureThreshold": 60, "periodSeconds": 1, "tcpSocket": {"port": ETCD_PORT}},
        "volumeMounts": [{"mountPath": _ETCD_DATA, "name": ETCD}],
    }


def _etcd_volume() -> Json:
    return {"name": ETCD, "emptyDir": {"sizeLimit": "2Gi"}}


def _host(endpoint: str) -> str:
    """The host in an endpoint, with or without a scheme and a port."""
    return urlsplit(endpoint if "//" in endpoint else f"//{endpoint}").hostname or endpoint
