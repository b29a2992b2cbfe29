"""A Training on JobSet whose nodes are real: a gate, restarts of the whole job, checkpoints, and an output.

A process is killed, a node loses its power, and an agent is killed. The training is a small program, which saves its
state after each step: `tests/nightly/node/training`. An administrator has made the volume for the checkpoints. Redis,
the S3 server and the JobSet controller run beside the nodes. An administrator says that the node is out of service, as
where no cloud says it.
"""

import hashlib
import random
import re
from collections.abc import Iterator

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.cluster import jobsets
from tests.cluster.client import ref, wait_for
from tests.cluster.fixtures import programs_of
from tests.cluster.tools import JOBSET
from tests.nightly.node import harm, images, stores
from tests.nightly.node.delivery import STOWPLAN, Delivery, delivering, needed, secret
from tests.nightly.node.machine import Machine
from tests.nightly.node.markdown import Markdown
from tests.nightly.node.place import Place
from tests.nightly.node.pods import SECONDS
from tests.nightly.node.stores import Stores

DRIVER = "csi.juicefs.com"
NAMESPACE = "training"
STEPS = 6
TRAINER = "stowplan.dev/name=llm,stowplan.dev/role=node"
PLATFORM = images.platform(NAMESPACE, engines={"jobs": "jobset"})
CHANCE = random.Random("samples")  # noqa: S311 - the same in each run
SAMPLES = {f"{number}.idx": CHANCE.randbytes(1 << 18) for number in range(4)}
DATASET = ref(STOWPLAN, "Dataset", "samples", NAMESPACE)
TRAINING = ref(STOWPLAN, "Training", "llm", NAMESPACE)
CLAIM = {"accessModes": ["ReadWriteMany"], "storageClassName": "", "resources": {"requests": {"storage": "1Gi"}}}
VOLUME = {
    "capacity": {"storage": "1Gi"},
    "accessModes": ["ReadWriteMany"],
    "storageClassName": "",
    "claimRef": {"namespace": NAMESPACE, "name": "llm-checkpoints"},
    "mountOptions": ["subdir=checkpoints"],
    "csi": {
        "driver": DRIVER,
        "volumeHandle": "checkpoints",
        "fsType": "juicefs",
        "nodePublishSecretRef": {"namespace": NAMESPACE, "name": "volume"},
    },
}
APART = {
    "labelSelector": {"matchLabels": {"stowplan.dev/name": "llm", "stowplan.dev/role": "node"}},
    "topologyKey": "kubernetes.io/hostname",
}
INDEX = re.compile(r"-\d-<xxxxx>")
"""In the name of a pod: any of the two may be the one that waits for a node."""
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"


@pytest.fixture(scope="module")
def servers(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stores]:
    """A bucket with the samples, and what the volumes stand on."""
    with stores.running(tmp_path_factory.mktemp("stores")) as made:
        made.bucket.put({f"samples/{name}": data for name, data in SAMPLES.items()})
        yield made


@pytest.fixture(scope="module")
def delivery(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Delivery]:
    program = programs_of([JOBSET])["jobset"]
    folder = tmp_path_factory.mktemp("delivery")
    agents = images.names(PLATFORM, ("control", "transfer"))
    images.load(place, agents | images.TRAINER, folder / "images")
    place.start_csi(DRIVER)
    place.cluster.namespace(NAMESPACE, "baseline")
    place.cluster.admin.create({**ref("v1", "PersistentVolume", "checkpoints"), "spec": VOLUME})
    jobsets.start(place.cluster, program)
    with delivering(place, needed(), PLATFORM, folder / "argocd") as made:
        yield made


@pytest.fixture
def other(place: Place) -> Machine:
    """The node that has no pods, and gets none before the test lets it: the name server is on the other one."""
    (dns,) = place.cluster.admin.list("v1", "Pod", "kube-system")
    (found,) = (each for each in place.nodes if each.name != dns["spec"]["nodeName"])
    place.kubectl("cordon", found.name)
    return found


def trained(rank: int) -> bytes:
    """What a process ends with: `steps.py` in short."""
    samples, done = b"".join(SAMPLES.values()), list[str]()
    for _ in range(STEPS):
        done.append(hashlib.sha256(f"{done} {rank}".encode() + samples).hexdigest())
    return random.Random(" ".join(done)).randbytes(3 << 20)  # noqa: S311


