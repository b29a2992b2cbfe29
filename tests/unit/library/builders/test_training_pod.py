"""The user's template with the compiler's additions: no valid value of the user is lost."""

import copy
from dataclasses import replace
from typing import Any

import pytest

from stowplan.library.builders.pods import training_pod, wait_container
from stowplan.library.ir.training import DatasetMount, Environment, Framework, Hosts, Peer, Role, TrainingGroup
from stowplan.library.values.names import TrainingNames
from stowplan.schema.agents.wait_config import WaitConfig
from tests.unit.specs import ORIGIN, site

RUN = "abcdefgh"
NEAR = "preferredDuringSchedulingIgnoredDuringExecution"
MOUNT = DatasetMount("data", "/data", {NEAR: [{"weight": 100}]})


class Named(Framework):
    """A framework with one variable per pod and one common variable."""

    def environments(self, group: TrainingGroup, hosts: Any) -> dict[str, Environment]:  # noqa: ARG002
        rank: Any = {"name": "RANK", "value": "0"}
        return {each.name: Environment((rank,), ({"name": "SIZE", "value": str(each.size)},)) for each in group.roles}

    def peers(self, group: TrainingGroup, role: Role) -> tuple[Peer, ...]:  # noqa: ARG002
        return ()


def template(
    given: dict[str, Any], *, size: int = 2, mounts: tuple[DatasetMount, ...] = (), minimum: int | None = None,
    host_network: bool = False, decides: bool = True,
) -> Any:  # fmt: skip
    settled = training_pod.settled(given)
    worker = Role("worker", size, settled, decides=decides, ports=(36000, 36018), host_network=host_network)
    names = TrainingNames("train", "paddlejob")
    group = TrainingGroup(ORIGIN, names, Named(), (worker,), mounts, minimum=minimum)
    variables = group.framework.environments(group, {"worker": Hosts("train-", ".train")})["worker"]
    return training_pod.template(group, worker, variables, run=RUN, subdomain="train", restart="Never")


def pod(*, container: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "main", "image": "main:1", **(container or {})}], **fields}}


def first(found: Any) -> Any:
    return found["spec"]["containers"][0]


def test_the_given_template_is_not_changed() -> None:
    given = pod(container={"env": [{"name": "A"}]}, volumes=[{"name": "own"}])
    before = copy.deepcopy(given)
    template(given, mounts=(MOUNT,), host_network=True)
    assert given == before


def test_own_variables_come_first_so_that_others_may_refer_to_them() -> None:
    own = [{"name": "OUT", "value": "/out/$(RANK)"}]
    assert [each["name"] for each in first(template(pod(container={"env": own})))["env"]] == ["RANK", "SIZE", "OUT"]


def test_a_fixed_variable_wins_and_a_default_gives_way() -> None:
    own = [{"name": "RANK", "value": "9"}, {"name": "SIZE", "value": "9"}]
    found = first(template(pod(container={"env": own})))["env"]
    assert found == [{"name": "RANK", "value": "0"}, {"name": "SIZE", "value": "9"}]


def test_only_the_first_container_gets_the_variables_of_the_group() -> None:
    given = pod()
    given["spec"]["containers"].append({"name": "logs", "image": "logs:1"})
    assert template(given, mounts=(MOUNT,))["spec"]["containers"][1] == {"name": "logs", "image": "logs:1"}


def test_the_pod_waits_for_its_dataset_before_all_else() -> None:
    config = WaitConfig(dataset="data", path="/mnt/data", until="synced", timeout=60)
    waiting = replace(MOUNT, wait=wait_container.container("data", config, site()))
    given = pod(initContainers=[{"name": "fetch", "image": "fetch:1"}], volumes=[{"name": "own"}])
    spec = template(given, mounts=(waiting,))["spec"]
    ours, fetch = spec["initContainers"]
    assert (ours["name"], fetch) == ("wait-dataset", {"name": "fetch", "image": "fetch:1"})
    assert ours["args"] == ["--dataset", "data", "--path", "/mnt/data", "--until", "synced", "--timeout", "60"]
    (mount,) = ours["volumeMounts"]
    assert (mount["name"], mount["readOnly"]) in [(each["name"], True) for each in spec["volumes"]]
    assert first({"spec": spec})["image"] == "main:1"


def test_a_pod_without_a_wait_has_no_init_containers() -> None:
    assert "initContainers" not in template(pod(), mounts=(MOUNT,))["spec"]


@pytest.mark.parametrize("place", ["containers", "initContainers"])
@pytest.mark.parametrize(
    ("field", "given", "left"),
    [
        ("env", [{"name": "A", "value": "1"}, {"name": "B"}, {"name": "A", "value": "2"}],
         [{"name": "A", "value": "2"}, {"name": "B"}]),
        ("ports", [{"containerPort": 80, "name": "a"}, {"containerPort": 80, "protocol": "TCP"}],
         [{"containerPort": 80, "protocol": "TCP"}]),
        ("ports", [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}],
         [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}]),
        ("volumeMounts", [{"mountPath": "/a", "name": "x"}, {"mountPath": "/a", "name": "y"}],
         [{"mountPath": "/a", "name": "y"}]),
    ],
)  # fmt: skip
def test_of_entries_with_one_key_the_last_is_kept(place: str, field: str, given: Any, left: Any) -> None:
    spec = pod()["spec"]
    spec.setdefault(place, [{"name": "init", "image": "init:1"}])
    spec[place].append({"name": "second", "image": "second:1", field: given})
    assert template({"spec": spec})["spec"][place][1][field] == left


