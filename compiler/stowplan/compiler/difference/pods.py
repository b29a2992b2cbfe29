"""The pods of an output, by their labels."""

from collections.abc import Iterable, Mapping
from typing import Any

from stowplan.compiler.manifest_fields import identity, items, mapping
from stowplan.library.manifest import Json
from stowplan.schema.records import dataclass

TEMPLATES = (("spec", "template"), ("spec", "jobTemplate", "spec", "template"))
"""Where workloads have the template of their pods. That of a JobSet is in a list."""


@dataclass(frozen=True, slots=True)
class Pods:
    """Namespace and labels of each pod template."""

    known: tuple[tuple[str, Mapping[str, Any]], ...] = ()

    @classmethod
    def of(cls, bodies: Iterable[Json]) -> "Pods":
        """The pods of these objects."""
        return cls(
            tuple(
                (identity(body).namespace, mapping(job, *place, "metadata", "labels"))
                for body in bodies
                for job in (
                    body,
                    *(mapping(each, "template") for each in items(mapping(body, "spec"), "replicatedJobs")),
                )
                for place in TEMPLATES
                if mapping(job, *place)
            )
        )

    def any_has(self, namespace: str, labels: Mapping[str, Any]) -> bool:
        """Whether there is a pod with these labels."""
        return any(where == namespace and labels.items() <= own.items() for where, own in self.known)
