"""What version 0.1.0 compiled and ran is compiled by this version and synced: nothing is deleted, nothing runs again.

`of_0_1_0` is a repository as version 0.1.0 compiled it. Its agents are built from that version's sources, which are in
the history of this repository, by their own Containerfile; today's come under another tag, as the guide says. By then
one training is over, and another one runs, with a parameter server and the await agent of 0.1.0.
"""

import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from tests.agents.transfer.server import Storage
from tests.cluster.client import Manifest, wait_for
from tests.cluster.shared import load_one
from tests.nightly.argocd.test_argocd import KINDS
from tests.nightly.node import images, network, stores
from tests.nightly.node.delivery import SECONDS, Delivery, delivering, needed, secret
from tests.nightly.node.markdown import Markdown
from tests.nightly.node.place import Place
from tests.repositories import REPOSITORY

BEFORE = Path(__file__).with_name("of_0_1_0")
RELEASED = "cf330aee"
"""The commit of version 0.1.0: it compiles the specs of `of_0_1_0` to its output."""
NAMESPACE = "yesterday"
URL = "https://git.example.com/user.git"
S3_PORT, PORT = 9000, 9001
"""Of the source of the dataset, and of what the running training waits for."""
FILES = 20
TAGS = ("0.1.0", "0.2.0")
TRACKED = [*KINDS, ("batch.paddlepaddle.org/v1", "PaddleJob")]
HASH = re.compile(r"-[a-z2-7]{8}$")

Objects = dict[tuple[str, str], str]
"""uids by kind and name."""


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources of version 0.1.0."""
    folder = tmp_path_factory.mktemp("released") / "0.1.0"
    archive = folder.parent / "0.1.0.tar"
    command = ["git", "archive", f"--output={archive}", RELEASED]
    if subprocess.run(command, cwd=REPOSITORY, capture_output=True, check=False).returncode:
        pytest.skip("the history of this checkout does not go back to version 0.1.0")
    shutil.unpack_archive(archive, folder)
    return folder


@pytest.fixture(scope="module")
def delivery(place: Place, released: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Delivery]:
    """The repository of 0.1.0 with its dataset's source and volume; the images of both versions are on the nodes."""
    programs, folder = needed(), tmp_path_factory.mktemp("delivery")
    platform = yaml.safe_load((BEFORE / "stowplan.yaml").read_text(encoding="utf-8"))
    for tag, sources in zip(TAGS, (released, REPOSITORY), strict=True):
        wanted = images.names({"images": {**platform["images"], "tag": tag}})
        images.load(place, wanted, folder / tag, sources)
    place.start_csi("csi.juicefs.com")
    place.cluster.namespace(NAMESPACE, "baseline")
    (folder / "stores").mkdir()
    with stores.running(folder / "stores", S3_PORT) as servers:
        bucket = Storage(servers.server.url, "birds")
        with bucket.client() as client:
            client.call("PUT")
        bucket.put({f"one/{number}.jpg": bytes([number]) * 100_000 for number in range(FILES)})
        for name, values in (("volume", servers.volume(1)), ("source", stores.KEYS)):
            place.cluster.admin.apply(secret(NAMESPACE, name, values))
        with delivering(place, programs, platform, folder / "argocd") as made:
            yield made


def objects(delivery: Delivery) -> Objects:
    """What Argo CD has applied."""
    admin = delivery.place.cluster.admin
    found = [each for version, kind in TRACKED for each in admin.list(version, kind, NAMESPACE)]
    found += admin.list("v1", "PersistentVolume")
    tracked = [each for each in found if "argocd.argoproj.io/tracking-id" in each["metadata"].get("annotations", {})]
    return {(each["kind"], each["metadata"]["name"]): each["metadata"]["uid"] for each in tracked}


def pods(delivery: Delivery) -> Objects:
    """Of runs: what lives long may be replaced."""
    return {
        (each["metadata"]["labels"]["app.kubernetes.io/component"], each["metadata"]["name"]): each["metadata"]["uid"]
        for each in delivery.pods()
        if "batch.kubernetes.io/job-name" in each["metadata"]["labels"]
    }


def agents(delivery: Delivery) -> set[str]:
    """Tags of the agents that live long, once all of them are ready."""
    found = delivery.pods("app.kubernetes.io/component in (runtime, reporter)")
    ready = all(each["ready"] for pod in found for each in pod["status"].get("containerStatuses", [{"ready": False}]))
    tags = {each["image"].rpartition(":")[2] for pod in found for each in pod["spec"]["containers"]}
    return tags if ready and len(found) == 2 else set()


def changes(before: Objects, after: Objects) -> str:
    """What is no longer as it was, by kind and name."""
    lines = [f"gone: {kind} {HASH.sub('-<hash>', name)}" for kind, name in sorted(before.keys() - after.keys())]
    lines += [f"new: {kind} {HASH.sub('-<hash>', name)}" for kind, name in sorted(after.keys() - before.keys())]
    lines += [f"made anew: {each}" for each in sorted(before.keys() & after.keys()) if before[each] != after[each]]
    return "\n".join(lines)


def sync_yesterday(delivery: Delivery) -> dict[str, Manifest]:
    """Push what 0.1.0 compiled; gives its specs by name."""
    repository = delivery.repository
    for name in ("specs", "out"):
        shutil.copytree(BEFORE / name, repository.folder / name)
    for path in (repository.out / "argocd").iterdir():
        path.write_text(path.read_text(encoding="utf-8").replace(URL, delivery.url), encoding="utf-8")
    specs = list(yaml.safe_load_all((BEFORE / "specs" / "specs.yaml").read_text(encoding="utf-8")))
    delivery.sync(*specs)
    return {each["metadata"]["name"]: each for each in specs}


def upgrade(delivery: Delivery) -> None:
    """Compile by this version, with the tag of its images, push, and bring its health checks to Argo CD."""
    delivery.platform["images"] = {**delivery.platform["images"], "tag": TAGS[1]}
    delivery.commit()
    delivery.place.cluster.admin.apply(load_one(delivery.repository.out / "argocd-cm.patch.txt"), manager="admin")


@pytest.mark.timeout(1800)  # a story of many steps
def test_upgrade(delivery: Delivery, snapshot: SnapshotAssertion) -> None:
    specs = sync_yesterday(delivery)
    delivery.reaches(specs["birds"], phase="Ready")
    delivery.reaches(specs["recognise"], phase="Completed")
    delivery.tells(specs["learn"], "Progressing", SECONDS, phase="Running")
    delivery.tell("Version 0.1.0 has run", healthy=False)
    runs, applied = pods(delivery), objects(delivery)
    assert agents(delivery) == {TAGS[0]}

    upgrade(delivery)
    wait_for(lambda: agents(delivery) == {TAGS[1]}, SECONDS, what="today's agents")
    delivery.tell("This version has taken over", changes(applied, objects(delivery)), healthy=False)
    assert pods(delivery) == runs

    with socket.create_server((network.host(), PORT)):
        delivery.reaches(specs["learn"], phase="Completed")
    delivery.tell("The training that ran meanwhile is over")
    assert pods(delivery) == runs
    assert "\n".join(delivery.steps) == snapshot(extension_class=Markdown)
