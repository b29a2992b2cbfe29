"""The transfer of a `copy`: from the claim of the dataset to a remote side or to another claim."""

from stowplan.library.builders import dataset_transfer, job
from stowplan.library.builders.dataset_transfer import DEFAULT_PARALLELISM, LEAST_MEMORY
from stowplan.library.builders.pods import agent_pod
from stowplan.library.builders.transfer import memory
from stowplan.library.dialects.dataset import remotes
from stowplan.library.dialects.dataset_task import task
from stowplan.library.dialects.shared import claim_paths
from stowplan.library.dialects.shared.context import Context
from stowplan.library.drivers.registry import STORAGE_DRIVERS
from stowplan.library.ir.data import CachedDataset, Placement, Remote, Transfer
from stowplan.library.manifest import ExternalReference
from stowplan.library.values.names import content_hash
from stowplan.schema.agents.cache_config import Target
from stowplan.schema.agents.marker import STATE_DIRECTORY
from stowplan.schema.agents.transfer_config import (
    LOCK_DIRECTORY,
    SOURCE_DIRECTORY,
    PvcEndpoint,
    State,
    TransferConfig,
)
from stowplan.schema.kinds.native.dataset_task import ClaimTarget, CopyTask, DatasetTask, HubTarget
from stowplan.schema.remotes.remote import option_env

_PATH, _MESSAGE = option_env("path-in-repo"), option_env("commit-message")


def transfer(model: DatasetTask, copy: CopyTask, dataset: CachedDataset, context: Context) -> Transfer:
    """Return the transfer of a valid copy of `dataset`, whose claim is mounted read-only."""
    spec, names = task.spec_id(model, context), task.names(model)
    remote, claim = _remote(copy, spec.namespace), copy.to.claim
    deadline = context.platform.juicefs.task_deadline_seconds if model.spec.schedule is not None else None
    own = task.resources(model, context.platform)
    cached = STORAGE_DRIVERS[dataset.driver].cached
    user = context.platform.juicefs.task_user if cached else agent_pod.AGENT_USER
    path = _joined(dataset.claim.sub_path, copy.sub_path)
    source = PvcEndpoint(claim=dataset.claim.name, path=path)
    return Transfer(
        origin=context.origin(spec),
        component="copy",
        stem=names.task(None),
        configuration_stem=f"{names.base}-copy",
        account=names.base,
        agent=remote.agent if remote else "transfer",
        config=TransferConfig(
            target=Target(kind="DatasetTask", namespace=spec.namespace, name=spec.name),
            reportPhase=context.site.agents_report_phase,
            source=source.model_copy(update={"mount_path": SOURCE_DIRECTORY}) if claim else source,
            sink=remote.endpoint if remote else _sink(claim or ClaimTarget(name="")),
            softDeadlineSeconds=job.soft_deadline(deadline),
            parallelism=DEFAULT_PARALLELISM,
            memoryMiB=max(memory(own["limits"]), LEAST_MEMORY),
            state=_state(spec.name, claim) if claim else None,
        ),
        claim=claim.name if claim else dataset.claim.name,
        source_claim=dataset.claim.name if claim else "",
        env=remote.env if remote else (),
        resources=own,
        backoff_limit=job.BACKOFF_LIMIT,
        attempt_seconds=None,
        total_seconds=deadline,
        placement=Placement(tolerations=dataset.placement.tolerations),
        security=dataset_transfer.security(user),
        read_only=claim is None,
        schedule=model.spec.schedule,
        time_zone=model.spec.time_zone,
        suspend=bool(model.spec.suspend),
    )


def externals(copy: CopyTask, namespace: str) -> tuple[ExternalReference, ...]:
    """Return references to the Secret, with its required keys, and to the claim that a copy needs."""
    place = copy.to.s3 or copy.to.huggingface or copy.to.git
    if copy.to.claim:
        return (ExternalReference("PersistentVolumeClaim", namespace, copy.to.claim.name),)
    if place is None or place.secret_ref is None:
        return ()
    keys = remotes.remote_of(place, namespace).keys
    return (ExternalReference("Secret", namespace, place.secret_ref.name, keys),)


def _remote(copy: CopyTask, namespace: str) -> Remote | None:
    """Return the remote side of a copy; None if its target is a claim."""
    place = copy.to.s3 or copy.to.huggingface or copy.to.git
    if place is None:
        return None
    remote = remotes.remote_of(place, namespace)
    if not isinstance(place, HubTarget):
        return remote
    given = {_PATH: claim_paths.canonical(place.path or ""), _MESSAGE: place.message}
    named = {
        "path_in_repo_env": _PATH if given[_PATH] else None,
        "commit_message_env": _MESSAGE if place.message else None,
    }
    env = (*remote.env, *remotes.literals(given))
    return Remote(remote.endpoint.model_copy(update=named), env, remote.agent, remote.keys)


def _sink(claim: ClaimTarget) -> PvcEndpoint:
    return PvcEndpoint(claim=claim.name, path=claim_paths.canonical(claim.sub_path or ""))


def _state(name: str, claim: ClaimTarget) -> State:
    """Return where the agent keeps its state in the claim of the target; all writers to one path share a lock."""
    lock = content_hash("sink", claim_paths.canonical(claim.sub_path or ""))
    return State(directory=f"{STATE_DIRECTORY}/{task.KIND.lower()}s/{name}", lock=f"{LOCK_DIRECTORY}/{lock}")


def _joined(directory: str, path: str | None) -> str:
    return "/".join(part for part in (directory, claim_paths.canonical(path or "")) if part)
