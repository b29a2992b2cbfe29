"""Validation rules of Kubernetes that its OpenAPI document lacks, as JSON schema.

The document lacks enumerations, the grammar of quantities and labels, and rules between fields. The validation code of
the API server has them (pkg/apis/*/validation of Kubernetes 1.34). This module has the rules for the types in specs and
compiled manifests.
"""

from typing import Any

from stowplan.compiler.kubernetes.pod_rules import POD_RULES
from stowplan.compiler.kubernetes.schema_problem import FORM, JsonSchema

_CORE = "io.k8s.api.core.v1."
_BATCH = "io.k8s.api.batch.v1."
_APPS = "io.k8s.api.apps.v1."
_CRD = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."
_META = "io.k8s.apimachinery.pkg.apis.meta.v1."
_INT64 = 2**63
_INT32 = 2**31

FORMATS: dict[str, JsonSchema] = {
    "int32": {"minimum": -_INT32, "maximum": _INT32 - 1},
    "int64": {"minimum": -_INT64, "maximum": _INT64 - 1},
    "byte": {"pattern": r"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$", FORM: "base64"},
    "date-time": {"format": "date-time", FORM: "a time such as 2026-01-31T12:00:00Z"},
}
"""Schema of the values for each `format` in the OpenAPI document."""

REPLACED: dict[str, JsonSchema] = {
    # The document has `oneOf` nullable string or nullable number: null matches both and is refused.
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {
        "type": ["string", "number", "null"],
        "pattern": r"^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$",
        FORM: "a quantity such as 500m or 1Gi",
    },
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {"type": ["string", "integer", "null"]},
    # The document allows any value here. A structural schema has no list of schemas.
    f"{_CRD}JSONSchemaPropsOrArray": {"$ref": f"#/$defs/{_CRD}JSONSchemaProps"},
    f"{_CRD}JSONSchemaPropsOrBool": {
        "if": {"type": "boolean"},
        "then": True,
        "else": {"$ref": f"#/$defs/{_CRD}JSONSchemaProps"},
    },
}
"""Definitions that replace those of the same name in the OpenAPI document."""

_PROTOCOL = ("TCP", "UDP", "SCTP")
_PROFILE = ("RuntimeDefault", "Localhost", "Unconfined")
_HONOR = ("Honor", "Ignore")
_VOLUME_MODE = ("Filesystem", "Block")
_KEEP_OR_DELETE = ("Retain", "Delete")
_TRAFFIC = ("Cluster", "Local")
_LABEL_OPERATOR = ("In", "NotIn", "Exists", "DoesNotExist")

