"""Resource requests of pods, summed as by Kubernetes."""

from typing import Any

import pytest

from stowplan.library.engines.gang.pod_group import total


def container(requests: Any = None, limits: Any = None, **fields: Any) -> dict[str, Any]:
    given = {key: value for key, value in (("requests", requests), ("limits", limits)) if value is not None}
    return {"name": "c", "resources": given, **fields}


ONE, TWO = {"cpu": "1"}, {"cpu": "2"}
SIDECAR = {"restartPolicy": "Always"}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"containers": [{"name": "c"}]}, {}),
        ({"containers": [container(ONE), container(TWO)]}, {"cpu": "3"}),
        ({"containers": [container({"cpu": "500m", "memory": "1Gi"}), container({"memory": "512Mi"})]},
         {"cpu": "500m", "memory": "1536Mi"}),
        ({"containers": [container(limits={"nvidia.com/gpu": 4})]}, {"nvidia.com/gpu": "4"}),
        ({"containers": [container(ONE, {"cpu": "4", "memory": "1Gi"})]}, {"cpu": "1", "memory": "1Gi"}),
        ({"containers": [container(ONE)], "initContainers": [container({"cpu": "3"})]}, {"cpu": "3"}),
        ({"containers": [container(TWO)], "initContainers": [container(ONE)]}, {"cpu": "2"}),
        ({"containers": [container(ONE)], "initContainers": [container(ONE, **SIDECAR)]}, {"cpu": "2"}),
        ({"containers": [container(ONE)], "initContainers": [container(ONE, **SIDECAR), container({"cpu": "3"})]},
         {"cpu": "4"}),
        ({"containers": [container(ONE)], "initContainers": [container({"cpu": "3"}), container(ONE, **SIDECAR)]},
         {"cpu": "3"}),
        ({"containers": [container({"cpu": "much", "memory": "1Gi"})]}, {"memory": "1Gi"}),
        ({"containers": [container({"cpu": 0})]}, {}),
    ],
)  # fmt: skip
def test_requests_of_a_pod(spec: dict[str, Any], expected: dict[str, str]) -> None:
    assert total([(1, spec)]) == expected


def test_pods_add_up_sorted_by_resource() -> None:
    worker = {"containers": [container({"memory": "1Gi", "cpu": "1500m", "nvidia.com/gpu": "1"})]}
    server = {"containers": [container({"cpu": "100m", "memory": "0.5Gi"})]}
    found = total([(3, worker), (2, server), (0, worker)])
    assert list(found.items()) == [("cpu", "4700m"), ("memory", "4Gi"), ("nvidia.com/gpu", "3")]
