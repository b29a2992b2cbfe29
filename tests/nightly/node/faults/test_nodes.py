"""Faults of nodes and of the API server: jobs go on, and what is told of them is true."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from tests.cluster.client import wait_for
from tests.nightly.node import harm
from tests.nightly.node.delivery import Delivery
from tests.nightly.node.faults import faulty
from tests.nightly.node.faults.faulty import SECONDS, job, tells
from tests.nightly.node.machine import Machine

SAVES = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: (time.sleep(25), sys.exit(1)))
time.sleep(40)
"""
"""Takes almost all of its grace period to end."""
WRITES = """
import time
with open("/scratch/data", "wb") as file:
    file.write(bytes(128 << 20))
time.sleep(40)
"""
UNTIL_THE_SERVER_IS_GONE = """
import os, socket, time
address = os.environ["KUBERNETES_SERVICE_HOST"], int(os.environ["KUBERNETES_SERVICE_PORT"])
while True:
    try:
        socket.create_connection(address, 1).close()
    except OSError:
        break
    time.sleep(0.1)
"""
MIB = 1 << 20
LEFT = 40 * MIB
"""Of the disk, which is less than the kubelet wants."""


def of_reporter(delivery: Delivery) -> Machine:
    """Where the reporter runs."""
    (pod,) = delivery.pods("app.kubernetes.io/component=reporter")
    return faulty.node(delivery, pod)


@contextmanager
def beside_reporter(delivery: Delivery) -> Iterator[Machine]:
    """While the block lasts, pods are scheduled to the node of the reporter alone, which it gives."""
    node = of_reporter(delivery)
    others = [each.name for each in delivery.place.nodes if each != node]
    delivery.place.kubectl("cordon", *others)
    try:
        yield node
    finally:
        delivery.place.kubectl("uncordon", *others)


def worker_of(delivery: Delivery, name: str) -> Machine | None:
    """Where the worker of a job runs; None if it does not run now."""
    pods = delivery.pods(f"stowplan.dev/name={name},stowplan.dev/role=worker")
    running = [each for each in pods if each["status"].get("phase") == "Running"]
    return faulty.node(delivery, running[0]) if len(running) == 1 else None


def await_elsewhere(delivery: Delivery, name: str, node: Machine) -> None:
    """Until the worker of a job runs on another node."""
    wait_for(lambda: worker_of(delivery, name) not in (None, node), SECONDS, what=f"{name} on another node")


def test_job_that_ends_while_the_api_server_restarts(delivery: Delivery) -> None:
    spec = job("restarted", UNTIL_THE_SERVER_IS_GONE)
    delivery.commit(spec)
    delivery.reaches(spec, SECONDS, phase="Running")
    delivery.place.cluster.restart_server()
    tells(delivery, spec, "Healthy", phase="Completed")


def test_node_that_is_drained(delivery: Delivery) -> None:
    """The reporter is drained too. The job starts again on the other node, and ends well."""
    spec = job("drained", SAVES)
    with beside_reporter(delivery) as node:
        delivery.commit(spec)
        delivery.reaches(spec, SECONDS, phase="Running")
    words = ("drain", node.name, "--delete-emptydir-data", f"--timeout={2 * SECONDS}s")
    try:
        with ThreadPoolExecutor() as pool:
            drained = pool.submit(delivery.place.kubectl, *words)
            tells(delivery, spec, "Progressing", Complete="Evicted")
            drained.result()
        await_elsewhere(delivery, "drained", node)
        tells(delivery, spec, "Progressing", phase="Running", Complete="Running")
        tells(delivery, spec, "Healthy", phase="Completed")
    finally:
        delivery.place.kubectl("uncordon", node.name)


def test_disk_that_is_full(delivery: Delivery) -> None:
    """The kubelet's file system, which is small, is filled from outside. The pod that has written most is evicted."""
    scratch = {"name": "scratch", "emptyDir": {}}
    mounts = [{"name": "scratch", "mountPath": "/scratch"}]
    spec = job("full", WRITES, {"volumes": [scratch]}, volumeMounts=mounts)
    delivery.commit(spec)
    delivery.reaches(spec, SECONDS, phase="Running")
    node = wait_for(lambda: worker_of(delivery, "full"), SECONDS, what="the worker")
    wait_for(lambda: harm.used(node) > 128 * MIB, SECONDS, what="the data of the job")
    with harm.filled(node, LEFT):
        tells(delivery, spec, "Progressing", Complete="Evicted")
        await_elsewhere(delivery, "full", node)
    tells(delivery, spec, "Healthy", phase="Completed")
    wait_for(node.is_ready, 2 * SECONDS, what="the end of the pressure")


def test_node_that_is_lost_and_comes_back(delivery: Delivery) -> None:
    """Its kubelet alone has ended: the job goes on meanwhile, and ends well."""
    spec = job("lost", "import time; time.sleep(100)")
    delivery.commit(spec)
    delivery.reaches(spec, SECONDS, phase="Running")
    node = wait_for(lambda: worker_of(delivery, "lost"), SECONDS, what="the worker")
    node.stop_kubelet()
    wait_for(lambda: not node.is_ready(), SECONDS, what="the loss")
    tells(delivery, spec, "Progressing", Complete="NodeLost")
    node.start_kubelet()
    wait_for(node.is_ready, SECONDS, what="its return")
    delivery.reaches(spec, 2 * SECONDS, phase="Completed")


def test_node_that_is_cut_off_with_the_reporter(delivery: Delivery) -> None:
    """Everything on the node goes on, but nobody hears of it; the reporter starts again on the other node."""
    spec = job("cut", "import time; time.sleep(150)")
    with beside_reporter(delivery) as node:
        delivery.commit(spec)
        delivery.reaches(spec, SECONDS, phase="Running")
    with harm.cut_off(node):
        wait_for(lambda: not node.is_ready(), 2 * SECONDS, what="the loss")
        tells(delivery, spec, "Progressing", Complete="NodeLost")
    wait_for(node.is_ready, 2 * SECONDS, what="its return")
    delivery.tells(spec, "Healthy", 3 * SECONDS, phase="Completed")
