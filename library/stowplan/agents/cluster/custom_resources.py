"""Where the custom resources that agents report on are served. A test compares this with their CRDs."""

from collections.abc import Mapping
from dataclasses import dataclass

from stowplan.agents.cluster.place import Place


@dataclass(frozen=True, slots=True)
class Served:
    """One kind on the API server."""

    api_version: str
    plural: str

    def collection(self, namespace: str) -> str:
        """The path of all its objects in a namespace."""
        return f"/apis/{self.api_version}/namespaces/{namespace}/{self.plural}"

    def place(self, namespace: str, name: str) -> Place:
        """One object."""
        return Place(self.collection(namespace), name)


_DATA = "batch.paddlepaddle.org/v1alpha1"

SERVED: Mapping[str, Served] = {
    "DataCube": Served("tensorstack.dev/v1beta1", "datacubes"),
    "MxJob": Served("mxnet.mlkube.io/v1beta1", "mxjobs"),
    "PaddleJob": Served("batch.paddlepaddle.org/v1", "paddlejobs"),
    "SampleJob": Served(_DATA, "samplejobs"),
    "SampleSet": Served(_DATA, "samplesets"),
    "TrainingJob": Served("paddlepaddle.org/v1alpha1", "trainingjobs"),
}
"""By kind."""
