"""A Dataset in a real JuiceFS volume, filled from a Hub by the transfer agent, warmed and refreshed."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from stowplan.agents.attempt.dataset_lock.lock import Lock
from stowplan.agents.attempt.dataset_lock.mounted_state import MountedState
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.runtime.log import Log
from stowplan.agents.wait.dataset.readiness import look
from stowplan.schema.agents.marker import COMPLETE_FILE, STATE_DIRECTORY
from tests.agents.cache.conftest import NewMounts
from tests.agents.cache.task_agent import files
from tests.agents.cache.test_task_faults import waits
from tests.agents.cache.volume import FORGETS
from tests.agents.compiled_dataset import AS_USER, CompiledDataset, compiled
from tests.agents.transfer.hub_base import TOKEN, Hub
from tests.agents.transfer.hub_server import running
from tests.agents.transfer.hub_store import Repository

SPEC: dict[str, Any] = {
    "source": {"huggingface": {"repo": "acme/corpus", "include": ["*.txt"], "secretRef": {"name": "hub"}}},
    "volume": {"juicefs": {"secretRef": {"name": "volume"}}},
    "cache": {"nodes": 1, "tiers": [{"path": "/data/cache", "size": "256Mi"}]},
    "refresh": {"schedule": "0 3 * * *"},
}


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    (tmp_path / "hub").mkdir()
    with running(tmp_path / "hub") as server:
        yield server


@pytest.fixture
def repository(hub: Hub) -> Repository:
    made = hub.store.make("acme/corpus", "dataset", private=True, writers={TOKEN})
    hub.store.put(made, {"train/a.txt": b"one", "b.txt": b"two", "c.bin": b"left out"})
    return made


@pytest.fixture
def corpus(hub: Hub, repository: Repository, mounts: NewMounts, tmp_path: Path) -> CompiledDataset:
    manifests = compiled(SPEC)
    (volume,) = [each for each in manifests if each["kind"] == "PersistentVolume"]
    options = {each.partition("=")[0]: each.partition("=")[2] for each in volume["spec"]["mountOptions"]}
    (mount,) = mounts(1, options=(f"--subdir={options['subdir']}", *FORGETS))
    (tmp_path / "pods").mkdir()
    variables = {
        "TOKEN": f"{TOKEN}\n",
        "HF_ENDPOINT": hub.url,
        "PATH": f"{mount.volume.program.parent}:{os.environ['PATH']}",
    }
    # The storage of the tests' Hub is a host of its own.
    remote = {"hosts": [urlsplit(hub.storage).netloc]}
    return CompiledDataset(manifests, tmp_path / "pods", mount.path, variables, remote, AS_USER)


def test_a_hub_fills_a_volume_through_its_mount_and_the_caches_are_warmed(corpus: CompiledDataset) -> None:
    done = corpus.sync()
    assert done.code == 0, done.output
    assert files(corpus.place) == {"train/a.txt": b"one", "b.txt": b"two"}
    assert look(corpus.place, "synced").state == "ready"
    assert look(corpus.place, "warmed").state == "waiting"
    done = corpus.warmup()
    assert done.code == 0, done.output
    assert look(corpus.place, "warmed").state == "ready"


def test_a_refresh_brings_what_is_new_and_is_followed_by_a_warmup(
    corpus: CompiledDataset, hub: Hub, repository: Repository
) -> None:
    assert (corpus.sync().code, corpus.warmup().code) == (0, 0)
    commit = hub.store.put(repository, {"new.txt": b"three"})
    assert look(corpus.place, "synced", commit).state == "waiting"
    done = corpus.refresh(29000000)
    assert done.code == 0, done.output
    assert look(corpus.place, "synced", commit).state == "ready"
    assert files(corpus.place) == {"train/a.txt": b"one", "b.txt": b"two", "new.txt": b"three"}
    done = corpus.warmup_after_refresh(29000000)
    assert done.code == 0, done.output
    complete = json.loads((corpus.place / COMPLETE_FILE).read_text())
    assert complete["run"] == corpus.run_of_sync
    assert look(corpus.place, "warmed").state == "ready"


def test_a_refresh_that_fails_leaves_the_dataset_ready(
    corpus: CompiledDataset, hub: Hub, repository: Repository
) -> None:
    assert (corpus.sync().code, corpus.warmup().code) == (0, 0)
    repository.writers.clear()
    repository.readers.clear()
    commit = json.loads((corpus.place / COMPLETE_FILE).read_text())["revision"]
    assert corpus.refresh(29000000).code in (3, 4)
    assert look(corpus.place, "warmed", commit).state == "ready"
    assert files(corpus.place) == {"train/a.txt": b"one", "b.txt": b"two"}


def test_a_transfer_waits_for_the_other_tasks_on_its_dataset(corpus: CompiledDataset) -> None:
    remove = Lock(MountedState(corpus.place), "rmr", Stop(), Log())
    with remove.held():
        (corpus.place / STATE_DIRECTORY).chmod(0o777)
        (corpus.place / STATE_DIRECTORY / "lock").chmod(0o777)
        with corpus.syncing() as process:
            assert process.stdout
            assert any(map(waits, process.stdout)), "it ended without a wait"
            assert files(corpus.place) == {}
    assert corpus.sync().code == 0
