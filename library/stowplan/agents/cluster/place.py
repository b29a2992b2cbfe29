"""Path of an object on the API server of Kubernetes."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ObjectAddress:
    """One object: the path of its collection, such as `/apis/batch/v1/namespaces/ml/jobs`, and its name."""

    collection: str
    name: str

    @property
    def path(self) -> str:
        return f"{self.collection}/{self.name}"


def job(namespace: str, name: str) -> ObjectAddress:
    """Return the address of a Job."""
    return ObjectAddress(f"/apis/batch/v1/namespaces/{namespace}/jobs", name)


def job_set(namespace: str, name: str) -> ObjectAddress:
    """Return the address of a JobSet."""
    return ObjectAddress(f"/apis/jobset.x-k8s.io/v1alpha2/namespaces/{namespace}/jobsets", name)


def pod(namespace: str, name: str) -> ObjectAddress:
    """Return the address of a pod."""
    return ObjectAddress(f"/api/v1/namespaces/{namespace}/pods", name)
