"""Variables of PyTorch in a Training, and those that all frameworks have."""

from typing import Any

from stowplan.library.frameworks.api import Bounds, Launch
from stowplan.library.frameworks.neutral import Neutral, dataset_variable
from stowplan.library.frameworks.registry import PLUGINS
from stowplan.library.ir.training import Hosts, Peer, Role, TrainingGroup
from stowplan.library.values.names import TrainingNames
from tests.unit.specs import ORIGIN, platform

HOSTS = {"node": Hosts("llama-", ".job")}


def group(launch: Launch, name: str = "torch", datasets: dict[str, str] | None = None) -> TrainingGroup:
    framework = Neutral(PLUGINS[name](launch, platform()), launch, datasets or {})
    template = {"spec": {"containers": [{"name": "trainer"}]}}
    role = Role("node", launch.nodes, template, decides=True, ports=PLUGINS[name](launch, platform()).ports)
    return TrainingGroup(ORIGIN, TrainingNames("llama", "training"), framework, (role,))


def variables(launch: Launch, name: str = "torch", datasets: dict[str, str] | None = None) -> dict[str, Any]:
    """The variables by name; of those from a field of the pod, the field."""
    job = group(launch, name, datasets)
    found = job.framework.environments(job, HOSTS)["node"]
    assert not found.defaults
    fields = {each["name"]: (each.get("valueFrom") or {}).get("fieldRef", {}).get("fieldPath") for each in found.fixed}
    return {each["name"]: each.get("value", fields[each["name"]]) for each in found.fixed}


INDEX = "metadata.annotations['batch.kubernetes.io/job-completion-index']"


def test_torchrun_on_two_nodes_with_eight_devices_each() -> None:
    found = variables(Launch(2, 8))
    assert {name: value for name, value in found.items() if name.startswith("PET_")} == {
        "PET_NNODES": "2",
        "PET_NPROC_PER_NODE": "8",
        "PET_NODE_RANK": INDEX,
        "PET_MASTER_ADDR": "llama-0.job",
        "PET_MASTER_PORT": "29500",
    }
    assert (found["MASTER_ADDR"], found["NODE_RANK"]) == ("llama-0.job", INDEX)
    assert not {"RANK", "WORLD_SIZE"} & set(found)


def test_a_program_without_a_launcher_finds_its_rank() -> None:
    found = variables(Launch(3, 1))
    assert (found["WORLD_SIZE"], found["RANK"]) == ("3", INDEX)
    assert (found["LOCAL_RANK"], found["LOCAL_WORLD_SIZE"]) == ("0", "1")


def test_elastic_launchers_meet_at_the_first_pod_whatever_the_number_of_pods() -> None:
    found, larger = (variables(Launch(nodes, 8, Bounds(2, 8))) for nodes in (2, 4))
    assert found == larger
    assert {name: value for name, value in found.items() if name.startswith("PET_")} == {
        "PET_NNODES": "2:8",
        "PET_NPROC_PER_NODE": "8",
        "PET_RDZV_BACKEND": "c10d",
        "PET_RDZV_ENDPOINT": "llama-0.job:29400",
        "PET_RDZV_ID": "$(STOWPLAN_RUN)",
        "PET_MAX_RESTARTS": "6",
    }
    assert found["TORCH_DISABLE_SHARE_RDZV_TCP_STORE"] == "1"


def test_pods_of_fixed_size_wait_for_all_and_elastic_ones_for_the_first() -> None:
    for launch, peers in (
        (Launch(2, 1), (Peer("node"),)),
        (Launch(1, 1), ()),
        (Launch(2, 1, Bounds(1, 4)), (Peer("node", first=1),)),
    ):
        job = group(launch)
        assert job.framework.peers(job, job.roles[0]) == peers


def test_variables_that_every_framework_has() -> None:
    found = variables(Launch(2, 1), "none", {"c4-en": "/data/c4"})
    assert found == {
        "STOWPLAN_RUN": "metadata.labels['stowplan.dev/run-hash']",
        "STOWPLAN_ATTEMPT": "0",
        "STOWPLAN_NODE_RANK": INDEX,
        "STOWPLAN_NUM_NODES": "2",
        "STOWPLAN_HOSTS": "llama-0.job,llama-1.job",
        "STOWPLAN_DATASET_C4_EN": "/data/c4",
    }
    assert dataset_variable("c4.en") == dataset_variable("c4-en")


def test_users_may_set_no_variable_that_a_framework_writes() -> None:
    launches = (Launch(2, 1), Launch(2, 8), Launch(2, 1, Bounds(1, 4)))
    for name, plugin in PLUGINS.items():
        for launch in launches:
            own = {each for each in variables(launch, name) if not each.startswith("STOWPLAN_")}
            assert own <= plugin.variables
