"""Path of an object on the API server of Kubernetes."""

from dataclasses import dataclass

from stowplan.schema.kinds.table import KINDS


@dataclass(frozen=True, slots=True)
class ObjectAddress:
    """One object: the path of its collection, such as `/apis/batch/v1/namespaces/ml/jobs`, and its name."""

    collection: str
    name: str

    @property
    def path(self) -> str:
        return f"{self.collection}/{self.name}"

    @property
    def selector(self) -> dict[str, str]:
        """Parameters that select this object alone in its collection.

        An RBAC rule with `resourceNames` allows a watch only with them.
        """
        return {"fieldSelector": f"metadata.name={self.name}"}


def collection(kind: str, namespace: str) -> str:
    """Return the path of all custom resources of a kind of ours in a namespace. Raises KeyError for other kinds."""
    return f"/apis/{KINDS[kind].api_version}/namespaces/{namespace}/{KINDS[kind].plural}"


def resource(kind: str, namespace: str, name: str) -> ObjectAddress:
    """Return the address of a custom resource of a kind of ours, such as `Dataset`. Raises KeyError for others."""
    return ObjectAddress(collection(kind, namespace), name)


def job(namespace: str, name: str) -> ObjectAddress:
    """Return the address of a Job."""
    return ObjectAddress(f"/apis/batch/v1/namespaces/{namespace}/jobs", name)


def job_set(namespace: str, name: str) -> ObjectAddress:
    """Return the address of a JobSet."""
    return ObjectAddress(f"/apis/jobset.x-k8s.io/v1alpha2/namespaces/{namespace}/jobsets", name)


def pod(namespace: str, name: str) -> ObjectAddress:
    """Return the address of a pod."""
    return ObjectAddress(f"/api/v1/namespaces/{namespace}/pods", name)
