"""The smallest object of each kind, in full."""

from stowplan.library.builders.config_map import config_map
from stowplan.library.builders.metadata import Head, metadata
from stowplan.library.builders.namespace import namespace
from stowplan.library.builders.network_policy import network_policy
from stowplan.library.builders.pods import affinity
from stowplan.library.builders.rbac import role_binding, service_account, status_role
from stowplan.library.ir.data import Origin
from stowplan.library.values.labels import of_spec
from stowplan.schema.agents.agent_config import StatusTarget
from stowplan.schema.agents.cache_config import RmrConfig
from stowplan.schema.platform.network import EgressRule, Network
from tests.unit.specs import ORIGIN

SOURCE = {"stowplan.dev/source": "specs/data.yaml"}
EARLY = {"argocd.argoproj.io/sync-wave": "-1"}


def test_metadata_of_workloads_has_no_wave() -> None:
    assert metadata("Job", "work", Head(ORIGIN, "sync")) == {
        "name": "work",
        "labels": {"app.kubernetes.io/component": "sync"},
        "annotations": SOURCE,
    }


def test_metadata_without_a_file_and_a_namespace() -> None:
    assert metadata("PersistentVolume", "work", Head(Origin(ORIGIN.spec), "volume", namespace="")) == {
        "name": "work",
        "labels": {"app.kubernetes.io/component": "volume"},
    }


def test_a_long_name_fits_its_label() -> None:
    assert len(of_spec(type(ORIGIN.spec)("SampleJob", "ml", "a" * 100))["stowplan.dev/name"]) == 63


def test_service_account_does_not_mount_its_token() -> None:
    made = service_account("data", ORIGIN, namespace="storage").body
    assert (made["metadata"]["namespace"], made["automountServiceAccountToken"]) == ("storage", False)


def test_role_is_for_one_resource() -> None:
    named = {"apiGroups": ["batch.paddlepaddle.org"], "resourceNames": ["data"]}
    assert status_role("data", ORIGIN).body["rules"] == [
        {**named, "resources": ["samplesets"], "verbs": ["get"]},
        {**named, "resources": ["samplesets/status"], "verbs": ["get", "patch"]},
    ]


def test_role_binding_sorts_its_accounts() -> None:
    made = role_binding("data", Head(ORIGIN, "access"), [("storage", "data"), ("ml", "data")]).body
    assert made["roleRef"] == {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "data"}
    assert made["subjects"] == [
        {"kind": "ServiceAccount", "name": "data", "namespace": "ml"},
        {"kind": "ServiceAccount", "name": "data", "namespace": "storage"},
    ]


def test_network_policy_allows_no_ingress() -> None:
    assert network_policy("data", ORIGIN, namespace="ml", network=Network()).body["spec"] == {
        "podSelector": {"matchLabels": {"stowplan.dev/kind": "SampleSet", "stowplan.dev/name": "data"}},
        "policyTypes": ["Ingress"],
    }


def test_network_policy_allows_listed_egress() -> None:
    rules = [EgressRule(cidr="10.0.0.0/8", ports=[53], protocol="UDP"), EgressRule(cidr="192.0.2.1/32")]
    spec = network_policy("data", ORIGIN, namespace="ml", network=Network(egress=rules)).body["spec"]
    assert spec["policyTypes"] == ["Ingress", "Egress"]
    assert spec["egress"] == [
        {"to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}], "ports": [{"port": 53, "protocol": "UDP"}]},
        {"to": [{"ipBlock": {"cidr": "192.0.2.1/32"}}]},
    ]


def test_network_policy_without_link_local_addresses() -> None:
    spec = network_policy("data", ORIGIN, namespace="ml", network=Network(denyLinkLocal=True)).body["spec"]
    assert spec["policyTypes"] == ["Ingress", "Egress"]
    excepted = ["fd00:ec2::23/128", "fd00:ec2::254/128", "fe80::/10"]
    dns = [{"port": 53, "protocol": "TCP"}, {"port": 53, "protocol": "UDP"}]
    assert spec["egress"] == [
        {"to": [{"namespaceSelector": {}}]},
        {"to": [{"ipBlock": {"cidr": "0.0.0.0/0", "except": ["169.254.0.0/16"]}}]},
        {"to": [{"ipBlock": {"cidr": "::/0", "except": excepted}}]},
        {"to": [{"ipBlock": {"cidr": "169.254.0.0/16"}}], "ports": dns},
    ]


def test_network_policy_allows_listed_egress_except_link_local_addresses() -> None:
    rules = [
        EgressRule(cidr="0.0.0.0/0", ports=[443]),
        EgressRule(cidr="10.0.0.0/8"),
        EgressRule(cidr="fd00::/8"),
        EgressRule(cidr="169.254.20.10/32", ports=[53], protocol="UDP"),
    ]
    spec = network_policy("data", ORIGIN, namespace="ml", network=Network(egress=rules, denyLinkLocal=True)).body[
        "spec"
    ]
    assert [each["to"][0]["ipBlock"] for each in spec["egress"]] == [
        {"cidr": "0.0.0.0/0", "except": ["169.254.0.0/16"]},
        {"cidr": "10.0.0.0/8"},
        {"cidr": "fd00::/8", "except": ["fd00:ec2::23/128", "fd00:ec2::254/128"]},
        {"cidr": "169.254.20.10/32"},
    ]


def test_namespace_survives_its_application() -> None:
    assert namespace("ml", "baseline").body == {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": "ml",
            "labels": {"pod-security.kubernetes.io/enforce": "baseline"},
            "annotations": {
                "argocd.argoproj.io/compare-options": "IgnoreExtraneous",
                "argocd.argoproj.io/sync-options": "Prune=false,Delete=false",
                **EARLY,
            },
        },
    }


def _config(path: str) -> RmrConfig:
    target = StatusTarget(kind="SampleJob", namespace="ml", name="data")
    return RmrConfig(target=target, reportPhase=True, dataset="data", mountPath="/mnt/data", paths=[path])


def test_config_map_is_named_by_its_content() -> None:
    made = config_map("data", Head(ORIGIN, "rmr"), _config("a"), run=True)
    again = config_map("data", Head(ORIGIN, "rmr"), _config("a"), run=True)
    other = config_map("data", Head(ORIGIN, "rmr"), _config("b"), run=True)
    assert made.name == again.name != other.name
    assert (made.stem, made.run, made.body["immutable"]) == ("data", True, True)


def test_config_map_contains_the_configuration_without_missing_values() -> None:
    made = config_map("data", Head(ORIGIN, "rmr"), _config("a"), run=True)
    assert RmrConfig.model_validate_json(made.body["data"]["config.json"]) == _config("a")
    assert "null" not in made.body["data"]["config.json"]


def test_affinity() -> None:
    term = affinity.same_node({"a": "b"})
    assert term == {"labelSelector": {"matchLabels": {"a": "b"}}, "topologyKey": "kubernetes.io/hostname"}
    assert affinity.required(term) == {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    assert affinity.preferred(term) == {
        "preferredDuringSchedulingIgnoredDuringExecution": [{"podAffinityTerm": term, "weight": 100}]
    }
