"""Common parts of all documents: identity, metadata and the base of every model."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.alias_generators import to_camel
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from stowplan.schema.forms import DIGEST, DNS_LABEL


class Model(BaseModel):
    """Base of every model: frozen, strict (no `"3"` for 3), unknown fields refused, keys as users write them."""

    model_config = ConfigDict(
        frozen=True,
        strict=True,
        extra="forbid",
        alias_generator=to_camel,
        serialize_by_alias=True,
        defer_build=True,
    )


class SpecId(NamedTuple):
    """Kind, namespace and name of a spec, which identify it in a cluster."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


class ObjectId(NamedTuple):
    """Identity of a Kubernetes object in a cluster. The API version is not part of it, so v1 and v1beta1 are equal.

    `group` is empty for the core group, `namespace` for cluster-scoped kinds.
    """

    group: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        place = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.kind} {place}"


KUBERNETES_TYPE = "x-stowplan-kubernetes-type"
"""Keyword with the `definition` of a `KubernetesType`, in JSON Schemas that are made from models."""


PATCH = "patch."
"""Beginning of the name of a definition for strategic merge patches of a type: of the definition without it."""


@dataclass(frozen=True, slots=True)
class KubernetesType:
    """Annotation of a model's field whose value is an embedded Kubernetes type.

    `definition` is the name in the official OpenAPI document, such as `io.k8s.api.core.v1.Toleration`. The compiler
    checks the value against that definition of the platform's Kubernetes version. The CRDs preserve the value, and
    check it against `shape`, a JSON Schema of a mapping, if one is given; it must not be stricter than any version's
    definition. Fields that are null count as missing, as in Kubernetes: `kubectl` prints `creationTimestamp:
    null`.
    """

    definition: str
    shape: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(_given, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {**handler(schema), **copy.deepcopy(dict(self.shape)), KUBERNETES_TYPE: self.definition}


def _given(value: Any) -> Any:
    """Return plain data without the fields that are null."""
    # Most values are strings. A call for each would double the time.
    if isinstance(value, dict):
        return {
            key: below if isinstance(below, str) else _given(below) for key, below in value.items() if below is not None
        }
    return [_given(item) for item in value] if isinstance(value, list) else value


DnsLabel = Annotated[str, Field(pattern=DNS_LABEL, max_length=63)]

Digest = Annotated[str, Field(pattern=DIGEST, max_length=71)]

LARGEST_INT32 = 2**31 - 1

Int32 = Annotated[int, Field(le=LARGEST_INT32)]
"""Integer for a 32-bit field of Kubernetes, such as a number of replicas. Others have 64 bits."""

MOST_NODES = 5000
"""Maximum number of nodes in one cluster that Kubernetes supports: https://kubernetes.io/docs/setup/best-practices/cluster-large/."""

RUN_ANNOTATION = "stowplan.dev/run"
"""Annotation whose value users change to run a spec's Jobs again."""

RESTARTS_ANNOTATION = "stowplan.dev/restarts"
"""Annotation of a PaddleJob, TrainingJob or MxJob: how often the whole job starts again after a failure."""

AFTER_ANNOTATION = "stowplan.dev/run-after"
"""Annotation of kinds without the field `runAfter`: what must be done first, as `Kind/name`, separated by commas."""

PLACEMENT_ANNOTATION = "stowplan.dev/cache-placement"
"""Annotation of a job: `required` if its pods must run on cluster nodes that cache the dataset, else `preferred`."""


class ObjectMeta(Model):
    """The part of Kubernetes' ObjectMeta that a spec may carry. What only the cluster sets is dropped on reading."""

    name: str = Field(
        description="Name of the object, unique for its kind in the namespace.", min_length=1, max_length=253
    )
    namespace: str | None = Field(
        default=None,
        description="Namespace of the object. Without it, the platform's `defaultNamespace` is used.",
        max_length=63,
    )
    labels: dict[str, str] = Field(
        default_factory=dict,
        description="Labels of the custom resource. They are not copied to the objects compiled from it.",
    )
    annotations: dict[str, str] = Field(
        default_factory=dict,
        description=f"Annotations of the custom resource. Change `{RUN_ANNOTATION}` to run its Jobs once more. At any kind but datasets and those with the field `runAfter`, `{AFTER_ANNOTATION}` names what must be done first, such as `SampleJob/clean, SampleSet/imagenet`.",
    )
    finalizers: list[str] = Field(
        default_factory=list,
        description="No effect: the custom resource gets no finalizers, because nothing of Stowplan would remove them.",
    )


class NamedReference(Model):
    """A reference by name, in the same namespace."""

    name: str | None = Field(default=None, description="Name of the object referred to.")


class SecretReference(Model):
    """A reference to a Secret. Only its name is in Git, never its content."""

    name: str | None = Field(default=None, description="Name of the Secret.")
    namespace: str | None = Field(
        default=None,
        description="Namespace of the Secret. Without it, the namespace of this object. Another namespace is allowed only if the platform lists the pair in `policy.crossNamespaceSecrets`.",
    )


def kubernetes_type(annotation_metadata: list[Any]) -> KubernetesType | None:
    """Return the `KubernetesType` in the metadata of an `Annotated` type or a pydantic field; None if there is none."""
    return next((mark for mark in annotation_metadata if isinstance(mark, KubernetesType)), None)