ENUMERATIONS: dict[str, dict[str, tuple[str, ...]]] = {
    f"{_CORE}Container": {
        "imagePullPolicy": ("Always", "IfNotPresent", "Never"),
        "restartPolicy": ("Always", "Never", "OnFailure"),
        "terminationMessagePolicy": ("File", "FallbackToLogsOnError"),
    },
    f"{_CORE}ContainerPort": {"protocol": _PROTOCOL},
    f"{_CORE}PodSpec": {
        "dnsPolicy": ("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"),
        "preemptionPolicy": ("PreemptLowerPriority", "Never"),
        "restartPolicy": ("Always", "OnFailure", "Never"),
    },
    f"{_CORE}PodOS": {"name": ("linux", "windows")},
    f"{_CORE}PodSecurityContext": {
        "fsGroupChangePolicy": ("Always", "OnRootMismatch"),
        "supplementalGroupsPolicy": ("Merge", "Strict"),
    },
    f"{_CORE}SecurityContext": {"procMount": ("Default", "Unmasked")},
    f"{_CORE}SeccompProfile": {"type": _PROFILE},
    f"{_CORE}AppArmorProfile": {"type": _PROFILE},
    f"{_CORE}HTTPGetAction": {"scheme": ("HTTP", "HTTPS")},
    f"{_CORE}VolumeMount": {"mountPropagation": ("None", "HostToContainer", "Bidirectional")},
    f"{_CORE}Toleration": {
        "effect": ("NoSchedule", "PreferNoSchedule", "NoExecute"),
        # The API server accepts Lt and Gt with its feature gate TaintTolerationComparisonOperators alone.
        "operator": ("Exists", "Equal", "Lt", "Gt"),
    },
    f"{_CORE}NodeSelectorRequirement": {"operator": (*_LABEL_OPERATOR, "Gt", "Lt")},
    f"{_META}LabelSelectorRequirement": {"operator": _LABEL_OPERATOR},
    f"{_CORE}TopologySpreadConstraint": {
        "nodeAffinityPolicy": _HONOR,
        "nodeTaintsPolicy": _HONOR,
        "whenUnsatisfiable": ("DoNotSchedule", "ScheduleAnyway"),
    },
    f"{_CORE}PersistentVolumeSpec": {
        "persistentVolumeReclaimPolicy": ("Retain", "Delete", "Recycle"),
        "volumeMode": _VOLUME_MODE,
    },
    f"{_CORE}PersistentVolumeClaimSpec": {"volumeMode": _VOLUME_MODE},
    f"{_CORE}ServicePort": {"protocol": _PROTOCOL},
    f"{_CORE}ServiceSpec": {
        "externalTrafficPolicy": _TRAFFIC,
        "internalTrafficPolicy": _TRAFFIC,
        "ipFamilyPolicy": ("SingleStack", "PreferDualStack", "RequireDualStack"),
        "sessionAffinity": ("None", "ClientIP"),
        "type": ("ClusterIP", "NodePort", "LoadBalancer", "ExternalName"),
    },
    f"{_BATCH}JobSpec": {
        "completionMode": ("NonIndexed", "Indexed"),
        "podReplacementPolicy": ("TerminatingOrFailed", "Failed"),
    },
    f"{_BATCH}PodFailurePolicyRule": {"action": ("FailJob", "FailIndex", "Ignore", "Count")},
    f"{_BATCH}PodFailurePolicyOnExitCodesRequirement": {"operator": ("In", "NotIn")},
    f"{_BATCH}CronJobSpec": {"concurrencyPolicy": ("Allow", "Forbid", "Replace")},
    f"{_APPS}StatefulSetSpec": {"podManagementPolicy": ("OrderedReady", "Parallel")},
    f"{_APPS}StatefulSetUpdateStrategy": {"type": ("RollingUpdate", "OnDelete")},
    f"{_APPS}StatefulSetPersistentVolumeClaimRetentionPolicy": {
        "whenDeleted": _KEEP_OR_DELETE,
        "whenScaled": _KEEP_OR_DELETE,
    },
    f"{_APPS}DeploymentStrategy": {"type": ("RollingUpdate", "Recreate")},
    "io.k8s.api.policy.v1.PodDisruptionBudgetSpec": {"unhealthyPodEvictionPolicy": ("IfHealthyBudget", "AlwaysAllow")},
    "io.k8s.api.networking.v1.NetworkPolicyPort": {"protocol": _PROTOCOL},
    "io.k8s.api.storage.v1.StorageClass": {
        "reclaimPolicy": ("Retain", "Delete"),
        "volumeBindingMode": ("Immediate", "WaitForFirstConsumer"),
    },
    f"{_CRD}CustomResourceDefinitionSpec": {"scope": ("Namespaced", "Cluster")},
}
"""Allowed values of fields, by name of the definition and of the field."""


def _items(*values: str) -> JsonSchema:
    return {"items": {"enum": list(values)}}


def _when(field: str, values: tuple[str, ...], then: JsonSchema) -> JsonSchema:
    """Return a schema by which an object must fit `then` if its field `field` has one of `values`."""
    return {"if": {"properties": {field: {"enum": list(values)}}, "required": [field]}, "then": then}


