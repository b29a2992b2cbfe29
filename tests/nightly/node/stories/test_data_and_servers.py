"""Data comes from three kinds of stores, a training with a parameter server uses it, and its model goes to all of them.

The stores run beside the nodes: a real S3 server, a Git server with Git LFS, and the tests' Hugging Face Hub. There is
no Paddle: `line_fit.py` and `parameter_server.py` do what a training does, by the variables of a PaddleJob. The server
is on another node than the workers, which are where the claim is. In the first run a worker fails at a bad sample.
"""

import json
import random
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from tests.agents.transfer import hub_server, server
from tests.agents.transfer.git import server as git_server
from tests.agents.transfer.git.author import Author, author
from tests.agents.transfer.hub_base import TOKEN as HUB_TOKEN
from tests.agents.transfer.hub_base import Hub
from tests.agents.transfer.server import Storage, new_bucket
from tests.cluster.client import Manifest, wait_for
from tests.nightly.node import claims, images, network
from tests.nightly.node.delivery import SECONDS, Delivery, delivering, needed, secret
from tests.nightly.node.markdown import Markdown
from tests.nightly.node.place import Place
from tests.nightly.node.stores import KEYS

NAMESPACE = "fitting"
PLATFORM = images.platform(NAMESPACE)
MIB = 1 << 20
WORKERS = ("stowplan.dev/role=worker", "trainer")
"""Label of their pods, and their container."""
HIDDEN = {".git", ".stowplan"}
"""Folders of Git, and of the agents."""


@dataclass(frozen=True)
class Stores:
    """Where data comes from."""

    bucket: Storage
    hub: Hub
    writer: Author

    def specs(self) -> dict[str, Manifest]:
        """Those of `line.yaml`, by name."""
        addresses = {
            "bucket": self.bucket.bucket,
            "git": urlsplit(self.writer.forge.url).netloc,
            "hub": urlsplit(self.hub.url).netloc,
            "objects": urlsplit(self.hub.storage).netloc,
            "s3": urlsplit(self.bucket.endpoint).netloc,
            "server": json.dumps(Path(__file__).with_name("parameter_server.py").read_text(encoding="utf-8")),
        }
        text = Path(__file__).with_name("line.yaml").read_text(encoding="utf-8")
        for name, address in addresses.items():
            text = text.replace(f"<{name}>", address)
        return {each["metadata"]["name"]: each for each in yaml.safe_load_all(text)}


@pytest.fixture(scope="module")
def stores(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stores]:
    """The stores with what the training needs; their Secrets are in the cluster."""
    program, folder = server.needed(), tmp_path_factory.mktemp("stores")
    for each in ("s3", "hub"):
        (folder / each).mkdir()
    with ExitStack() as stack:
        s3 = stack.enter_context(server.serving(program, folder / "s3", address=network.host()))
        hub = stack.enter_context(hub_server.running(folder / "hub", address=network.host()))
        forge = stack.enter_context(git_server.serving(folder / "git", address=network.host()))
        place.cluster.namespace(NAMESPACE, "baseline")
        secrets = {"s3": KEYS, "hub": {"token": HUB_TOKEN}, "git": {"token": git_server.TOKEN}}
        for name, values in secrets.items():
            place.cluster.admin.apply(secret(NAMESPACE, name, values))
        yield Stores(new_bucket(s3), hub, author(folder / "author", forge, "line.git"))


@pytest.fixture(scope="module")
def delivery(stores: Stores, place: Place, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Delivery]:
    programs, folder = needed(), tmp_path_factory.mktemp("delivery")
    images.load(place, images.names(PLATFORM, ("control", "git", "transfer")), folder / "images")
    with delivering(place, programs, PLATFORM, folder / "argocd") as made:
        yield made


def content(name: str, size: int) -> bytes:
    return random.Random(name).randbytes(size)  # noqa: S311 - the same in each run


def fill(stores: Stores) -> dict[str, dict[str, bytes]]:
    """What is in each store, by the folder of the claim that it comes to."""
    points = [[x / 50, 3 * x / 50 - 1] for x in range(-50, 51)]
    samples = {f"{number}.json": json.dumps(points[number::6]).encode() for number in range(6)}
    samples |= {"5.json": b"no samples", "large.bin": content("large", 40 * MIB)}
    stores.bucket.put({f"samples/{name}": data for name, data in samples.items()})
    weights = {"start.json": b"[1.5, 0.5]", "weights.bin": content("weights", 2 * MIB)}
    stores.hub.store.put(stores.hub.store.make("team/start", private=True, readers={HUB_TOKEN}), weights)
    weights[".gitattributes"] = b"*.bin filter=lfs\n"  # The Hub begins with it.
    large = {"figure.big": content("figure", MIB)}
    program = {"line_fit.py": Path(__file__).with_name("line_fit.py").read_bytes()}
    attributes = {".gitattributes": b"*.big filter=lfs diff=lfs merge=lfs -text\n"}
    stores.writer.commit({**attributes, **program, **stores.writer.lfs(large)})
    return {"samples": samples, "weights": weights, "code/line": {**attributes, **program, **large}}


def files(folder: Path) -> dict[str, bytes]:
    """All that a user sees there."""
    paths = [each.relative_to(folder) for each in folder.rglob("*") if each.is_file()]
    return {str(each): (folder / each).read_bytes() for each in paths if not HIDDEN & set(each.parts)}


@pytest.mark.timeout(1800)  # a story of many steps
def test_data_comes_is_used_and_goes(
    delivery: Delivery, stores: Stores, place: Place, snapshot: SnapshotAssertion
) -> None:
    specs, there = stores.specs(), fill(stores)
    work, shelf = (
        claims.volume(node, NAMESPACE, name) for node, name in zip(place.nodes, ("work", "shelf"), strict=True)
    )

    comes = [specs[name] for name in ("code", "samples", "weights")]
    delivery.commit(*comes)
    for each in comes:
        delivery.reaches(each, phase="Succeeded")
    for folder, data in there.items():
        assert files(work / folder) == data

    delivery.commit(specs["line"])
    delivery.tells(specs["line"], "Degraded", SECONDS, phase="Failed")
    wait_for(lambda: len(delivery.pods(WORKERS[0])) == 1, SECONDS, what="the end of the other worker")
    log = "\n".join(delivery.log(*WORKERS))
    delivery.tell("The data has come, and a worker has met a bad sample", log, healthy=False)

    worker = specs["line"]["spec"]["worker"]["template"]["spec"]["containers"][0]
    worker["command"].append("--skip-bad")
    goes = [specs[name] for name in ("push", "archive", "publish", "copy")]
    stores.hub.store.make("team/line", private=True, writers={HUB_TOKEN})
    delivery.commit(specs["line"], *goes)
    for each in goes:
        delivery.reaches(each, phase="Succeeded")
    log = "\n".join(delivery.log(*WORKERS))
    delivery.tell("The line is fitted, and the model has gone to all stores and to another claim", log)
    model = files(work / "model")
    assert model["weights.bin"] == there["weights"]["weights.bin"][::-1]
    assert Storage(stores.bucket.endpoint, "archive").read() == {f"line/{name}": data for name, data in model.items()}
    published = stores.hub.store.repositories["model", "team/line"]
    assert stores.hub.store.read(published) == {f"model/{name}": data for name, data in model.items()}
    assert (
        stores.writer.git("--git-dir", str(stores.writer.bare), "show", "main:line.json").encode() == model["line.json"]
    )
    assert files(shelf / "line") == model
    assert "\n".join(delivery.steps) == snapshot(extension_class=Markdown)