def await_step(delivery: Delivery, attempt: int, step: int) -> str:
    """What the trainers of this attempt say once all have saved this step."""
    wanted = {f"process {rank}, attempt {attempt}: saved step {step}" for rank in range(2)}
    try:
        wait_for(lambda: wanted <= set(delivery.log(TRAINER, "trainer")), 3 * SECONDS, what=f"step {step}")
    finally:
        said = "\n".join(delivery.log(TRAINER, "trainer"))
    return said


def gate_ended(delivery: Delivery) -> bool:
    pods = delivery.pods("app.kubernetes.io/component=gate")
    return {each["status"]["phase"] for each in pods} == {"Succeeded"}


@pytest.mark.timeout(1800)  # a story of many steps
def test_training_on_jobset(delivery: Delivery, servers: Stores, other: Machine, snapshot: SnapshotAssertion) -> None:
    place, admin = delivery.place, delivery.place.cluster.admin
    store = {"endpoint": servers.bucket.endpoint, "secretRef": {"name": "store"}}
    source = {"uri": f"s3://{servers.bucket.bucket}/samples/", **store}
    dataset = {
        **DATASET,
        "spec": {"source": {"s3": source}, "volume": {"juicefs": {"secretRef": {"name": "volume"}}}},
    }
    training = {
        **TRAINING,
        "spec": {
            "framework": "torch",
            "image": next(iter(images.TRAINER.values())),
            "command": ["torchrun", "steps.py", "/data", str(STEPS)],
            "numNodes": 2,
            "datasets": [{"name": "samples", "mountPath": "/data", "wait": {}}],
            "checkpoints": {"claim": {"template": {"spec": CLAIM}}},
            "restart": {"max": 2, "graceSeconds": 5},
            "outputs": [
                {
                    "path": f"/checkpoints/{NAMESPACE}/llm/model",
                    "to": {"s3": {"uri": f"s3://{servers.bucket.bucket}/model/", **store}},
                }
            ],
            "template": {
                "spec": {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [APART]}}}
            },
        },
    }
    admin.create(secret(NAMESPACE, "volume", servers.volume(1)))
    delivery.commit(dataset, training)
    delivery.tells(training, "Suspended", SECONDS, Suspended="DatasetNotReady")
    delivery.tells(dataset, "Degraded", SECONDS, Stalled="ContainerConfigError")
    delivery.argocd.await_health("training-crds", "Healthy")
    delivery.tell("The gate waits for the dataset, which waits for a Secret", healthy=False)

    place.kubectl("uncordon", other.name)
    admin.create(secret(NAMESPACE, "store", stores.KEYS))
    said = await_step(delivery, attempt=0, step=2)
    delivery.reaches(training, phase="Running", restarts=0)
    # It looks for a minute whether the run stays open.
    wait_for(lambda: gate_ended(delivery), 3 * SECONDS, what="the end of the gate")
    delivery.tell("Both nodes train", said, healthy=False)

    harm.strike([other], "python3 steps.py")
    said = await_step(delivery, attempt=1, step=4)
    delivery.reaches(training, phase="Running", restarts=1, countedRestarts=1)
    delivery.tell("A process was killed, and the whole job goes on from its checkpoint", said, healthy=False)

    with harm.without_power(place, other, DRIVER):
        wait_for(lambda: not other.is_ready(), 2 * SECONDS, what="the loss")
        delivery.tells(training, "Progressing", SECONDS, Complete="NodeLost")
        place.kubectl("taint", "node", other.name, f"{OUT_OF_SERVICE}=nodeshutdown:NoExecute")
        delivery.reaches(training, restarts=2, countedRestarts=1, Complete="Unschedulable")
        delivery.tell("A node has lost its power, which is no restart that counts", healthy=False)
        harm.strike(place.nodes, "stowplan.agents.wait_peers")
        delivery.reaches(training, restarts=3, countedRestarts=2, Complete="Unschedulable")
        delivery.tell("The pod that waits for the other was killed, and waits again", healthy=False)
    place.kubectl("taint", "node", other.name, f"{OUT_OF_SERVICE}-")
    wait_for(other.is_ready, 2 * SECONDS, what="its return")

    delivery.reaches(training, phase="Succeeded")
    said = "\n".join(delivery.log(TRAINER, "trainer"))
    delivery.tell("The node is back; the job is done, and its output is copied", said)
    copied = {key: data for key, data in servers.bucket.read().items() if key.startswith("model/")}
    assert copied == {f"model/{rank}.bin": trained(rank) for rank in range(2)}
    assert INDEX.sub("-<index>-<xxxxx>", "\n".join(delivery.steps)) == snapshot(extension_class=Markdown)
