"""The objects of the cache pods."""

from stowplan.library.drivers.juicefs import runtime
from stowplan.library.manifest import Manifest
from tests.unit.specs import dataset, site

CHOSEN = {
    "app.kubernetes.io/component": "runtime",
    "stowplan.dev/kind": "SampleSet",
    "stowplan.dev/name": "data",
}


def made(partitions: int = 3) -> dict[str, Manifest]:
    return {each.kind: each for each in runtime.manifests(dataset(partitions=partitions), site(), "account")}


def test_the_service_has_no_port() -> None:
    assert made()["Service"].body["spec"] == {"clusterIP": "None", "selector": CHOSEN}


def test_a_pod_on_each_cache_node() -> None:
    spec = dict(made()["StatefulSet"].body["spec"])
    assert spec.pop("template")["metadata"]["labels"].items() >= CHOSEN.items()
    assert spec == {
        "podManagementPolicy": "Parallel",
        "replicas": 3,
        "selector": {"matchLabels": CHOSEN},
        "serviceName": made()["Service"].name,
        "updateStrategy": {"type": "RollingUpdate"},
    }


def test_the_budget_is_in_the_last_wave() -> None:
    budget = made()["PodDisruptionBudget"].body
    assert (budget["apiVersion"], budget["metadata"].get("annotations")) == ("policy/v1", None)
    assert budget["spec"] == {
        "maxUnavailable": 1,
        "selector": {"matchLabels": CHOSEN},
        "unhealthyPodEvictionPolicy": "AlwaysAllow",
    }
