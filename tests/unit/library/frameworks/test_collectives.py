"""Variables of JAX, XGBoost and Paddle in a Training. What they are for, `tests/launcher` shows with the real ones."""

import pytest

from stowplan.library.frameworks.api import Bounds, Launch
from stowplan.library.frameworks.registry import PLUGINS
from stowplan.library.ir.training import Peer
from tests.unit.library.frameworks.test_torch import HOSTS, INDEX, group, variables
from tests.unit.specs import platform


def own(launch: Launch, name: str) -> dict[str, str]:
    """The variables of the framework alone."""
    return {name: value for name, value in variables(launch, name).items() if not name.startswith("STOWPLAN_")}


def test_jax_has_one_process_in_each_pod_whatever_its_devices() -> None:
    assert own(Launch(2, 8), "jax") == {
        "JAX_COORDINATOR_ADDRESS": "llama-0.job:29500",
        "JAX_NUM_PROCESSES": "2",
        "JAX_PROCESS_ID": INDEX,
    }


def test_the_tracker_of_xgboost_counts_the_workers_of_all_pods() -> None:
    assert own(Launch(2, 4), "xgboost") == {
        "DMLC_TRACKER_URI": "llama-0.job",
        "DMLC_TRACKER_PORT": "29500",
        "DMLC_NUM_WORKER": "8",
        "DMLC_TASK_ID": INDEX,
    }


def test_paddle_has_the_variables_of_workers() -> None:
    assert own(Launch(2, 8), "paddle") == {
        "PADDLE_TRAINER_ID": INDEX,
        "POD_IP": "llama-$(PADDLE_TRAINER_ID).job",
        "TRAINING_ROLE": "TRAINER",
        "PADDLE_TRAINING_ROLE": "TRAINER",
        "TRAINER_PORTS_NUM": "20",
        "PADDLE_PORT": "36000",
        "PADDLE_TRAINERS_NUM": "2",
        "PADDLE_TRAINERS": "llama-0.job,llama-1.job",
        "PADDLE_TRAINER_ENDPOINTS": "llama-0.job:36000,llama-1.job:36000",
        "PADDLE_CURRENT_ENDPOINT": "llama-$(PADDLE_TRAINER_ID).job:36000",
        "PADDLE_NPROC_PER_NODE": "8",
        "PADDLE_RANK": INDEX,
    }


def test_elastic_paddle_launchers_meet_at_the_etcd_whatever_the_number_of_pods() -> None:
    etcd = platform(paddle={"elasticServers": ["etcd.ml:2379"]})
    for nodes in (2, 4):
        launch = Launch(nodes, 1, Bounds(2, 8))
        found = PLUGINS["paddle"](launch, etcd).environments(group(launch, "paddle"), HOSTS)["node"]
        assert {each["name"]: each["value"] for each in found.fixed if "value" in each} == {
            "POD_IP": "llama-$(PADDLE_POD_INDEX).job",
            "TRAINING_ROLE": "TRAINER",
            "PADDLE_TRAINING_ROLE": "TRAINER",
            "PADDLE_JOB_ID": "ml-data-$(STOWPLAN_RUN)",
            "PADDLE_NNODES": "2:8",
            "PADDLE_ELASTIC_TIMEOUT": "60",
            "PADDLE_MASTER": "etcd://Etcd.ml:2379",
            "PADDLE_NPROC_PER_NODE": "1",
        }


@pytest.mark.parametrize(("name", "alone"), [("jax", ()), ("xgboost", (Peer("node"),)), ("paddle", ())])
def test_pods_wait_for_the_addresses_of_all(name: str, alone: tuple[Peer, ...]) -> None:
    for launch, peers in ((Launch(2, 1), (Peer("node"),)), (Launch(1, 1), alone)):
        job = group(launch, name)
        assert job.framework.peers(job, job.roles[0]) == peers
        assert not job.framework.readmits(job)


def test_several_paddle_processes_of_one_pod_meet_by_its_name() -> None:
    job = group(Launch(1, 2), "paddle")
    assert job.framework.peers(job, job.roles[0]) == (Peer("node"),)


def test_elastic_paddle_without_an_etcd() -> None:
    (found,) = PLUGINS["paddle"](Launch(2, 1, Bounds(2, 8)), platform()).findings()
    assert (found.code, found.path) == ("SP434", ("spec", "elastic"))
    assert not PLUGINS["paddle"](Launch(2, 1), platform()).findings()
