"""Where the API server serves the custom resources that agents report on."""

from collections.abc import Mapping
from dataclasses import dataclass

from stowplan.agents.cluster.place import ObjectAddress
from stowplan.schema.kinds.table import KINDS


@dataclass(frozen=True, slots=True)
class Served:
    """One kind on the API server."""

    api_version: str
    plural: str

    def collection(self, namespace: str) -> str:
        """The path of all its objects in a namespace."""
        return f"/apis/{self.api_version}/namespaces/{namespace}/{self.plural}"

    def place(self, namespace: str, name: str) -> ObjectAddress:
        """One object."""
        return ObjectAddress(self.collection(namespace), name)


SERVED: Mapping[str, Served] = {kind: Served(model.group_version(), model.PLURAL) for kind, model in KINDS.items()}
"""By kind."""