_ACCESS_MODES = {
    "type": "array",
    "minItems": 1,
    **_items("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"),
}
_ONE_INTEGER = {
    "minItems": 1,
    "maxItems": 1,
    "items": {"pattern": "^-?[0-9]+$", FORM: "a whole number in quotes"},
}
_NO_VALUES: JsonSchema = {"properties": {"values": {"maxItems": 0, FORM: "no values with this operator"}}}
_SOME_VALUES: JsonSchema = {
    "properties": {"values": {"minItems": 1}},
    "required": ["values"],
    FORM: "this operator needs it",
}
_WEIGHT: JsonSchema = {"properties": {"weight": {"minimum": 1, "maximum": 100}}}
_PORT: JsonSchema = {"minimum": 1, "maximum": 65535}
_EMPTY = {"maxLength": 0, FORM: "no value, since the operator is Exists"}
_EXISTS = {"type": "string", "pattern": "^Exists$", FORM: '"Exists", since there is no key'}
_NO_EXECUTE = {"type": "string", "pattern": "^NoExecute$", FORM: '"NoExecute", since there are tolerationSeconds'}

_NAME = r"(?:[A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]"
_PREFIX = r"[A-Za-z0-9](?:[-A-Za-z0-9]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[-A-Za-z0-9]*[A-Za-z0-9])?)*"
_KEY: JsonSchema = {
    "maxLength": 253 + 1 + 63,
    "pattern": f"^(?:{_PREFIX}/)?{_NAME}$",
    FORM: "a name such as app or example.com/app, at most 63 characters after the slash",
}
_VALUE: JsonSchema = {
    "pattern": f"^(?:{_NAME})?$",
    FORM: "a label value: at most 63 letters, digits, -, _ and ., with a letter or digit at both ends",
}
_LABELS: JsonSchema = {"propertyNames": _KEY, "additionalProperties": _VALUE}

_SCHEMA_FIELDS = {
    "array": "allOf anyOf enum oneOf required x-kubernetes-list-map-keys x-kubernetes-validations",
    "boolean": "exclusiveMaximum exclusiveMinimum nullable uniqueItems x-kubernetes-embedded-resource "
    "x-kubernetes-int-or-string x-kubernetes-preserve-unknown-fields",
    "number": "maxItems maxLength maxProperties maximum minItems minLength minProperties minimum multipleOf",
    "object": "properties",
    "string": "description format pattern title type x-kubernetes-list-type x-kubernetes-map-type",
}
"""Fields of the schema in a CRD, by their JSON type.

None of them may be null, unlike fields of other objects, because the API server cannot read such a schema.
"""

