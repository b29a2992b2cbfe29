"""Job or CronJob of a transfer, and its agent's configuration."""

from collections.abc import Iterator, Mapping
from decimal import ROUND_FLOOR
from typing import Any

from stowplan.library.builders import job
from stowplan.library.builders.config_map import config_map
from stowplan.library.builders.metadata import Head
from stowplan.library.builders.pods import agent_pod, order_container, secret_files
from stowplan.library.ir.data import Site, Transfer
from stowplan.library.manifest import Json, Manifest
from stowplan.library.values.quantities import amount
from stowplan.schema.agents.transfer_config import (
    CA_DIRECTORY,
    CLAIM_DIRECTORY,
    SECRETS_DIRECTORY,
    SOURCE_DIRECTORY,
    PvcEndpoint,
)
from stowplan.schema.remotes.remote import RemoteEndpoint

MODULE = "stowplan.agents.transfer"

KEEP_NODE = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}
"""Annotation of the pod: the autoscaler must not evict a long copy to remove a cluster node."""

ONE_AT_A_TIME: Json = {"podReplacementPolicy": "Failed"}
"""Field of a Job: a retry waits for the end of the last pod, since two pods must never write to the same files."""

WRITES: Json = {"fsGroup": agent_pod.AGENT_USER, "fsGroupChangePolicy": "OnRootMismatch"}
"""Fields of a pod's `securityContext` that let an agent without root write into the claim that the pod mounts.

Kubernetes changes the group of the claim's files only if needed.
"""

_MEBIBYTE = 1 << 20


def configuration(transfer: Transfer) -> Manifest:
    """Return the ConfigMap with the configuration of the transfer's agent.

    Without a schedule, the ConfigMap belongs to a run.
    """
    head, run = Head(transfer.origin, transfer.component), transfer.schedule is None
    return config_map(transfer.configuration_stem, head, transfer.config, run=run)


def manifests(transfer: Transfer, site: Site, marker: str) -> list[Manifest]:
    """Return the ConfigMap of a transfer, and its Job, or its CronJob if it has a schedule.

    `marker` is the value of the annotation `stowplan.dev/run`, which users change to run a task again; empty for none.
    """
    config = configuration(transfer)
    one = task(transfer, site, config.name)
    if transfer.schedule is None:
        return [config, *job.jobs([one], transfer.origin, marker)]
    return [config, job.cron_job(one, transfer.origin, schedule=transfer.schedule, time_zone=transfer.time_zone)]


def task(transfer: Transfer, site: Site, config: str) -> job.Task:
    """Return the transfer's Job before it has its name. `config` is the name of the ConfigMap."""
    spec = job.job_spec(
        agent_pod.template(_pod(transfer, site, config), transfer.origin, site),
        container=transfer.component,
        deadline_seconds=transfer.total_seconds,
        suspend=transfer.suspend,
        backoff_limit=transfer.backoff_limit,
    )
    namespace = transfer.origin.spec.namespace
    return job.Task(transfer.stem, transfer.component, namespace, {**spec, **ONE_AT_A_TIME})


def memory(limits: Mapping[str, Any]) -> int:
    """Return the memory limit of a container in MiB, rounded down; 0 for an invalid quantity.

    `limits` are the container's limits as quantities, by resource name. Without `memory` it raises `KeyError`.
    """
    limit = amount(limits["memory"])
    return int((limit / _MEBIBYTE).to_integral_value(ROUND_FLOOR)) if limit else 0


def _pod(transfer: Transfer, site: Site, config: str) -> agent_pod.AgentPod:
    sides = (transfer.config.source, transfer.config.sink)
    confidential = {name for side in sides if isinstance(side, RemoteEndpoint) for name in side.confidential}
    values = secret_files.split(transfer.env, confidential)
    return agent_pod.AgentPod(
        component=transfer.component,
        agent=transfer.agent,
        module=MODULE,
        args=(),
        config_map=config,
        service_account=transfer.account,
        resources=transfer.resources,
        mount=agent_pod.Mount(transfer.claim, CLAIM_DIRECTORY, transfer.read_only),
        env=(agent_pod.run_env(), *values.variables),
        placement=transfer.placement,
        annotations=KEEP_NODE,
        files=tuple(_files(transfer, values.source)),
        security={**_group(transfer), **transfer.security},
        deadline_seconds=transfer.attempt_seconds,
        scratch_size=agent_pod.GIT_SCRATCH if transfer.agent == "git" else agent_pod.SCRATCH_SIZE,
        init=order_container.containers(transfer.run_after, site),
    )


def _files(transfer: Transfer, secrets: Json | None) -> Iterator[agent_pod.FileMount]:
    """Yield the volumes that the agent only reads: secret values, certificates, and the claim of a source."""
    if secrets:
        yield agent_pod.FileMount("secrets", secrets, SECRETS_DIRECTORY)
    if transfer.certificates:
        yield agent_pod.FileMount("ca", transfer.certificates, CA_DIRECTORY)
    if transfer.source_claim:
        claim = {"persistentVolumeClaim": {"claimName": transfer.source_claim, "readOnly": True}}
        yield agent_pod.FileMount("source", claim, SOURCE_DIRECTORY)


def _group(transfer: Transfer) -> Json:
    """Return the fields of the pod's security context about the group of the claim's files; empty for a source.

    In a source, files retain their groups. Users may choose a user that can read them.
    """
    return WRITES if isinstance(transfer.config.sink, PvcEndpoint) else {}
