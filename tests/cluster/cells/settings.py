"""Configuration and access rights."""

from typing import Any

from tests.cluster.client import Manifest
from tests.cluster.edits import METADATA, Row, changes, refused, stays
from tests.unit.compiler.checks.given import body, config_map, role, role_binding

_RBAC = "rbac.authorization.k8s.io/v1"
_RULE = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
_CLUSTER_ROLE = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "agent"}


def _secret(name: str, **fields: Any) -> Manifest:
    return body("Secret", name, data={"key": "YQ=="}, type="Opaque", **fields)


ROWS = {
    "ConfigMap": Row(
        config_map("loose", size="1"),
        [
            *METADATA,
            changes("binaryData", to={"a": "YQ=="}),
            changes("data.size", to="2"),
            changes("data.size"),
            changes("immutable", to=True),
        ],
    ),
    "ConfigMap, immutable": Row(
        {**config_map("fixed", size="1"), "immutable": True},
        [
            *METADATA,
            refused("binaryData", to={"a": "YQ=="}),
            refused("data.size", to="2"),
            refused("data.size"),
            refused("immutable", to=False),
            refused("immutable"),
        ],
    ),
    "Secret": Row(
        _secret("loose"),
        [
            *METADATA,
            changes("data.key", to="Yg=="),
            changes("immutable", to=True),
            refused("type", to="example.com/other"),
            stays("type"),
        ],
    ),
    "Secret, immutable": Row(
        _secret("fixed", immutable=True),
        [*METADATA, refused("data.key", to="Yg=="), refused("immutable"), refused("stringData", to={"key": "b"})],
    ),
    "ServiceAccount": Row(
        body("ServiceAccount", "agent", automountServiceAccountToken=False),
        [*METADATA, changes("automountServiceAccountToken", to=True), changes("imagePullSecrets", to=[{"name": "a"}])],
    ),
    "Role": Row(role(_RULE), [*METADATA, changes("rules.0.verbs", to=["list"]), changes("rules", to=[])]),
    "ClusterRole": Row(
        body("ClusterRole", "cells", api=_RBAC, namespace="", rules=[_RULE]),
        [*METADATA, changes("rules.0.verbs", to=["list"])],
    ),
    "RoleBinding": Row(
        role_binding(),
        [
            *METADATA,
            refused("roleRef.kind", to="ClusterRole"),
            refused("roleRef.name", to="other"),
            changes("subjects.0.name", to="other"),
            changes("subjects", to=[]),
        ],
    ),
    "ClusterRoleBinding": Row(
        body("ClusterRoleBinding", "cells", api=_RBAC, namespace="", roleRef=_CLUSTER_ROLE),
        [
            *METADATA,
            refused("roleRef.name", to="other"),
            changes("subjects", to=[{"kind": "ServiceAccount", "name": "a", "namespace": "ml"}]),
        ],
    ),
    "Namespace": Row(body("Namespace", "cells", namespace=""), [*METADATA]),
    "ResourceQuota": Row(
        body("ResourceQuota", "a", spec={"hard": {"pods": "100"}, "scopes": ["Terminating"]}),
        [
            *METADATA,
            changes("spec.hard.pods", to="200"),
            changes("spec.scopeSelector", to={"matchExpressions": [{"scopeName": "BestEffort", "operator": "Exists"}]}),
            refused("spec.scopes", to=["NotTerminating"]),
            refused("spec.scopes"),
        ],
    ),
    "LimitRange": Row(
        body("LimitRange", "a", spec={"limits": [{"type": "Pod", "max": {"cpu": "100"}}]}),
        [*METADATA, changes("spec.limits.0.max.cpu", to="200")],
    ),
}
