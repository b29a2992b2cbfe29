"""Sidecar of a training pod that holds the lineage of the job's checkpoints, and delays the trainer until it has it.

It reads and writes files in the claim of the checkpoints, so it needs neither a token nor RBAC rights. Kubernetes
starts the containers after a sidecar only once its startup probe succeeds, and ends a sidecar after the others.
"""

from collections.abc import Mapping

from stowplan.library.builders.pods import agent_pod
from stowplan.library.ir.data import Site
from stowplan.library.ir.training import DatasetMount
from stowplan.library.manifest import Json
from stowplan.library.values import labels
from stowplan.schema.agents.lineage import LineageConfig
from stowplan.schema.agents.lineage_state import RANK_ENV

CONTAINER = "hold-lineage"
PATH = "/checkpoints"
"""Where the sidecar mounts the claim of the checkpoints."""

_COMMAND = ("python", "-m", "stowplan.agents.hold_lineage")
_PROBE_COMMAND = ("python", "-m", "stowplan.agents.hold_lineage.probe")
_PROBE: Json = {"failureThreshold": 17280, "periodSeconds": 5, "timeoutSeconds": 30}
"""The probe fails while another run has the lineage. Kubernetes would start the sidecar again after a day."""


def with_lineage(
    template: Json, trainer: Json, config: LineageConfig, mounts: Mapping[str, DatasetMount], site: Site
) -> Json:
    """Return a copy of a pod template with the sidecar as its first init container.

    `trainer` is the container of the template that trains: the sidecar has the user of its processes, if the template
    names one, since the two write into one claim. `mounts` are those of the trainer, by their paths in the sidecar: the
    claim of the checkpoints at `PATH`, and the datasets, which the sidecar only reads.
    """
    spec = template["spec"]
    sidecar = _container(config, mounts, _security(spec, trainer), site)
    return {**template, "spec": {**spec, "initContainers": [sidecar, *(spec.get("initContainers") or ())]}}


def is_ours(container: Json) -> bool:
    """Return whether `container` is the sidecar that `with_lineage` adds, not a user's container of the same name."""
    return container.get("name") == CONTAINER and container.get("command") == list(_COMMAND)


def _container(config: LineageConfig, mounts: Mapping[str, DatasetMount], security: Json, site: Site) -> Json:
    rank = agent_pod.field_env(RANK_ENV, f"metadata.annotations['{labels.JOB_INDEX}']")
    return agent_pod.control(
        CONTAINER,
        _COMMAND,
        site,
        args=config.arguments(),
        env=[*agent_pod.OF_RUN, rank],
        restartPolicy="Always",
        securityContext=security,
        startupProbe={"exec": {"command": [*_PROBE_COMMAND, config.path, config.lineage, config.job]}, **_PROBE},
        volumeMounts=[_mount(path, mount) for path, mount in sorted(mounts.items())],
    )


def _mount(path: str, mount: DatasetMount) -> Json:
    place = {"subPath": mount.sub_path} if mount.sub_path else {}
    return {"mountPath": path, "name": mount.volume, **place, **({} if path == PATH else {"readOnly": True})}


def _security(spec: Json, trainer: Json) -> Json:
    """Return the security context of the sidecar: that of all agents, with the user of the trainer if it is known.

    A trainer that need not be another user than root is taken for root.
    """
    own: Json = {**(spec.get("securityContext") or {}), **(trainer.get("securityContext") or {})}
    user = own.get("runAsUser", agent_pod.ROOT if own.get("runAsNonRoot") is False else None)
    if user is None:
        return agent_pod.restricted_container()
    group = {"runAsGroup": own["runAsGroup"]} if own.get("runAsGroup") is not None else {"runAsGroup": user}
    return {**agent_pod.restricted_container(), "runAsNonRoot": user != agent_pod.ROOT, "runAsUser": user, **group}
