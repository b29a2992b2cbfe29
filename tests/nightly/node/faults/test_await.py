"""Await that is killed: with it ends its pod, and the server that the others of the group rely on."""

from pathlib import Path

from stowplan.schema.agents.await_config import HELPER_PREFIX
from tests.cluster.client import ref, wait_for
from tests.nightly.node import images
from tests.nightly.node.delivery import Delivery
from tests.nightly.node.faults.faulty import NAMESPACE, SECONDS, job, tells
from tests.nightly.node.harm import strike

MASTER = """\
#!/usr/bin/python3
import http.server, time
born = str(time.time()).encode()
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(born)
http.server.HTTPServer(("", 8080), Handler).serve_forever()
"""
"""In the place of Paddle's; it tells when it was started."""
TRAINER = """\
import os, time, urllib.request
masters = set()
while len(masters) < 2:
    try:
        found = urllib.request.urlopen(f"http://{os.environ['MASTER_IP']}:8080", timeout=2).read()
    except OSError:
        found = None
    if found and found not in masters:
        masters.add(found)
        print("met a master", flush=True)
    time.sleep(1)
"""
"""It is done once it has met another master than the first."""


def test_await_that_is_killed(delivery: Delivery) -> None:
    """Its pod ends with it, and what the parameter server held is lost: the group ends, and says why."""
    spec = job("awaited", "import time; time.sleep(600)")
    serves = ["python3", "-m", "http.server", "36000"]
    server = {"name": "main", "image": images.PYTHON, "command": serves}
    spec["spec"]["ps"] = {"replicas": 1, "template": {"spec": {"containers": [server]}}}
    delivery.commit(spec)
    delivery.reaches(spec, 2 * SECONDS, phase="Running")

    def serves_others() -> bool:
        jobs = delivery.place.cluster.admin.list("batch/v1", "Job", NAMESPACE, "stowplan.dev/name=awaited")
        return any(HELPER_PREFIX in str(each["metadata"].get("annotations")) for each in jobs)

    wait_for(serves_others, SECONDS, what="a server that others rely on")
    strike(delivery.place.nodes, "stowplan.agents.await_group")
    tells(delivery, spec, "Degraded", phase="Failed", Failed="HelperLost")


def test_await_that_is_killed_in_a_fault_tolerant_job(delivery: Delivery, tmp_path: Path) -> None:
    """Its pod ends with it and is replaced. The trainer goes on with the new master, and ends well."""
    config = {**ref("v1", "ConfigMap", "programs", NAMESPACE), "data": {"master": MASTER, "trainer.py": TRAINER}}
    delivery.place.cluster.admin.create(config)
    # These pods always pull their image.
    with images.pulled(delivery.place, tmp_path / "registry") as image:
        spec = {
            **ref("paddlepaddle.org/v1alpha1", "TrainingJob", "tolerant", NAMESPACE),
            "spec": {
                "image": image,
                "fault_tolerant": True,
                "local_job": True,
                "master": {"etcd-endpoint": "http://etcd.example.com:2379"},
                "trainer": {"entrypoint": "python3 /programs/trainer.py", "min-instance": 1, "max-instance": 1},
                "volumes": [{"name": "programs", "configMap": {"name": "programs", "defaultMode": 0o755}}],
                "VolumeMounts": [
                    {"name": "programs", "mountPath": "/programs"},
                    {"name": "programs", "mountPath": "/usr/bin/master", "subPath": "master"},
                ],
            },
        }
        delivery.commit(spec)
        delivery.reaches(spec, 2 * SECONDS, phase="Running")
        wait_for(lambda: "met a master" in trainer_log(delivery), 2 * SECONDS, what="a trainer with a master")
        strike(delivery.place.nodes, "stowplan.agents.await_group")
        tells(delivery, spec, "Healthy", phase="Succeed")
    assert trainer_log(delivery) == "met a master\nmet a master\n"


def trainer_log(delivery: Delivery) -> str:
    """What the trainer of the fault-tolerant job says; empty before it has begun."""
    found = delivery.pods("stowplan.dev/name=tolerant,stowplan.dev/role=trainer")
    if not found or found[0]["status"].get("phase") == "Pending":
        return ""
    return delivery.place.kubectl("logs", f"--namespace={NAMESPACE}", found[0]["metadata"]["name"])
