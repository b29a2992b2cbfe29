"""Faults of single pods and of what they mount, on real nodes."""

import signal

from tests.agents.await_process import consistently
from tests.cluster.client import ref
from tests.nightly.node.delivery import Delivery, secret
from tests.nightly.node.faults import faulty
from tests.nightly.node.faults.faulty import NAMESPACE, job, tells
from tests.nightly.node.harm import signal_clients
from tests.nightly.node.stores import Stores

TRIES = 40
"""Seconds in which the kubelet tries again to pull an image."""


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
    delivery.place.cluster.admin.create(secret(NAMESPACE, "none", {"token": "t"}))
    tells(delivery, spec, "Healthy", phase="Completed")


def test_volume_that_never_mounts(delivery: Delivery) -> None:
    """For want of its Secret, as the CSI driver's kubelet says."""
    spec = {
        **ref("batch.paddlepaddle.org/v1alpha1", "SampleSet", "volume", NAMESPACE),
        "spec": {"partitions": 1, "noSync": True, "secretRef": {"name": "absent"}},
    }
    delivery.commit(spec)
    tells(delivery, spec, "Degraded", Stalled="FailedMount")


def test_mount_that_hangs_and_goes_on(delivery: Delivery, servers: Stores) -> None:
    """The client of the volume is stopped: whoever reads waits, and no error says so."""
    delivery.place.cluster.admin.create(secret(NAMESPACE, "hangs", servers.volume(3)))
    spec = {
        **ref("batch.paddlepaddle.org/v1alpha1", "SampleSet", "hangs", NAMESPACE),
        "spec": {"partitions": 1, "noSync": True, "secretRef": {"name": "hangs"}},
    }
    delivery.commit(spec)
    delivery.tells(spec, "Healthy", 3 * faulty.SECONDS, phase="Ready")
    nodes, volume = delivery.place.nodes, f"{NAMESPACE}.hangs"
    assert signal_clients(nodes, volume, signal.SIGSTOP) == 1
    try:
        tells(delivery, spec, "Progressing", phase="PartialReady", Ready="MountHung")
    finally:
        signal_clients(nodes, volume, signal.SIGCONT)
    tells(delivery, spec, "Healthy", phase="Ready")
