"""The starter of `stowplan init` on nodes that are real, from `init` to a training that has read the cached samples.

The repository is what `init` writes. Filled in is what a user must fill in: the registry of the agents' images, where
Argo CD finds the repository, the bucket, and what small nodes have of processors and memory. The namespace, both
Secrets and the training's image are made beside it, as a user makes them. The job's command is the starter's. Its
`torchrun` is a small program that does what torchrun does, and its `train.py` reads the samples: see
`tests/nightly/node/training`. Redis and the S3 server run beside the nodes.
"""

import hashlib
import random
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from tests.cluster.client import Manifest, ref, wait_for
from tests.nightly.node import images, stores
from tests.nightly.node.delivery import SECONDS, STOWPLAN, Delivery, delivering, needed, secret
from tests.nightly.node.markdown import Markdown
from tests.nightly.node.place import Place
from tests.nightly.node.stores import Stores

DRIVER = "csi.juicefs.com"
NAMESPACE = "ml"
DATASET = ref(STOWPLAN, "Dataset", "mnist", NAMESPACE)
TRAINING = ref(STOWPLAN, "Training", "mnist-train", NAMESPACE)
AGENTS = ("cache", "control", "transfer")
TRAINER = "stowplan.dev/name=mnist-train,stowplan.dev/role=node"
CHANCE = random.Random("mnist")  # noqa: S311 - the same in each run
SAMPLES = {f"{number}.idx": CHANCE.randbytes(1 << 18) for number in range(8)}


@pytest.fixture(scope="module")
def servers(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stores]:
    """The bucket with the samples, and what the volume stands on."""
    with stores.running(tmp_path_factory.mktemp("stores")) as made:
        made.bucket.put({f"mnist/{name}": data for name, data in SAMPLES.items()})
        yield made


@pytest.fixture(scope="module")
def delivery(place: Place, servers: Stores, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Delivery]:
    """The starter, filled in; the images that it names are on the nodes."""
    folder = tmp_path_factory.mktemp("delivery")
    place.start_csi(DRIVER)
    place.cluster.namespace(NAMESPACE, "baseline")
    with delivering(place, needed(), {}, folder / "argocd") as made:
        command = [sys.executable, "-m", "stowplan.compiler", "init", str(made.repository.folder)]
        subprocess.run(command, check=True, capture_output=True)
        _fill_in(made, servers)
        platform = yaml.safe_load((made.repository.folder / "stowplan.yaml").read_text(encoding="utf-8"))
        images.load(place, images.names(platform, AGENTS) | images.TRAINER, folder / "images")
        yield made


def _fill_in(delivery: Delivery, servers: Stores) -> None:
    edit(delivery, "stowplan.yaml", ("# (images:|  registry:|  tag:)", r"\1"))
    edit(delivery, "stowplan.yaml", (r"  # repoURL: .*", f"  repoURL: {delivery.url}"))
    bucket = servers.bucket
    edit(delivery, "specs/mnist.yaml", ("s3://samples/", f"s3://{bucket.bucket}/"))
    edit(delivery, "specs/mnist.yaml", (r"https://s3\.example\.com$", bucket.endpoint))
    edit(delivery, "specs/mnist-train.yaml", (r'cpu: "2", memory: 4Gi', "cpu: 500m, memory: 128Mi"))
    edit(delivery, "specs/mnist-train.yaml", (r"limits: \{memory: 4Gi", "limits: {memory: 128Mi"))


def edit(delivery: Delivery, path: str, change: tuple[str, str]) -> None:
    """Put something else in the place of all that is like this."""
    text = (delivery.repository.folder / path).read_text(encoding="utf-8")
    edited, count = re.subn(*change, text, flags=re.MULTILINE)
    assert count, change
    delivery.repository.write(path, edited)


def read_by(size: int) -> list[str]:
    """What a training with so many processes prints."""
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in SAMPLES.items()}
    return [f"process {number % size} of {size}: {name} {each}" for number, (name, each) in enumerate(digests.items())]


def await_sizes(delivery: Delivery, **sizes: str) -> None:
    """Until the cache pod has measured so much: it does so every half minute."""

    def measured() -> bool:
        found = (delivery.live(DATASET).get("status") or {}).get("cacheStatus") or {}
        return sizes.items() <= found.items()

    wait_for(measured, SECONDS, what=str(sizes))


@pytest.mark.timeout(1800)  # a story of many steps
def test_starter(delivery: Delivery, servers: Stores, snapshot: SnapshotAssertion) -> None:
    admin = delivery.place.cluster.admin
    admin.create(secret(NAMESPACE, "mnist-volume", servers.volume(1)))
    delivery.push(DATASET, TRAINING)
    delivery.tells(DATASET, "Degraded", 60, Stalled="ContainerConfigError")
    delivery.tells(TRAINING, "Suspended", 60, Suspended="DatasetNotReady")
    await_sizes(delivery, totalFiles="0", totalSize="4.0 KiB", cachedSize="0 B")
    delivery.reaches(DATASET, phase="Mount")
    delivery.argocd.await_health("user-crds", "Healthy")
    delivery.tell("All is in Git, and the bucket's Secret is missing", healthy=False)

    admin.create(secret(NAMESPACE, "mnist-bucket", stores.KEYS))
    delivery.reaches(TRAINING, phase="Succeeded")
    delivery.reaches(DATASET, phase="Ready", Warmed="Succeeded")
    await_sizes(delivery, totalFiles="8", totalSize="2.0 MiB", cachedSize="2.0 MiB")
    said = delivery.log(TRAINER, "trainer")
    assert said == sorted(read_by(2))
    delivery.tell("Both nodes have read the samples", "\n".join(said))

    servers.server.kill()
    edit(delivery, "specs/mnist-train.yaml", ("numNodes: 2", "numNodes: 1"))
    delivery.push()
    delivery.reaches(TRAINING, phase="Succeeded", observedGeneration=2)
    (cache,) = delivery.pods("stowplan.dev/name=mnist,app.kubernetes.io/component=runtime")
    (trainer,) = wait_for(lambda: one(delivery.pods(TRAINER)), what="the end of the run before")
    assert trainer["spec"]["nodeName"] == cache["spec"]["nodeName"]
    said = delivery.log(TRAINER, "trainer")
    assert said == sorted(read_by(1))
    delivery.tell("The store is gone, and the job runs again, beside the cache", "\n".join(said))
    assert "\n".join(delivery.steps) == snapshot(extension_class=Markdown)


def one(pods: list[Manifest]) -> list[Manifest]:
    """The pods if there is one of them."""
    return pods if len(pods) == 1 else []
