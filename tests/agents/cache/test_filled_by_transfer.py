"""A Dataset in a real JuiceFS volume, filled from a Hub by the transfer agent, warmed and refreshed."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from stowplan.agents.attempt.dataset_lock.lock import Lock
from stowplan.agents.attempt.dataset_lock.mounted_state import MountedState
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.runtime.log import Log
from stowplan.agents.wait_dataset.readiness import look
from stowplan.library.dialects.dataset.lower import lower
from stowplan.library.manifest import Json
from stowplan.schema.agents.marker import COMPLETE_FILE, STATE_DIRECTORY
from stowplan.schema.kinds.native.dataset import Dataset
from tests.agents.cache.conftest import NewMounts
from tests.agents.cache.task_agent import files
from tests.agents.cache.volume import FORGETS, Mount
from tests.agents.ended import Ended
from tests.agents.transfer.hub_base import TOKEN, Hub
from tests.agents.transfer.hub_server import running
from tests.agents.transfer.hub_store import Repository
from tests.unit.specs import context

USER = 65532
"""The user of every agent."""

SPEC: dict[str, Any] = {
    "source": {"huggingface": {"repo": "acme/corpus", "include": ["*.txt"], "secretRef": {"name": "hub"}}},
    "volume": {"juicefs": {"secretRef": {"name": "volume"}}},
    "cache": {"nodes": 1, "tiers": [{"path": "/data/cache", "size": "256Mi"}]},
    "refresh": {"schedule": "0 3 * * *"},
}


@dataclass
class Compiled:
    """The Jobs of a Dataset, as processes in the role of its pods."""

    manifests: list[Json]
    folder: Path
    mount: Mount
    hub: Hub

    @property
    def run_of_sync(self) -> str:
        return str(self._task("Job", "sync")["metadata"]["name"])

    def sync(self) -> Ended:
        return self._run(self._task("Job", "sync"), self.run_of_sync)

    def syncing(self) -> AbstractContextManager[subprocess.Popen[str]]:
        """A sync that runs; it is killed in the end."""
        return self._started(self._task("Job", "sync"), self.run_of_sync)

    def warmup(self) -> Ended:
        job = self._task("Job", "warmup")
        return self._run(job, job["metadata"]["name"])

    def refresh(self, minute: int) -> Ended:
        """What the CronJob of the refresh starts at this minute."""
        job = self._task("CronJob", "sync")
        return self._run(job, f"{job['metadata']['name']}-{minute}")

    def warmup_after_refresh(self, minute: int) -> Ended:
        job = self._task("CronJob", "warmup")
        return self._run(job, f"{job['metadata']['name']}-{minute}")

    def _task(self, kind: str, component: str) -> Json:
        (found,) = [
            each
            for each in self.manifests
            if each["kind"] == kind and each["metadata"]["labels"]["app.kubernetes.io/component"] == component
        ]
        return found

    def _run(self, job: Json, run: str) -> Ended:
        with self._started(job, run) as process:
            output, _ = process.communicate(timeout=180)
            return Ended(process.returncode, output)

    @contextmanager
    def _started(self, job: Json, run: str) -> Iterator[subprocess.Popen[str]]:
        spec = job["spec"].get("jobTemplate", job)["spec"]["template"]["spec"]
        (container,) = spec["containers"]
        (name,) = [each["configMap"]["name"] for each in spec["volumes"] if "configMap" in each]
        (config_map,) = [each for each in self.manifests if each["metadata"]["name"] == name]
        config = json.loads(config_map["data"]["config.json"])
        if config["task"] == "transfer":
            config["sink"]["mountPath"] = str(self.mount.path)
            # The storage of the tests' Hub is a host of its own.
            config["source"]["hosts"] = [urlsplit(self.hub.storage).netloc]
        else:
            config["mountPath"] = str(self.mount.path)
        path = self.folder / f"{run}.json"
        path.write_text(json.dumps(config))
        ids = (f"--reuid={USER}", f"--regid={USER}", "--clear-groups")
        # Rights to find Python and the client in the folders of the user who runs the tests.
        as_user = ["setpriv", *ids, "--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
        module = container["command"][1:]
        loopback = ["--allow-loopback"] if config["task"] == "transfer" else []
        command = [*as_user, sys.executable, *module, *container.get("args", ()), f"--config={path}", *loopback]
        variables = {each["name"]: each["value"] for each in container["env"] if "value" in each}
        scratch = self.folder / f"scratch-{run}"
        scratch.mkdir(exist_ok=True)
        scratch.chmod(0o777)
        variables |= {"TOKEN": f"{TOKEN}\n", "HF_ENDPOINT": self.hub.url, "STOWPLAN_RUN": run, "STOWPLAN_POD": "pod"}
        variables |= {"HOME": str(scratch), "TMPDIR": str(scratch)}
        variables["PATH"] = f"{self.mount.volume.program.parent}:{os.environ['PATH']}"
        pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        with subprocess.Popen(command, env=variables, cwd=scratch, text=True, **pipe) as process:
            try:
                yield process
            finally:
                process.kill()


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
def corpus(hub: Hub, repository: Repository, mounts: NewMounts, tmp_path: Path) -> Compiled:
    metadata = {"name": "corpus", "namespace": "ml"}
    body = {"apiVersion": "stowplan.dev/v1alpha1", "kind": "Dataset", "metadata": metadata, "spec": SPEC}
    lowered = lower(Dataset.model_validate(body), context())
    assert [each.code for each in lowered.findings] == []
    manifests = [each.body for each in lowered.unit.manifests]
    (volume,) = [each for each in manifests if each["kind"] == "PersistentVolume"]
    options = {each.partition("=")[0]: each.partition("=")[2] for each in volume["spec"]["mountOptions"]}
    (mount,) = mounts(1, options=(f"--subdir={options['subdir']}", *FORGETS))
    (tmp_path / "pods").mkdir()
    return Compiled(manifests, tmp_path / "pods", mount, hub)


def test_a_hub_fills_a_volume_through_its_mount_and_the_caches_are_warmed(corpus: Compiled) -> None:
    done = corpus.sync()
    assert done.code == 0, done.output
    assert files(corpus.mount.path) == {"train/a.txt": b"one", "b.txt": b"two"}
    assert look(corpus.mount.path, "synced").state == "ready"
    assert look(corpus.mount.path, "warmed").state == "waiting"
    done = corpus.warmup()
    assert done.code == 0, done.output
    assert look(corpus.mount.path, "warmed").state == "ready"


def test_a_refresh_brings_what_is_new_and_is_followed_by_a_warmup(
    corpus: Compiled, hub: Hub, repository: Repository
) -> None:
    assert (corpus.sync().code, corpus.warmup().code) == (0, 0)
    hub.store.put(repository, {"new.txt": b"three"})
    done = corpus.refresh(29000000)
    assert done.code == 0, done.output
    assert files(corpus.mount.path) == {"train/a.txt": b"one", "b.txt": b"two", "new.txt": b"three"}
    done = corpus.warmup_after_refresh(29000000)
    assert done.code == 0, done.output
    complete = json.loads((corpus.mount.path / COMPLETE_FILE).read_text())
    assert complete["run"] == corpus.run_of_sync
    assert look(corpus.mount.path, "warmed").state == "ready"


def test_a_refresh_that_fails_leaves_the_dataset_ready(corpus: Compiled, hub: Hub, repository: Repository) -> None:
    assert (corpus.sync().code, corpus.warmup().code) == (0, 0)
    repository.writers.clear()
    repository.readers.clear()
    assert corpus.refresh(29000000).code in (3, 4)
    assert look(corpus.mount.path, "warmed").state == "ready"
    assert files(corpus.mount.path) == {"train/a.txt": b"one", "b.txt": b"two"}


def test_a_transfer_waits_for_the_other_tasks_on_its_dataset(corpus: Compiled) -> None:
    remove = Lock(MountedState(corpus.mount.path), "rmr", Stop(), Log())
    with remove.held():
        (corpus.mount.path / STATE_DIRECTORY).chmod(0o777)
        (corpus.mount.path / STATE_DIRECTORY / "lock").chmod(0o777)
        with corpus.syncing() as process:
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(15)
            assert files(corpus.mount.path) == {}
    assert corpus.sync().code == 0