def test_a_dataset_is_mounted_in_addition_to_the_users_volumes() -> None:
    own = {"volumeMounts": [{"mountPath": "/own", "name": "own"}]}
    found = template(pod(container=own, volumes=[{"name": "own", "emptyDir": {}}]), mounts=(MOUNT,))
    assert [each["name"] for each in found["spec"]["volumes"]] == ["own", "data"]
    assert [each["mountPath"] for each in first(found)["volumeMounts"]] == ["/own", "/data"]


def test_terms_of_affinity_are_added() -> None:
    own = {"nodeAffinity": {"x": 1}, "podAffinity": {NEAR: [{"weight": 1}], "y": [2]}}
    assert template(pod(affinity=own), mounts=(MOUNT,))["spec"]["affinity"] == {
        "nodeAffinity": {"x": 1},
        "podAffinity": {NEAR: [{"weight": 1}, {"weight": 100}], "y": [2]},
    }


HOST = "kubernetes.io/hostname"


@pytest.mark.parametrize(
    ("key", "wish", "count"),
    [(HOST, "ScheduleAnyway", 1), (HOST, "DoNotSchedule", 2), ("zone", "ScheduleAnyway", 2)],
)
def test_no_two_spread_constraints_of_one_kind(key: str, wish: str, count: int) -> None:
    """The API server refuses two constraints with the same topology key and `whenUnsatisfiable`."""
    own = [{"maxSkew": 3, "topologyKey": key, "whenUnsatisfiable": wish}]
    found = template(pod(topologySpreadConstraints=own), mounts=(MOUNT,))["spec"]["topologySpreadConstraints"]
    assert found[0] == own[0]
    assert len(found) == count


@pytest.mark.parametrize(("size", "minimum", "spread"), [(1, None, False), (2, None, True), (1, 1, True), (2, 1, True)])
def test_pods_are_spread_where_there_may_be_several(size: int, minimum: int | None, *, spread: bool) -> None:
    """Also the only pod of an elastic job: its template must not change when others are added."""
    found = template(pod(), size=size, mounts=(MOUNT,), minimum=minimum)["spec"]
    assert ("topologySpreadConstraints" in found) == spread


def test_without_a_dataset_pods_are_placed_as_the_template_says() -> None:
    assert not {"affinity", "topologySpreadConstraints"} & set(template(pod())["spec"])


@pytest.mark.parametrize(
    ("given", "policy"),
    [
        ({}, "ClusterFirstWithHostNet"),
        ({"dnsPolicy": "ClusterFirst"}, "ClusterFirstWithHostNet"),
        ({"dnsPolicy": "Default"}, "Default"),
        ({"dnsPolicy": "None", "dnsConfig": {}}, "None"),
    ],
)
def test_names_are_resolved_on_the_host_network(given: dict[str, Any], policy: str) -> None:
    found = template(pod(**given), host_network=True)["spec"]
    assert (found["hostNetwork"], found["dnsPolicy"]) == (True, policy)


def test_ports_are_declared_once_on_the_host_network() -> None:
    own = {"ports": [{"containerPort": 36000, "name": "train"}, {"containerPort": 36018, "protocol": "UDP"}]}
    assert first(template(pod(container=own), host_network=True))["ports"] == [
        *own["ports"],
        {"containerPort": 36018, "hostPort": 36018, "protocol": "TCP"},
    ]


def test_without_the_host_network_dns_policy_and_ports_are_unchanged() -> None:
    found = template(pod(dnsPolicy="ClusterFirst"))
    assert (found["spec"].get("hostNetwork"), found["spec"]["dnsPolicy"]) == (None, "ClusterFirst")
    assert "ports" not in first(found)


def test_labels_by_which_pods_are_found_are_not_the_users_to_set() -> None:
    own = {"team": "a", "app.kubernetes.io/name": "mine", "stowplan.dev/run-hash": "x", "stowplan.dev/role": "x"}
    given = {"metadata": {"labels": own, "annotations": {"a": "b"}, "creationTimestamp": "now"}, **pod()}
    metadata = template(given)["metadata"]
    assert metadata["labels"] | {"team": "a", "app.kubernetes.io/name": "mine"} == metadata["labels"]
    assert (metadata["labels"]["stowplan.dev/run-hash"], metadata["labels"]["stowplan.dev/role"]) == (RUN, "worker")
    assert metadata["annotations"] == {"a": "b"}
    assert "creationTimestamp" not in metadata


GRACE = "terminationGracePeriodSeconds"


def test_a_helper_ends_soon_and_a_decider_as_kubernetes_has_it() -> None:
    """Servers of Paddle ignore SIGTERM, so each would take the half minute that is the default of Kubernetes."""
    assert template(pod(), decides=False)["spec"][GRACE] == 5
    assert GRACE not in template(pod())["spec"]


def test_a_helper_has_the_time_to_end_that_its_user_gives() -> None:
    assert template(pod(terminationGracePeriodSeconds=60), decides=False)["spec"][GRACE] == 60
    hook = {"lifecycle": {"preStop": {"exec": {"command": ["save"]}}}}
    assert GRACE not in template(pod(container=hook), decides=False)["spec"]
