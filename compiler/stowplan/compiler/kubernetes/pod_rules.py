"""Validation rules of Kubernetes for pods that its OpenAPI document lacks, as JSON schema: see `rules`.

Each rule was tried on real API servers of Kubernetes 1.34 and 1.37. Rules that need arithmetic or compare two lists are
in `library`, among the rules of pod templates.
"""

from stowplan.compiler.kubernetes.schema_problem import FORM, JsonSchema

_CORE = "io.k8s.api.core.v1."
_INT32 = 2**31

_NAME: JsonSchema = {
    "maxLength": 253,
    "pattern": r"^(?:[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*)?$",
    FORM: "a name of lower-case letters, digits, - and ., with a letter or digit at both ends of each part",
}
_NAMES = ("nodeName", "priorityClassName", "runtimeClassName", "serviceAccount", "serviceAccountName")

_ALONE = ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe")
_SIDECAR: JsonSchema = {"properties": {"restartPolicy": {"const": "Always"}}, "required": ["restartPolicy"]}
_INIT: JsonSchema = {
    "if": {"not": _SIDECAR},
    "then": {
        "not": {"type": "object", "anyOf": [{"required": [field]} for field in _ALONE]},
        FORM: "an init container without probes and lifecycle, or with `restartPolicy: Always`",
    },
}
_ONE_SUCCESS: JsonSchema = {"properties": {"successThreshold": {"maximum": 1}}}

_QUALIFIED = r"[A-Za-z0-9][-A-Za-z0-9.]*/[A-Za-z0-9][-A-Za-z0-9_.]*"
_WHOLE = r"^\+?[0-9]+(?:\.0*)?(?:[kMGTPE]|[KMGTPE]i|[eE]\+?[0-9]+)?$|^\+?[0-9]*000m$|^0m$"
_AMOUNTS: JsonSchema = {
    "propertyNames": {
        "pattern": rf"^(?:cpu|memory|ephemeral-storage|hugepages-[0-9]+[KMGTPE]i|{_QUALIFIED})$",
        FORM: "cpu, memory, ephemeral-storage, hugepages-2Mi or one of a device such as nvidia.com/gpu",
    },
    "patternProperties": {"/": {"multipleOf": 1, "pattern": _WHOLE, FORM: "a whole number, since it counts devices"}},
}

_NAMESERVERS: JsonSchema = {
    "properties": {
        "dnsConfig": {
            "properties": {"nameservers": {"minItems": 1}},
            "required": ["nameservers"],
            FORM: "with the policy None there is no other",
        }
    },
    "required": ["dnsConfig"],
    FORM: "with the policy None it says which servers to ask",
}

POD_RULES: dict[str, list[JsonSchema]] = {
    f"{_CORE}Container": [
        {"properties": {"image": {"minLength": 1}}, "required": ["image"], FORM: "a container has one"},
        {"properties": {"livenessProbe": _ONE_SUCCESS, "startupProbe": _ONE_SUCCESS}},
    ],
    f"{_CORE}ContainerPort": [{"properties": {"hostPort": {"minimum": 0, "maximum": 65535}}}],
    f"{_CORE}EnvVar": [
        {"properties": {"name": {"pattern": "^[ -<>-~]+$", FORM: "a name of printable characters other than ="}}},
        {
            "not": {
                "type": "object",
                "properties": {"value": {"minLength": 1}},
                "required": ["value", "valueFrom"],
            },
            FORM: "one of `value` and `valueFrom`",
        },
    ],
    f"{_CORE}EnvVarSource": [{"minProperties": 1, "maxProperties": 1, FORM: "one source"}],
    f"{_CORE}PodSpec": [
        {
            "properties": {
                "activeDeadlineSeconds": {"minimum": 1, "maximum": _INT32 - 1},
                "initContainers": {"items": _INIT},
                **dict.fromkeys(_NAMES, _NAME),
            }
        },
        {"if": {"properties": {"dnsPolicy": {"const": "None"}}, "required": ["dnsPolicy"]}, "then": _NAMESERVERS},
    ],
    f"{_CORE}PodTemplateSpec": [
        {"properties": {"spec": {"properties": {"ephemeralContainers": {"maxItems": 0}}}}},
    ],
    f"{_CORE}ResourceRequirements": [{"properties": {"limits": _AMOUNTS, "requests": _AMOUNTS}}],
    f"{_CORE}Volume": [{"maxProperties": 2, FORM: "a name and one source"}],
}
"""Additional schemas that a value must fit, by name of its definition in the OpenAPI document."""
