"""Specs and the inputs of their compilation, for library tests. Each test gives only the values that matter to it."""

from typing import Any

from stowplan.library.dialects.registry import lower
from stowplan.library.dialects.sample_set.sample_set import cached_dataset
from stowplan.library.dialects.shared.context import Context, Lowered
from stowplan.library.ir.data import CachedDataset, Origin, Site
from stowplan.library.manifest import Json, Manifest
from stowplan.schema.kinds.mx_job import MxJob
from stowplan.schema.kinds.native.dataset import Dataset
from stowplan.schema.kinds.paddle_job import PaddleJob
from stowplan.schema.kinds.sample_job import SampleJob
from stowplan.schema.kinds.sample_set import SampleSet
from stowplan.schema.kinds.training_job import TrainingJob
from stowplan.schema.meta import RUN_ANNOTATION, SpecId
from stowplan.schema.platform.platform import Platform

API_VERSION = "batch.paddlepaddle.org/v1alpha1"
ORIGIN = Origin(SpecId("SampleSet", "ml", "data"), "specs/data.yaml")
URI = "s3://bucket.s3.eu-central-1.amazonaws.com/train/"
VERSION = "9.9"


def platform(**fields: Any) -> Platform:
    return Platform.model_validate({"images": {"registry": "registry.example.com/ml"}, **fields})


def site(**fields: Any) -> Site:
    return Site(platform(**fields), VERSION)


def sample_set(name: str = "data", *, annotations: dict[str, str] | None = None, **spec: Any) -> SampleSet:
    given = {"partitions": 1, "secretRef": {"name": "volume"}, **spec}
    if not {"source", "noSync"} & set(given):
        given["noSync"] = True
    metadata = {"name": name, "namespace": "ml", "annotations": annotations or {}}
    return SampleSet.model_validate(
        {"apiVersion": API_VERSION, "kind": "SampleSet", "metadata": metadata, "spec": given}
    )


def sample_job(name: str = "work", *, annotations: dict[str, str] | None = None, **spec: Any) -> SampleJob:
    given = {"sampleSetRef": {"name": "data"}, **spec}
    metadata = {"name": name, "namespace": "ml", "annotations": annotations or {}}
    return SampleJob.model_validate(
        {"apiVersion": API_VERSION, "kind": "SampleJob", "metadata": metadata, "spec": given}
    )


def role(
    replicas: int = 2, *, image: str = "paddle:1", spec: Any = None, metadata: Any = None, **container: Any
) -> Any:
    """A role of a PaddleJob; `container` and `spec` are fields of its first container and of its pods."""
    pod = {**(spec or {}), "containers": [{"name": "paddle", "image": image, **container}]}
    template = {"spec": pod} if metadata is None else {"metadata": metadata, "spec": pod}
    return {"replicas": replicas, "template": template}


def paddle_job(name: str = "train", *, annotations: dict[str, str] | None = None, **spec: Any) -> PaddleJob:
    metadata = {"name": name, "namespace": "ml", "annotations": annotations or {}}
    given = spec if {"ps", "worker", "heter"} & set(spec) else {"worker": role(), **spec}
    body = {"apiVersion": "batch.paddlepaddle.org/v1", "kind": "PaddleJob", "metadata": metadata, "spec": given}
    return PaddleJob.model_validate(body)


def training_job(name: str = "train", *, run: str = "", **spec: Any) -> TrainingJob:
    """Return a job with two trainers and the fields of `spec`, whose keys are those of documents.

    Trainers and servers have an entrypoint unless `spec` gives one.
    """
    metadata = {"name": name, "namespace": "ml", "annotations": {RUN_ANNOTATION: run} if run else {}}
    given = {"image": "paddle:1", "trainer": {"min-instance": 2}, **spec}
    given |= {role: {"entrypoint": "run", **given[role]} for role in ("trainer", "pserver") if given.get(role)}
    body = {"apiVersion": "paddlepaddle.org/v1alpha1", "kind": "TrainingJob", "metadata": metadata, "spec": given}
    return TrainingJob.model_validate(body)


def mx_role(role: str | None = None, *, image: str = "mxnet:1", spec: Any = None, **container: Any) -> Any:
    """An entry of a MxJob; `container` and `spec` are fields of its container and of its pods."""
    pod = {"restartPolicy": "Never", **(spec or {}), "containers": [{"name": "mxnet", "image": image, **container}]}
    return {"template": {"spec": pod}, **({"mxReplicaType": role} if role else {})}


def mx_job(*entries: Any, name: str = "train", **spec: Any) -> MxJob:
    """A distributed job with one pod of each role, unless `entries` say more."""
    metadata = {"name": name, "namespace": "ml"}
    roles = list(entries) or [mx_role("SCHEDULER"), mx_role("SERVER"), mx_role("WORKER")]
    given = {"jobMode": "dist", "replicaSpecs": roles, **spec}
    body = {"apiVersion": "mxnet.mlkube.io/v1beta1", "kind": "MxJob", "metadata": metadata, "spec": given}
    return MxJob.model_validate(body)


def context(*datasets: SampleSet | Dataset, **fields: Any) -> Context:
    known = {SpecId(each.kind, each.metadata.namespace or "default", each.metadata.name): each for each in datasets}
    return Context(platform(**fields), VERSION, known)


def dataset(**spec: Any) -> CachedDataset:
    """The dataset of a SampleSet that has this spec."""
    return cached_dataset(sample_set(**spec), context())


def lowered(model: SampleSet | SampleJob | PaddleJob | TrainingJob | MxJob, **fields: Any) -> Lowered:
    """Return the result of a spec, which may refer to `sample_set()`."""
    return lower(model, context(sample_set(), **fields))


def codes(result: Lowered) -> list[str]:
    return [found.code for found in result.findings]


def of_kind(result: Lowered, kind: str) -> list[Manifest]:
    return [manifest for manifest in result.unit.manifests if manifest.kind == kind]


def body(result: Lowered, kind: str) -> Json:
    """The only object of a kind."""
    (manifest,) = of_kind(result, kind)
    return manifest.body
