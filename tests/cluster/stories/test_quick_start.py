"""The quick start: a dataset and the four tasks on it, with a real volume, store and mount.

The mount replaces the CSI driver on a node.
"""

import base64
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from tests.agents.cache import redis_server
from tests.agents.cache.task_agent import Dataset, files
from tests.agents.cache.volume import Mount, Store, Volume, sweep, why_not
from tests.agents.transfer.server import ACCESS_KEY, SECRET_KEY, new_bucket, serving
from tests.cluster.binaries import Missing, obtain
from tests.cluster.client import Manifest, ref
from tests.cluster.stories.conftest import Begin, Compile
from tests.cluster.stories.story import Story
from tests.cluster.stories.telling import managers
from tests.cluster.tools import JUICEFS, VERSITYGW
from tests.repositories import EXAMPLES

NAMESPACE = "paddle-system"
SOURCE = "bos://paddleflow-public.hkg.bcebos.com/imagenet"
CLASS = "n01514859"
"""That one of the tasks removes."""


@dataclass(frozen=True)
class Place:
    """What there is before the first sync."""

    dataset: Dataset
    mount: Mount
    juicefs: Path

    @property
    def source(self) -> str:
        return self.dataset.source.rstrip("/")

    def specs(self, *jobs: str, going: Sequence[str] = ()) -> str:
        """The example with some of its tasks, from a bucket of the test; the tasks in `going` are let go."""
        folder = EXAMPLES["imagenet"] / "specs"
        documents: list[dict[str, Any]] = [yaml.safe_load((folder / "imagenet.yaml").read_text(encoding="utf-8"))]
        for each in yaml.safe_load_all((folder / "imagenet-jobs.yaml").read_text(encoding="utf-8")):
            kind = each["spec"]["type"]
            if kind in jobs:
                documents.append({**each, "spec": {**each["spec"], "terminate": False}} if kind in going else each)
        platform = {"kind": "Platform", "images": {"registry": "registry.example.com/ml", "tag": "1"}}
        return yaml.safe_dump_all([platform, *documents]).replace(SOURCE, self.source)


@pytest.fixture
def place(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A formatted volume, mounted; a bucket with the samples."""
    if reason := why_not():
        pytest.skip(reason)
    sweep(tmp_path_factory.getbasetemp())
    programs: dict[str, Path] = {}
    for tool in (JUICEFS, VERSITYGW):
        found = obtain(tool)
        if isinstance(found, Missing):
            pytest.skip(str(found))
        programs |= found.paths
    if (redis := redis_server.program()) is None:
        pytest.skip("no redis-server on this machine")
    store = tmp_path / "s3"
    store.mkdir()
    with (
        redis_server.running(tmp_path / "redis", redis) as metadata,
        serving(programs["versitygw"], store) as s3,
    ):
        volume = Volume(programs["juicefs"], tmp_path / "volume", metadata.url(1), Store("file", f"{tmp_path}/blocks/"))
        volume.format()
        dataset = Dataset(volume, tmp_path, new_bucket(s3))
        dataset.put({f"demo/{CLASS}/1.jpg": b"hen" * 1000, "demo/n01440764/1.jpg": b"tench" * 1000})
        with _mounted(volume, tmp_path / "node") as mount:
            yield Place(dataset, mount, programs["juicefs"])


@contextmanager
def _mounted(volume: Volume, folder: Path) -> Iterator[Mount]:
    mount = Mount(volume, folder)
    try:
        mount.start()
        yield mount
    finally:
        mount.stop()


def test_dataset_and_its_four_tasks(
    place: Place, begin: Begin, compile_specs: Compile, kept: SnapshotAssertion
) -> None:
    path = f"{place.juicefs.parent}:{os.environ['PATH']}"
    story = begin(NAMESPACE, environment={"PATH": path}, claims={"imagenet": place.mount.path})
    _secret(story, place.dataset.volume)
    story.pods.paused |= {"sync"}
    story.apply(compile_specs(place.specs()))
    waiting = {"stowplan-cache-0", "stowplan-cache-sum", "stowplan-warmup-0"}
    story.until(lambda: waiting <= set(managers(story.live("SampleSet", "imagenet"))), what="words of all agents")
    story.step("The samples are copied", "SampleSet", "imagenet", phase="Syncing")
    story.pods.paused.clear()
    story.reaches("SampleSet", "imagenet", 120, phase="Ready")
    story.step("The dataset is ready", "SampleSet", "imagenet", phase="Ready", Ready="Ready", Warmed="Succeeded")
    sizes = {"totalSize", "cachedSize"}
    story.until(lambda: sizes <= set(story.status("SampleSet", "imagenet")["cacheStatus"]), 90, what="sizes")
    assert set(files(place.mount.path)) == {f"{CLASS}/1.jpg", "n01440764/1.jpg"}

    place.dataset.put({"more/1.jpg": b"m" * 100})
    story.apply(compile_specs(place.specs("sync")))
    story.step("More was copied", "SampleJob", "imagenet-sync", phase="Succeeded", Warmed="Succeeded")
    assert "more/1.jpg" in files(place.mount.path)

    story.apply(compile_specs(place.specs("sync", "warmup")))
    story.step("All is in the cache", "SampleJob", "imagenet-warmup", phase="Succeeded")

    story.apply(compile_specs(place.specs("sync", "warmup", "rmr", "clear")))
    story.step("Two tasks are held", "SampleJob", "imagenet-clear", Suspended="Suspended")
    story.apply(compile_specs(place.specs("sync", "warmup", "rmr", "clear", going=["rmr"])))
    story.step("One class was removed", "SampleJob", "imagenet-rmr", phase="Succeeded")
    assert not [name for name in files(place.mount.path) if name.startswith(CLASS)]

    story.apply(compile_specs(place.specs("sync", "warmup", "rmr", "clear", going=["rmr", "clear"])))
    story.step("The cache was emptied", "SampleJob", "imagenet-clear", phase="Succeeded")
    assert story.told_by_now() == kept


def _secret(story: Story, volume: Volume) -> None:
    """Of the volume, and with the keys of the source."""
    values = {**volume.secret, "access-key": ACCESS_KEY, "secret-key": SECRET_KEY}
    data = {key: base64.b64encode(value.encode()).decode() for key, value in values.items()}
    manifest: Manifest = {**ref("v1", "Secret", "imagenet", story.namespace), "data": data}
    story.cluster.admin.apply(manifest)
    story.manifests.append(manifest)
