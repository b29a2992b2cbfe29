"""The claims that training jobs mount by volumes of their own."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath


@dataclass(frozen=True, slots=True)
class MountedClaim:
    """A claim, how many pods mount it, whose they are, and where the document names it."""

    claim: str
    pods: int
    whose: str
    path: FieldPath


def of_template(template: dict[str, Any] | None, pods: int, whose: str, path: FieldPath) -> Iterator[MountedClaim]:
    """The claims in a pod template, which `path` leads to."""
    volumes = ((template or {}).get("spec") or {}).get("volumes") or ()
    yield from of_volumes(volumes, pods, whose, (*path, "spec", "volumes"))


def of_volumes(volumes: Sequence[Json], pods: int, whose: str, path: FieldPath) -> Iterator[MountedClaim]:
    """The claims in a list of volumes, which `path` leads to; none for a role without pods."""
    for index, volume in enumerate(volumes if pods > 0 else ()):
        source = volume.get("persistentVolumeClaim") or {}
        if source.get("claimName"):
            yield MountedClaim(source["claimName"], pods, whose, (*path, index, "persistentVolumeClaim", "claimName"))
