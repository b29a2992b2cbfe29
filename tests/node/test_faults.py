"""Faults of real nodes: status and Argo CD's health tell the truth a minute after the API shows the cause."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.agents.await_process import consistently
from tests.cluster.client import Manifest, ref, wait_for
from tests.node import images
from tests.node.delivery import Delivery, delivering, needed
from tests.node.machine import Machine
from tests.node.place import Place

NAMESPACE = "faults"
SECONDS = 60
TRIES = 40
"""Seconds in which the kubelet tries again to pull an image."""
PLATFORM = {
    "apiVersion": "stowplan.dev/v1alpha1",
    "kind": "Platform",
    "images": {"registry": "registry.example.com/ml", "tag": "0.1.0"},
    "argocd": {"name": "faults"},
}


@pytest.fixture(scope="module")
def delivery(with_argocd: None, place: Place, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Delivery]:
    """Argo CD and an empty repository; its agents' images are on the nodes."""
    programs = needed()
    folder = tmp_path_factory.mktemp("delivery")
    images.load(place, images.names(PLATFORM), folder / "images")
    place.start_csi("csi.juicefs.com")
    place.cluster.namespace(NAMESPACE, "baseline")
    with delivering(place, programs, PLATFORM, folder / "argocd") as made:
        made.commit(job("first", "pass"))
        yield made


def job(name: str, script: str, **container: Any) -> Manifest:
    """A PaddleJob with one worker, which runs Python."""
    main = {"name": "main", "image": images.PYTHON, "command": ["python3", "-c", script], **container}
    worker = {"replicas": 1, "template": {"spec": {"containers": [main]}}}
    return {**ref("batch.paddlepaddle.org/v1", "PaddleJob", name, NAMESPACE), "spec": {"worker": worker}}


def tells(delivery: Delivery, spec: Manifest, health: str, **fields: Any) -> None:
    """Within a minute the status has these fields, and Argo CD this health."""
    delivery.reaches(spec, SECONDS, **fields)
    wait_for(lambda: delivery.health(spec) == health, SECONDS, what=f"{health} of {spec['metadata']['name']}")


def node_of(delivery: Delivery, name: str) -> Machine:
    """Where the only pod of a spec runs that is no gate's."""
    (pod,) = delivery.pods(f"stowplan.dev/name={name},stowplan.dev/role=worker")
    return next(each for each in delivery.place.nodes if each.name == pod["spec"]["nodeName"])


def test_job_without_a_fault_ends_well(delivery: Delivery) -> None:
    tells(delivery, job("first", ""), "Healthy", phase="Completed")


def test_container_that_is_killed_for_its_memory(delivery: Delivery) -> None:
    spec = job("oom", "bytearray(1 << 30)", resources={"limits": {"memory": "64Mi"}})
    delivery.commit(spec)
    tells(delivery, spec, "Degraded", phase="Failed", Failed="OOMKilled")


def test_image_that_does_not_exist(delivery: Delivery) -> None:
    spec = job("image", "pass", image="registry.example.com/ml/none:1")
    delivery.commit(spec)
    tells(delivery, spec, "Degraded", Stalled="ImagePullFailed")

    def stalled() -> bool:
        conditions = delivery.live(spec)["status"]["conditions"]
        return ("Stalled", "ImagePullFailed") in {(each["type"], each["reason"]) for each in conditions}

    assert consistently(stalled, TRIES)


def test_secret_that_is_missing(delivery: Delivery) -> None:
    key = {"name": "none", "key": "token"}
    spec = job("secret", "pass", env=[{"name": "TOKEN", "valueFrom": {"secretKeyRef": key}}])
    delivery.commit(spec)
    tells(delivery, spec, "Degraded", Stalled="ContainerConfigError")
    delivery.place.cluster.admin.create({**ref("v1", "Secret", "none", NAMESPACE), "stringData": {"token": "t"}})
    tells(delivery, spec, "Healthy", phase="Completed")


def test_volume_that_never_mounts(delivery: Delivery) -> None:
    """For want of its Secret, as the CSI driver's kubelet says."""
    spec = {
        **ref("batch.paddlepaddle.org/v1alpha1", "SampleSet", "volume", NAMESPACE),
        "spec": {"partitions": 1, "noSync": True, "secretRef": {"name": "absent"}},
    }
    delivery.commit(spec)
    tells(delivery, spec, "Degraded", Stalled="FailedMount")


def test_reporter_that_is_killed_goes_on(delivery: Delivery) -> None:
    spec = job("reported", "import time; time.sleep(5)")
    delivery.commit(spec)
    assert sum(node.kill("stowplan.agents.reporter") for node in delivery.place.nodes) == 1
    tells(delivery, spec, "Healthy", phase="Completed")


def test_job_that_ends_while_the_api_server_restarts(delivery: Delivery) -> None:
    spec = job("restarted", "import time; time.sleep(8)")
    delivery.commit(spec)
    delivery.reaches(spec, SECONDS, phase="Running")
    delivery.place.cluster.restart_server()
    tells(delivery, spec, "Healthy", phase="Completed")


def test_node_that_is_lost_and_comes_back(delivery: Delivery) -> None:
    """The job goes on meanwhile, and ends well."""
    spec = job("lost", "import time; time.sleep(100)")
    delivery.commit(spec)
    delivery.reaches(spec, SECONDS, phase="Running")
    node = node_of(delivery, "lost")
    node.stop_kubelet()
    wait_for(lambda: not node.is_ready(), SECONDS, what="the loss")
    tells(delivery, spec, "Progressing", Complete="NodeLost")
    node.start_kubelet()
    wait_for(node.is_ready, SECONDS, what="its return")
    delivery.reaches(spec, 2 * SECONDS, phase="Completed")