_SPEC: JsonSchema = {"properties": {"spec": {"type": "object"}}, "required": ["spec"]}
_WITH_SPEC = (
    *(f"{_CORE}{kind}" for kind in ("PersistentVolume", "PersistentVolumeClaim", "Pod", "Service")),
    *(f"{_APPS}{kind}" for kind in ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")),
    *(f"{_BATCH}{kind}" for kind in ("CronJob", "Job")),
)

_NAMED: JsonSchema = {"properties": {"name": {"type": "string", "minLength": 1}}, "required": ["name"]}

_RULES: dict[str, list[JsonSchema]] = {
    **{definition: [_SPEC] for definition in _WITH_SPEC},
    f"{_CRD}JSONSchemaProps": [
        {
            "type": "object",
            "properties": {name: {"type": kind} for kind, names in _SCHEMA_FIELDS.items() for name in names.split()},
        }
    ],
    f"{_META}ObjectMeta": [{"properties": {"labels": _LABELS, "annotations": {"propertyNames": _KEY}}}],
    f"{_META}LabelSelector": [{"properties": {"matchLabels": _LABELS}}],
    f"{_CORE}ServiceSpec": [{"properties": {"selector": _LABELS}}],
    f"{_CORE}Toleration": [
        # A toleration for all taints has an empty key.
        {"properties": {"key": {"anyOf": [{"maxLength": 0}, _KEY], FORM: _KEY[FORM]}, "value": _VALUE}},
        _when("operator", ("Exists",), {"properties": {"value": _EMPTY}}),
        {
            "if": {"properties": {"key": {"enum": ["", None]}}},
            "then": {
                "properties": {"operator": _EXISTS},
                "required": ["operator"],
                FORM: "without a key it must be Exists",
            },
        },
        {
            "if": {"properties": {"tolerationSeconds": {"type": "integer"}}, "required": ["tolerationSeconds"]},
            "then": {
                "properties": {"effect": _NO_EXECUTE},
                "required": ["effect"],
                FORM: "with tolerationSeconds it must be NoExecute",
            },
        },
    ],
    f"{_CORE}NodeSelector": [{"properties": {"nodeSelectorTerms": {"minItems": 1}}}],
    f"{_CORE}NodeSelectorRequirement": [
        {"properties": {"key": _KEY}},
        _when("operator", ("In", "NotIn"), _SOME_VALUES),
        _when("operator", ("Exists", "DoesNotExist"), _NO_VALUES),
        _when("operator", ("Gt", "Lt"), {"properties": {"values": _ONE_INTEGER}, "required": ["values"]}),
    ],
    f"{_META}LabelSelectorRequirement": [
        {"properties": {"key": _KEY, "values": {"items": _VALUE}}},
        _when("operator", ("In", "NotIn"), _SOME_VALUES),
        _when("operator", ("Exists", "DoesNotExist"), _NO_VALUES),
    ],
    **{f"{_CORE}{kind}KeySelector": [_NAMED] for kind in ("ConfigMap", "Secret")},
    f"{_CORE}PreferredSchedulingTerm": [_WEIGHT],
    f"{_CORE}WeightedPodAffinityTerm": [_WEIGHT],
    f"{_CORE}PodAffinityTerm": [{"properties": {"topologyKey": {"minLength": 1}}}],
    f"{_CORE}PodSpec": [{"properties": {"containers": {"minItems": 1}, "nodeSelector": _LABELS}}],
    f"{_CORE}ContainerPort": [{"properties": {"containerPort": _PORT}}],
    f"{_CORE}ServicePort": [{"properties": {"port": _PORT}}],
    f"{_CORE}PersistentVolumeSpec": [
        {"properties": {"accessModes": _ACCESS_MODES}, "required": ["accessModes", "capacity"]}
    ],
    f"{_CORE}PersistentVolumeClaimSpec": [
        {
            "properties": {"accessModes": _ACCESS_MODES},
            "required": ["accessModes", "resources"],
        }
    ],
    "io.k8s.api.networking.v1.NetworkPolicySpec": [{"properties": {"policyTypes": _items("Ingress", "Egress")}}],
}


def rules_of(definition: str) -> list[JsonSchema]:
    """Return the schemas that a value of the type `definition`, such as `io.k8s.api.core.v1.PodSpec`, must fit too."""
    enumerations = ENUMERATIONS.get(definition, {})
    rules = [*_RULES.get(definition, ()), *POD_RULES.get(definition, ())]
    if enumerations:
        rules.append({"properties": {field: _enum(values) for field, values in enumerations.items()}})
    return rules


def _enum(values: tuple[str, ...]) -> dict[str, Any]:
    # The empty string and null mean that the field is not set.
    return {"enum": [*values, "", None]}


CLUSTER_SCOPED = frozenset(
    (group, kind)
    for group, kinds in {
        "": "ComponentStatus Namespace Node PersistentVolume",
        "admissionregistration.k8s.io": "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding "
        "MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding "
        "ValidatingWebhookConfiguration",
        "apiextensions.k8s.io": "CustomResourceDefinition",
        "apiregistration.k8s.io": "APIService",
        "authentication.k8s.io": "SelfSubjectReview TokenReview",
        "authorization.k8s.io": "SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview",
        "certificates.k8s.io": "CertificateSigningRequest ClusterTrustBundle",
        "flowcontrol.apiserver.k8s.io": "FlowSchema PriorityLevelConfiguration",
        "internal.apiserver.k8s.io": "StorageVersion",
        "networking.k8s.io": "IPAddress IngressClass ServiceCIDR",
        "node.k8s.io": "RuntimeClass",
        "rbac.authorization.k8s.io": "ClusterRole ClusterRoleBinding",
        "resource.k8s.io": "DeviceClass DeviceTaintRule ResourcePoolStatusRequest ResourceSlice",
        "scheduling.k8s.io": "PriorityClass",
        "storage.k8s.io": "CSIDriver CSINode StorageClass VolumeAttachment VolumeAttributesClass",
        "storagemigration.k8s.io": "StorageVersionMigration",
    }.items()
    for kind in kinds.split()
)
"""Group and kind of the built-in kinds without a namespace, Kubernetes 1.35 to 1.37."""
