"""Paths on the API server of Kubernetes of the custom resources that agents report on."""

from collections.abc import Mapping
from dataclasses import dataclass

from stowplan.agents.cluster.place import ObjectAddress
from stowplan.schema.kinds.table import KINDS


@dataclass(frozen=True, slots=True)
class Served:
    """One kind of custom resource, as the API server serves it."""

    api_version: str
    """API group and version, such as `batch/v1`."""
    plural: str
    """Name of the kind in paths, such as `jobs`."""

    def collection(self, namespace: str) -> str:
        """Return the path of all objects of this kind in a namespace."""
        return f"/apis/{self.api_version}/namespaces/{namespace}/{self.plural}"

    def place(self, namespace: str, name: str) -> ObjectAddress:
        """Return the address of one object of this kind."""
        return ObjectAddress(self.collection(namespace), name)


SERVED: Mapping[str, Served] = {name: Served(kind.api_version, kind.plural) for name, kind in KINDS.items()}
"""All kinds of custom resources, by the name of the kind."""
