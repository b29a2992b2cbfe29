"""The Job, or CronJob, of a transfer, and what its agent reads."""

from stowplan.library.builders import job, pod
from stowplan.library.builders.config_map import config_map
from stowplan.library.ir import Site, Transfer
from stowplan.library.manifest import Json, Manifest
from stowplan.library.names import DataCubeNames
from stowplan.schema.transfer_config import CA_DIRECTORY, CLAIM_DIRECTORY

COMPONENT = "transfer"
MODULE = "stowplan.agents.transfer"

_KEEP_NODE = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}
"""A long copy is not moved to save a node."""


def configuration(transfer: Transfer) -> Manifest:
    """The ConfigMap that the agent reads."""
    spec = transfer.origin.spec
    return config_map(
        DataCubeNames(spec.name).base,
        transfer.origin,
        COMPONENT,
        transfer.config,
        namespace=spec.namespace,
        run=transfer.schedule is None,
    )


def run(transfer: Transfer, site: Site, config: str, marker: str) -> list[Manifest]:
    """The Job; with a schedule, the CronJob. `config` names the ConfigMap, `marker` is the user's run marker."""
    names = DataCubeNames(transfer.origin.spec.name)
    task = job.Task(names.job, COMPONENT, transfer.origin.spec.namespace, _job(transfer, site, config))
    if transfer.schedule is None:
        return job.jobs([task], transfer.origin, marker)
    return [job.cron_job(task, transfer.origin, schedule=transfer.schedule, time_zone=transfer.time_zone)]


def _job(transfer: Transfer, site: Site, config: str) -> Json:
    """A new attempt waits until the pod of the last one is really gone: two must never write to one place."""
    spec = job.job_spec(
        pod.template(_pod(transfer, config), transfer.origin, site),
        container=COMPONENT,
        deadline_seconds=transfer.total_seconds,
        suspend=False,
        backoff_limit=transfer.backoff_limit,
    )
    return {**spec, "podReplacementPolicy": "Failed"}


def _pod(transfer: Transfer, config: str) -> pod.AgentPod:
    certificates = transfer.certificates
    return pod.AgentPod(
        component=COMPONENT,
        agent=transfer.agent,
        module=MODULE,
        args=(),
        config_map=config,
        service_account=DataCubeNames(transfer.origin.spec.name).base,
        resources=transfer.resources,
        mount=pod.Mount(transfer.claim, CLAIM_DIRECTORY, transfer.read_only),
        env=(pod.run_env(), *transfer.env),
        placement=transfer.placement,
        annotations=_KEEP_NODE,
        files=(pod.FileMount("ca", certificates, CA_DIRECTORY),) if certificates else (),
        security={**_group(transfer), **transfer.security},
        deadline_seconds=transfer.attempt_seconds,
    )


def _group(transfer: Transfer) -> Json:
    """Lets an agent that is not root write into the claim. A large one is not walked through at every start."""
    if transfer.read_only:
        return {}
    return {"fsGroup": pod.AGENT_USER, "fsGroupChangePolicy": "OnRootMismatch"}
