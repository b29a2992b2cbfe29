"""From the pod template of a job to the fields of a Training."""

from collections.abc import Iterator
from typing import Any

from stowplan.compiler.kubernetes.fields import value_at
from stowplan.compiler.migrate.native.plan import Move, Omit, Step, Write, path
from stowplan.library.builders.pods.training_pod import MERGE_KEYS
from stowplan.library.dialects.training_group import restarts
from stowplan.schema.diagnostics import FieldPath, Finding, finding
from stowplan.schema.kinds.native.training import TRAINER
from stowplan.schema.meta import ObjectMeta

FIELDS = {
    "image": "image",
    "command": "command",
    "args": "args",
    "env": "env",
    "envFrom": "envFrom",
    "resources": "resourcesPerNode",
}
"""The fields of a Training, by the field of the container that trains. All others go to `template`."""

_NEW: FieldPath = ("spec", "template")
_ROOT: FieldPath = ("spec", "securityContext", "runAsNonRoot")

CHANGE = (
    "The container that trains is called `trainer`, pods have other names and labels, the default service account "
    "gives them no token, and the restricted security context is filled in, except that a user who is not given may "
    "be root."
)
"""What becomes of the pods of a job."""


def trainer(at: FieldPath, index: int, size: FieldPath) -> Iterator[Step]:
    """Yield the steps for the fields of the container that trains. `at` is the path of the pod template.

    `index` is the index of this container, and `size` the path of the number of pods.
    """
    for old, new in FIELDS.items():
        if old == "resources":
            yield Move(size, ("spec", "numNodes"))
        yield Move((*at, "spec", "containers", index, old), ("spec", new))


def rest(template: Any, at: FieldPath, index: int) -> Iterator[Step]:
    """Yield the steps for all other fields of the pod template at `at`. They come after those of `trainer`.

    `index` is that of the container that trains.

    An image whose user is root must be allowed to be: a Training fills in `runAsNonRoot: true` otherwise. Its pods get
    no token of a service account either, unless the template says so.
    """
    containers = value_at(template, ("spec", "containers")) or []
    own = {key for key, value in containers[index].items() if value is not None}
    if len(containers) == 1 and own <= {*FIELDS, "name"}:
        yield Omit((*at, "spec", "containers"))
        yield Move(at, _NEW)
    else:
        yield Move(at, _NEW)
        yield Write((*_NEW, "spec", "containers", index, "name"), TRAINER)
    pod = value_at(template, ("spec",))
    everyone = [*containers, *(pod.get("initContainers") or [])]
    if not _has_user(pod) and not all(_has_user(each) for each in everyone):
        yield Write((*_NEW, *_ROOT), value=False)
    if pod.get("serviceAccountName") and pod.get("automountServiceAccountToken") is None:
        yield Write((*_NEW, "spec", "automountServiceAccountToken"), value=True)


def _has_user(holder: Any) -> bool:
    """Return whether the security context of a pod or container says as which user it runs."""
    return any(key in (holder.get("securityContext") or {}) for key in ("runAsNonRoot", "runAsUser"))


def refused(template: Any, at: FieldPath, index: int, reserved: frozenset[str]) -> Iterator[Finding]:
    """Yield findings about containers that a Training refuses: variables that Stowplan sets, and entries twice.

    `reserved` are the variables that it sets besides `STOWPLAN_*`; the other parameters are as in `rest`.
    """
    container = (*at, "spec", "containers", index)
    variables = [str(each.get("name")) for each in value_at(template, ("spec", "containers", index, "env")) or []]
    for place, name in enumerate(variables):
        if name in reserved or name.startswith("STOWPLAN_"):
            message = f"The template sets {name}, which a Training sets itself."
            hint = "Remove it if the job's own value is right, else leave the job as it is."
            yield finding("SP427", (*container, "env", place, "name"), message, hint)
    for key, merge_keys in MERGE_KEYS.items():
        entries = value_at(template, ("spec", "containers", index, key)) or []
        names = [tuple(each.get(part) for part in merge_keys) for each in entries]
        twice = next((place for place, name in enumerate(names) if name in names[:place]), None)
        if twice is not None:
            message = f"{names[twice][0]} occurs twice in `{key}`, of which the last entry counts."
            yield finding("SP427", (*container, key, twice), message, "Remove the others.")
    for place, each in enumerate(value_at(template, ("spec", "containers")) or []):
        if place != index and each.get("name") == TRAINER:
            message = f"Another container is called `{TRAINER}`, which is the name of the one that trains."
            yield finding("SP427", (*at, "spec", "containers", place, "name"), message, "Give it another name.")


def restart(metadata: ObjectMeta) -> Iterator[Step]:
    """Yield the steps for the annotation about restarts of a whole job.

    The exit codes that end the job stay the same, whatever the framework.
    """
    if asked := restarts.annotated(metadata):
        yield Omit(restarts.ANNOTATION)
        yield Write(path("spec.restart.max"), asked.most)
        yield Write(path("spec.restart.retryOn"), [])
