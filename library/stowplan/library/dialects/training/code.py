"""`spec.code` of a Training: a repository that an init container clones before the trainer starts."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from stowplan.library.builders import transfer
from stowplan.library.builders.config_map import config_map
from stowplan.library.builders.dataset_transfer import LEAST_MEMORY
from stowplan.library.builders.metadata import Head
from stowplan.library.builders.pods import code_container, secret_files
from stowplan.library.dialects.dataset.places import registry as places
from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.training.pod import TrainingPod
from stowplan.library.ir.data import Remote
from stowplan.library.ir.training import TrainingGroup
from stowplan.library.manifest import ExternalReference, Json, Manifest
from stowplan.schema.agents.agent_config import StatusTarget
from stowplan.schema.agents.marker import STATE_DIRECTORY
from stowplan.schema.agents.transfer_config import PvcEndpoint, State, TransferConfig
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, finding
from stowplan.schema.kinds.native.training import Training
from stowplan.schema.kinds.native.training_parts import TrainingCode
from stowplan.schema.remotes.git import repository_directory

PATH: FieldPath = ("spec", "code")

_GIT: FieldPath = (*PATH, "git")
_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
"""The name of a commit, by SHA-1 or SHA-256."""


def findings(model: Training) -> Iterator[Finding]:
    """Yield findings about the repository, and about mounts in the code, which is read-only."""
    code = model.spec.code
    if code is None:
        return
    yield from places.findings("git", code.git, _GIT)
    ref = code.git.ref
    if ref is None or not _COMMIT.fullmatch(ref):
        found = "the branch that the server chooses" if ref is None else f"the branch or tag `{ref}`"
        message = f"The code may be other code tomorrow, and on another node: {found} moves."
        hint = "Name a commit by all of its 40 or 64 digits, as `git rev-parse HEAD` shows them."
        yield finding(
            "SP731", (*_GIT, "ref") if ref else _GIT, message, hint, anchor=Anchor.VALUE if ref else Anchor.KEY
        )
    for index, dataset in enumerate(model.spec.datasets or ()):
        if _is_within(dataset.mount_path, code):
            yield _hidden(dataset.mount_path, code, ("spec", "datasets", index, "mountPath"))
    kept = model.spec.checkpoints
    if kept and _is_within(kept.mount_path, code):
        yield _hidden(kept.mount_path, code, ("spec", "checkpoints", "mountPath"))


def clashes(code: TrainingCode, pod: TrainingPod) -> Iterator[Finding]:
    """Yield findings about other mounts of the trainer in the code, at their paths in the compiled pod template."""
    for index, mount in enumerate(pod.trainer.get("volumeMounts") or ()):
        if _is_within(str(mount.get("mountPath")), code):
            path = ("spec", "containers", pod.container, "volumeMounts", index, "mountPath")
            yield _hidden(str(mount["mountPath"]), code, path)


def _is_within(path: str, code: TrainingCode) -> bool:
    return f"{path.rstrip('/')}/".startswith(f"{code.mount_path.rstrip('/')}/")


def _hidden(path: str, code: TrainingCode, at: FieldPath) -> Finding:
    message = f"{path} is in {code.mount_path}, where the code is mounted read-only."
    return finding("SP444", at, message, "Choose a path outside of it.")


class Fetched(NamedTuple):
    """The pod template of a job whose code is fetched, the configuration of the agent, and the Secret that it needs."""

    template: Json
    configuration: Manifest
    externals: frozenset[ExternalReference]


def fetched(code: TrainingCode, group: TrainingGroup, context: Context) -> Fetched:
    """Return what clones the repository for the trainer of `group`, which has one role, before that starts."""
    (role,) = group.roles
    remote = places.remote_of("git", code.git, group.origin.spec.namespace)
    config = _configuration(remote, group, context)
    values = secret_files.split(remote.env, remote.endpoint.confidential)
    own = code_container.Code(config.name, values, repository_directory(code.git.url), code.mount_path)
    template = code_container.added(role.template, own, role.container, context.site)
    return Fetched(template, config, frozenset(places.externals("git", code.git, group.origin.spec.namespace)))


def _configuration(remote: Remote, group: TrainingGroup, context: Context) -> Manifest:
    spec = group.origin.spec
    config = TransferConfig(
        target=StatusTarget(kind="Training", namespace=spec.namespace, name=spec.name),
        reportPhase=False,
        source=remote.endpoint,
        sink=PvcEndpoint(claim=code_container.VOLUME),
        memoryMiB=max(transfer.memory(context.platform.resources.task.limits.model_dump()), LEAST_MEMORY),
        state=State(directory=f"{STATE_DIRECTORY}/code", lock=f"{STATE_DIRECTORY}/code.lock"),
    )
    stem = f"{group.names.base}-code"
    head = Head(group.origin, code_container.COMPONENT)
    return config_map(stem, head, config, run=True)
