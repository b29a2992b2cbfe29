"""`spec.code` of a Training: a repository that an init container clones before the trainer starts."""

import re
from collections.abc import Iterator

from stowplan.library.builders import transfer
from stowplan.library.builders.config_map import config_map
from stowplan.library.builders.dataset_transfer import LEAST_MEMORY
from stowplan.library.builders.pods import code_container, secret_files
from stowplan.library.dialects.dataset import remotes, sources
from stowplan.library.dialects.shared.context import Context
from stowplan.library.ir.data import Origin
from stowplan.library.manifest import ExternalReference, Json, Manifest
from stowplan.schema.agents.cache_config import Target
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
    yield from sources.git(code.git, _GIT)
    if code.git.secret_ref:
        yield from sources.secret(code.git.secret_ref, (*_GIT, "secretRef"))
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


def clashes(code: TrainingCode | None, template: Json, trainer: Json) -> Iterator[Finding]:
    """Yield findings about other mounts of the trainer in the code, at their paths in the compiled pod template."""
    place = template["spec"]["containers"].index(trainer)
    for index, mount in enumerate(trainer.get("volumeMounts") or ()):
        if code and _is_within(str(mount.get("mountPath")), code):
            path = ("spec", "containers", place, "volumeMounts", index, "mountPath")
            yield _hidden(str(mount["mountPath"]), code, path)


def path_of(model: Training) -> str | None:
    """Return where the trainer finds the code; None for a job without code."""
    return model.spec.code.mount_path if model.spec.code else None


def _is_within(path: str, code: TrainingCode) -> bool:
    return f"{path.rstrip('/')}/".startswith(f"{code.mount_path.rstrip('/')}/")


def _hidden(path: str, code: TrainingCode, at: FieldPath) -> Finding:
    message = f"{path} is in {code.mount_path}, where the code is mounted read-only."
    return finding("SP444", at, message, "Choose a path outside of it.")


def added(template: Json, code: TrainingCode, config: Manifest, container: int, context: Context) -> Json:
    """Return a copy of a pod template in which an init container clones the repository, and the trainer mounts it.

    `container` is the index of the trainer. `config` is the result of `configuration`.
    """
    remote = remotes.remote_of(code.git, "")
    values = secret_files.split(remote.env, remote.endpoint.confidential)
    fetched = code_container.Code(config.name, values, repository_directory(code.git.url), code.mount_path)
    return code_container.added(template, fetched, container, context.site)


def configuration(code: TrainingCode, origin: Origin, stem: str, context: Context) -> Manifest:
    """Return the ConfigMap of the agent that clones the repository. `stem` is its name without the hash."""
    spec = origin.spec
    remote = remotes.remote_of(code.git, spec.namespace)
    config = TransferConfig(
        target=Target(kind="Training", namespace=spec.namespace, name=spec.name),
        reportPhase=False,
        source=remote.endpoint,
        sink=PvcEndpoint(claim=code_container.VOLUME),
        memoryMiB=max(transfer.memory(context.platform.resources.task.limits.model_dump()), LEAST_MEMORY),
        state=State(directory=f"{STATE_DIRECTORY}/code", lock=f"{STATE_DIRECTORY}/code.lock"),
    )
    return config_map(stem, origin, code_container.COMPONENT, config, namespace=spec.namespace, run=True)


def externals(code: TrainingCode, namespace: str) -> tuple[ExternalReference, ...]:
    """Return the reference to the Secret of a private repository, with its required keys; empty for a public one."""
    if code.git.secret_ref is None:
        return ()
    keys = remotes.remote_of(code.git, namespace).keys
    return (ExternalReference("Secret", namespace, code.git.secret_ref.name, keys),)
