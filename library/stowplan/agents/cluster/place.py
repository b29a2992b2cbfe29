"""Where an API server serves an object."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """One object: where its kind is served, such as `/apis/batch/v1/namespaces/ml/jobs`, and its name."""

    collection: str
    name: str

    @property
    def path(self) -> str:
        return f"{self.collection}/{self.name}"


def job(namespace: str, name: str) -> Place:
    """A Job."""
    return Place(f"/apis/batch/v1/namespaces/{namespace}/jobs", name)
