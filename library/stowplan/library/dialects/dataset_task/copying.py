"""The transfer of a `copy`: from the claim of the dataset to a remote side or to another claim."""

from typing import Any, NamedTuple

from stowplan.library.builders import dataset_transfer, job
from stowplan.library.builders.dataset_transfer import DEFAULT_PARALLELISM, LEAST_MEMORY
from stowplan.library.builders.pods import agent_pod
from stowplan.library.builders.transfer import memory
from stowplan.library.dialects.dataset.places import registry as places
from stowplan.library.dialects.dataset_task import task
from stowplan.library.dialects.shared import claim_paths
from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.shared.task_resources import Resources
from stowplan.library.ir.data import CachedDataset, Origin, Placement, Transfer
from stowplan.library.manifest import ExternalReference
from stowplan.library.values.names import content_hash
from stowplan.schema.agents.agent_config import StatusTarget
from stowplan.schema.agents.left_out import Links
from stowplan.schema.agents.marker import STATE_DIRECTORY
from stowplan.schema.agents.transfer_config import (
    LOCK_DIRECTORY,
    SOURCE_DIRECTORY,
    PvcEndpoint,
    State,
    TransferConfig,
)
from stowplan.schema.kinds.native.dataset_task import ClaimTarget, CopyTarget, CopyTask, DatasetTask
from stowplan.schema.meta import SpecId


class Copying(NamedTuple):
    """A copy from a directory of a claim, for the spec of `origin`.

    `component` names the container, `stem` is the name of the Job without its hash, `configuration_stem` that of the
    ConfigMap, `account` that of the ServiceAccount. `claim` names the claim with the data, `path` is their directory in
    it, empty for the root. `state` is the directory of the copy's state below `.stowplan` in the target, if that is a
    claim. `links` says what happens to symbolic links. `user` is the id of the pods' user and group. `deadline` is that
    of the Job in seconds, None for none. If the file `skip_file` exists in the pod, it says why nothing is to be
    copied; None for no such file.
    """

    origin: Origin
    component: str
    stem: str
    configuration_stem: str
    account: str
    claim: str
    path: str
    to: CopyTarget
    state: str
    links: Links
    user: int
    resources: Resources
    tolerations: tuple[dict[str, Any], ...] = ()
    deadline: int | None = None
    schedule: str | None = None
    time_zone: str | None = None
    suspend: bool = False
    report_phase: bool = False
    skip_file: str | None = None
    run_after: tuple[SpecId, ...] = ()


def transfer(model: DatasetTask, copy: CopyTask, dataset: CachedDataset, context: Context) -> Transfer:
    """Return the transfer of a valid copy of `dataset`, whose claim is mounted read-only."""
    spec, names = context.id(model), task.names(model)
    cached = dataset.cached
    return of_copying(
        Copying(
            origin=context.origin(spec),
            component="copy",
            stem=names.task(None),
            configuration_stem=f"{names.base}-copy",
            account=names.base,
            claim=dataset.claim.name,
            path=joined(dataset.claim.sub_path, copy.sub_path),
            to=copy.to,
            state=f"{task.KIND.lower()}s/{spec.name}",
            links=copy.links or "follow",
            user=context.platform.juicefs.task_user if cached else agent_pod.AGENT_USER,
            resources=task.resources(model, context.platform),
            tolerations=dataset.placement.tolerations,
            deadline=context.platform.juicefs.task_deadline_seconds if model.spec.schedule is not None else None,
            schedule=model.spec.schedule,
            time_zone=model.spec.time_zone,
            suspend=bool(model.spec.suspend),
            run_after=task.run_after(model, context),
            report_phase=context.site.agents_report_phase,
        )
    )


def of_copying(copying: Copying) -> Transfer:
    """Return the transfer of a copy, which mounts the claim of the data read-only."""
    spec, given, claim = copying.origin.spec, copying.to.given, copying.to.claim
    remote = places.remote_of(*given, spec.namespace) if given else None
    source = PvcEndpoint(claim=copying.claim, path=copying.path, links=copying.links)
    return Transfer(
        origin=copying.origin,
        component=copying.component,
        stem=copying.stem,
        configuration_stem=copying.configuration_stem,
        account=copying.account,
        agent=remote.agent if remote else "transfer",
        config=TransferConfig(
            target=StatusTarget(kind=spec.kind, namespace=spec.namespace, name=spec.name),
            reportPhase=copying.report_phase,
            source=source.model_copy(update={"mount_path": SOURCE_DIRECTORY}) if claim else source,
            sink=remote.endpoint if remote else _sink(claim or ClaimTarget(name="")),
            softDeadlineSeconds=job.soft_deadline(copying.deadline),
            parallelism=DEFAULT_PARALLELISM,
            memoryMiB=max(memory(copying.resources["limits"]), LEAST_MEMORY),
            state=_state(copying.state, claim) if claim else None,
            skipFile=copying.skip_file,
        ),
        claim=claim.name if claim else copying.claim,
        source_claim=copying.claim if claim else "",
        env=remote.env if remote else (),
        resources=copying.resources,
        backoff_limit=job.BACKOFF_LIMIT,
        attempt_seconds=None,
        total_seconds=copying.deadline,
        placement=Placement(tolerations=copying.tolerations),
        security=dataset_transfer.security(copying.user),
        read_only=claim is None,
        schedule=copying.schedule,
        time_zone=copying.time_zone,
        suspend=copying.suspend,
        run_after=copying.run_after,
    )


def externals(to: CopyTarget, namespace: str) -> tuple[ExternalReference, ...]:
    """Return references to the Secret, with its required keys, and to the claim that a copy to this place needs."""
    if to.claim:
        return (ExternalReference("PersistentVolumeClaim", namespace, to.claim.name),)
    return places.externals(*to.given, namespace) if to.given else ()


def _sink(claim: ClaimTarget) -> PvcEndpoint:
    return PvcEndpoint(claim=claim.name, path=claim_paths.canonical(claim.sub_path or ""))


def _state(directory: str, claim: ClaimTarget) -> State:
    """Return where the agent keeps its state in the claim of the target; all writers to one path share a lock."""
    lock = content_hash("sink", claim_paths.canonical(claim.sub_path or ""))
    return State(directory=f"{STATE_DIRECTORY}/{directory}", lock=f"{LOCK_DIRECTORY}/{lock}")


def joined(directory: str, path: str | None) -> str:
    """Return the path in a claim of a `path` in a `directory` of it. Both may be empty, and `path` also None."""
    return "/".join(part for part in (directory, claim_paths.canonical(path or "")) if part)
