"""Kubernetes types that several specs embed, with JSON Schemas of the small ones.

CRDs and editor schemas contain these schemas, so that a wrong type or a missing field is refused at once. The CRDs of
the old operators have the same ones, except that unknown fields are preserved here. The compiler checks values and
combinations against the definitions of the platform's Kubernetes version.
"""

from typing import Annotated, Any

from stowplan.schema.meta import LARGEST_INT32, KubernetesType

_CORE = "io.k8s.api.core.v1"


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def _list(items: dict[str, Any], description: str) -> dict[str, Any]:
    return {"type": "array", "items": items, "description": description}


def _object(required: tuple[str, ...] = (), **properties: dict[str, Any]) -> dict[str, Any]:
    shape: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": True}
    return shape | {"required": list(required)} if required else shape


_EXPRESSION = _object(
    ("key", "operator"),
    key=_text("Key of the label, or name of the field."),
    operator=_text("How the key relates to the values."),
    values=_list({"type": "string"}, "What the operator compares with."),
)

_TERM = _object(
    matchExpressions=_list(_EXPRESSION, "Requirements on labels of the node. All must hold."),
    matchFields=_list(_EXPRESSION, "Requirements on fields of the node. All must hold."),
)

_PREFERRED = _object(
    ("preference", "weight"),
    preference=_TERM | {"description": "Which nodes are preferred."},
    weight={
        "type": "integer",
        "maximum": LARGEST_INT32,
        "description": "What a match counts among all preferences, 1 to 100.",
    },
)

_SELECTOR = _object(
    ("nodeSelectorTerms",), nodeSelectorTerms=_list(_TERM, "Which nodes are allowed. One term must match.")
)

NODE_AFFINITY = _object(
    preferredDuringSchedulingIgnoredDuringExecution=_list(_PREFERRED, "Nodes that the scheduler prefers."),
    requiredDuringSchedulingIgnoredDuringExecution=_SELECTOR | {"description": "Nodes that a pod must run on."},
)

TOLERATION = _object(
    effect=_text("Effect of the taint. All effects when empty."),
    key=_text("Key of the taint. All keys when empty; the operator must be Exists then."),
    operator=_text("How the key relates to the value. Equal when empty."),
    tolerationSeconds={
        "type": "integer",
        "description": "How long a taint with effect NoExecute is tolerated. For ever when left out.",
    },
    value=_text("Value of the taint. Empty when the operator is Exists."),
)

QUANTITY: dict[str, Any] = {
    "anyOf": [{"type": "integer"}, {"type": "string"}],
    "pattern": r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$",
    "x-kubernetes-int-or-string": True,
}
"""Amount such as `4`, `500m` or `16Gi`, in the form that CRD generators give it."""


def _key(what: str) -> dict[str, Any]:
    return _object(
        ("key",),
        name=_text(f"Name of the {what}."),
        key=_text("Its key."),
        optional={"type": "boolean", "description": "Whether it may be missing."},
    ) | {"description": f"A key of a {what}."}


ENV_VAR = _object(
    ("name",),
    name=_text("Name of the option or variable."),
    value=_text("Its value. `$(NAME)` is replaced by another variable, `$$(NAME)` by the string `$(NAME)`."),
    valueFrom=_object(secretKeyRef=_key("Secret"), configMapKeyRef=_key("ConfigMap"))
    | {"description": "Where the value comes from."},
)

ClaimTemplate = Annotated[dict[str, Any], KubernetesType(f"{_CORE}.PersistentVolumeClaimTemplate")]
EnvVar = Annotated[dict[str, Any], KubernetesType(f"{_CORE}.EnvVar", ENV_VAR)]
NodeAffinity = Annotated[dict[str, Any], KubernetesType(f"{_CORE}.NodeAffinity", NODE_AFFINITY)]
PodTemplate = Annotated[dict[str, Any], KubernetesType(f"{_CORE}.PodTemplateSpec")]
Resources = Annotated[dict[str, Any], KubernetesType(f"{_CORE}.ResourceRequirements")]
Toleration = Annotated[dict[str, Any], KubernetesType(f"{_CORE}.Toleration", TOLERATION)]
