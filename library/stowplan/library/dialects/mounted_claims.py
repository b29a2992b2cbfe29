"""The claims that training jobs mount by volumes of their own, whichever kind they are of."""

from collections.abc import Iterator, Sequence
from typing import Any

from stowplan.library.dialects.mx_job.rules import role_of
from stowplan.library.dialects.training_job.topology import shape
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.frozen import dataclass
from stowplan.schema.kinds.mx_job import MxJob
from stowplan.schema.kinds.paddle_job import PaddleJob, PaddleRole
from stowplan.schema.kinds.training_job import TrainingJob
from stowplan.schema.platform.platform import Platform

_OF_TEMPLATES = ("template", "spec", "volumes")


@dataclass(frozen=True, slots=True)
class MountedClaim:
    """A claim, how many pods mount it, whose they are, and where the document names it."""

    claim: str
    pods: int
    whose: str
    path: FieldPath


def mounted_claims(model: object, platform: Platform) -> Iterator[MountedClaim]:
    """Those of all pods that there will be; none for a model that is no training job."""
    for pods, whose, path, volumes in _volumes(model, platform):
        for index, volume in enumerate(volumes):
            source = volume.get("persistentVolumeClaim") or {}
            if pods > 0 and source.get("claimName"):
                yield MountedClaim(
                    source["claimName"], pods, whose, (*path, index, "persistentVolumeClaim", "claimName")
                )


def _volumes(model: object, platform: Platform) -> Iterator[tuple[int, str, FieldPath, Sequence[Json]]]:
    match model:
        case PaddleJob():
            for name in ("ps", "worker", "heter"):
                role: PaddleRole | None = getattr(model.spec, name)
                if role:
                    yield role.replicas, name, ("spec", name, *_OF_TEMPLATES), _of(role.template)
        case MxJob():
            for index, entry in enumerate(model.spec.replica_specs or ()):
                pods = 1 if entry.replicas is None else entry.replicas
                yield pods, role_of(entry), ("spec", "replicaSpecs", index, *_OF_TEMPLATES), _of(entry.template)
        case TrainingJob():
            layout = shape(model, platform)
            pods = int(layout.master) + layout.servers + layout.trainers
            yield pods, "the job", ("spec", "volumes"), model.spec.volumes or ()
        case _:
            return


def _of(template: dict[str, Any] | None) -> Sequence[Json]:
    return ((template or {}).get("spec") or {}).get("volumes") or ()
