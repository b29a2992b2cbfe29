"""Trainings and what they compile to, for library tests. Each test gives only the values that matter to it."""

from typing import Any

from stowplan.library.dialects.registry import lower
from stowplan.library.dialects.shared.context import Context, Lowered
from stowplan.library.manifest import Json
from stowplan.schema.kinds.native.dataset import Dataset
from stowplan.schema.kinds.native.training import Training
from stowplan.schema.meta import SpecId
from tests.unit.specs import VERSION, platform

API_VERSION = "stowplan.dev/v1alpha1"


def training(name: str = "train", *, annotations: dict[str, str] | None = None, **spec: Any) -> Training:
    """Return a Training on one node, with the keys that documents have."""
    given = {"framework": "torch", "image": "registry.example.com/ml/train:1", **spec}
    metadata = {"name": name, "namespace": "ml", "annotations": annotations or {}}
    return Training.model_validate({"apiVersion": API_VERSION, "kind": "Training", "metadata": metadata, "spec": given})


def dataset(name: str, *, namespace: str = "ml", **spec: Any) -> Dataset:
    """Return a Dataset in a JuiceFS volume, unless `spec` gives another one."""
    given = {"volume": {"juicefs": {"secretRef": {"name": "jfs"}}}, **spec}
    metadata = {"name": name, "namespace": namespace}
    return Dataset.model_validate({"apiVersion": API_VERSION, "kind": "Dataset", "metadata": metadata, "spec": given})


def compiled(model: Training, *datasets: Dataset, **fields: Any) -> Lowered:
    """Return the result of a Training that may mount `datasets`, with these fields of the platform file."""
    known = {SpecId("Dataset", each.metadata.namespace or "", each.metadata.name): each for each in datasets}
    return lower(model, Context(platform(**fields), VERSION, known))


def workload(result: Lowered) -> Json:
    """Return the only Job or JobSet."""
    assert [found.code for found in result.findings if found.severity == "error"] == []
    (found,) = [each.body for each in result.unit.manifests if each.kind in ("Job", "JobSet")]
    return found


def pod(result: Lowered) -> Json:
    """Return the spec of the pods in the only Job."""
    spec: Json = workload(result)["spec"]["template"]["spec"]
    return spec


def trainer(result: Lowered) -> Json:
    """Return the container that trains in the pods of the only Job."""
    (found,) = [each for each in pod(result)["containers"] if each["name"] == "trainer"]
    return dict(found)


def env(result: Lowered) -> dict[str, Any]:
    """Return the variables of the trainer by name; None for those that do not have a plain value."""
    return {each["name"]: each.get("value") for each in trainer(result)["env"]}
