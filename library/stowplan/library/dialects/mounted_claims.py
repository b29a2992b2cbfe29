"""The claims in the volumes that training jobs declare."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath


@dataclass(frozen=True, slots=True)
class MountedClaim:
    """A claim that pods mount.

    `claim` is its name, `pods` the number of pods, `whose` the role or job of the pods for messages. `path` is the path
    of the claim's name in the document. `code` is that of the finding if only one cluster node can mount the claim.
    """

    claim: str
    pods: int
    whose: str
    path: FieldPath
    code: str = "SP309"


def of_template(template: dict[str, Any] | None, pods: int, whose: str, path: FieldPath) -> Iterator[MountedClaim]:
    """Yield the claims in the pod template at `path`; nothing without a template or without pods."""
    volumes = ((template or {}).get("spec") or {}).get("volumes") or ()
    yield from of_volumes(volumes, pods, whose, (*path, "spec", "volumes"))


def of_volumes(volumes: Sequence[Json], pods: int, whose: str, path: FieldPath) -> Iterator[MountedClaim]:
    """Yield the claims in a list of volumes of pods, as Kubernetes writes it; nothing if `pods` is 0.

    `pods` is the number of pods with these volumes, `whose` their role or job in messages, such as `the job`. `path` is
    that of the list in the document of the spec.
    """
    for index, volume in enumerate(volumes if pods > 0 else ()):
        source = volume.get("persistentVolumeClaim") or {}
        if source.get("claimName"):
            yield MountedClaim(source["claimName"], pods, whose, (*path, index, "persistentVolumeClaim", "claimName"))
