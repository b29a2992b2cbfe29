"""Copies of a Dataset with compiled configuration: to a bucket of a real store, and to another claim.

Those to a Hub and to a Git server are in `test_hub_dataset_copy.py` and `git/test_dataset_copy.py`.
"""

import json
import os
import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from stowplan.library.dialects.dataset_task.lower import lower
from stowplan.library.manifest import Json
from stowplan.schema.kinds.native.dataset import Dataset
from stowplan.schema.kinds.native.dataset_task import DatasetTask
from tests.agents.ended import Ended
from tests.agents.kills import Kills
from tests.agents.transfer.agent import files, started
from tests.agents.transfer.server import ACCESS_KEY, SECRET_KEY, Storage
from tests.tier import KILLS
from tests.unit.specs import context

METADATA = {"namespace": "ml", "name": "corpus"}
DATASET = Dataset.model_validate(
    {
        "apiVersion": "stowplan.dev/v1alpha1",
        "kind": "Dataset",
        "metadata": METADATA,
        "spec": {"volume": {"claim": {"name": "samples"}}},
    }
)
TO_CLAIM = {"to": {"claim": {"name": "archive", "subPath": "weekly"}}}


class Task:
    """The Job of a copy as a process, and folders in the place of its claims, by mount path."""

    def __init__(self, folder: Path, copy: dict[str, Any], endpoint: str = "") -> None:
        self.folder, self.endpoint = folder, endpoint
        self.samples, self.archive = folder / "samples", folder / "archive"
        self.data = self.samples / "ml/corpus"
        for each in (self.data, self.archive):
            each.mkdir(parents=True)
        body = {"apiVersion": "stowplan.dev/v1alpha1", "kind": "DatasetTask", "metadata": METADATA}
        task = DatasetTask.model_validate({**body, "spec": {"datasetRef": {"name": "corpus"}, "copy": copy}})
        result = lower(task, context(DATASET))
        made = {each.kind: each.body for each in result.unit.manifests}
        self.pod: Json = made["Job"]["spec"]["template"]["spec"]
        self.config = json.loads(made["ConfigMap"]["data"]["config.json"])
        for side in ("source", "sink"):
            if self.config[side]["type"] == "pvc":
                self.config[side]["mountPath"] = str(self._folder(self.config[side]["mountPath"]))

    def _folder(self, path: str) -> Path:
        """Return the folder in the place of the claim that the pod mounts at `path`."""
        (container,) = self.pod["containers"]
        (volume,) = [each["name"] for each in container["volumeMounts"] if each["mountPath"] == path]
        (claim,) = [each["persistentVolumeClaim"] for each in self.pod["volumes"] if each["name"] == volume]
        return self.folder / str(claim["claimName"])

    def run(self, run: str = "corpus-datasettask-a", variables: Mapping[str, str] = MappingProxyType({})) -> Ended:
        """Run to the end, with these variables in place of those from Secrets and of the addresses in the spec."""
        with self.started(run, variables) as process:
            output, _ = process.communicate(timeout=120)
            return Ended(process.returncode, output)

    @contextmanager
    def started(
        self, run: str = "corpus-datasettask-a", variables: Mapping[str, str] = MappingProxyType({})
    ) -> Iterator[Any]:
        (container,) = self.pod["containers"]
        given = {each["name"]: each["value"] for each in container["env"] if "value" in each}
        keys = {"S3_ACCESS_KEY_ID": f"{ACCESS_KEY}\n", "S3_SECRET_ACCESS_KEY": f"{SECRET_KEY}\n"}
        with started(self.folder, self.config, {**given, **keys, **variables, "STOWPLAN_RUN": run}) as process:
            yield process

    @property
    def copied(self) -> dict[str, bytes]:
        return files(self.archive / "weekly")


def test_a_directory_of_a_dataset_is_copied_to_a_bucket(storage: Storage, tmp_path: Path) -> None:
    """The claim is mounted read-only, so nothing is written into it."""
    place = {"uri": f"s3://{storage.bucket}/backup", "endpoint": storage.endpoint, "region": "us-east-1"}
    task = Task(tmp_path, {"subPath": "train", "to": {"s3": {**place, "secretRef": {"name": "keys"}}}})
    (task.data / "train").mkdir()
    (task.data / "train/1").write_bytes(b"one")
    (task.data / "other").write_bytes(b"other")
    assert task.run().code == 0
    assert storage.read() == {"backup/1": b"one"}
    assert files(task.samples) == {"ml/corpus/train/1": b"one", "ml/corpus/other": b"other"}
    assert task.run().code == 0


def test_a_dataset_is_copied_to_another_claim(tmp_path: Path) -> None:
    task = Task(tmp_path, TO_CLAIM)
    (task.data / "a").write_bytes(b"a")
    (task.data / "deep/er").mkdir(parents=True)
    (task.data / "deep/er/b").write_bytes(os.urandom(3_000_000))
    before = files(task.samples)
    assert task.run().code == 0
    assert task.copied == files(task.data)
    assert files(task.samples) == before
    (task.data / "a").write_bytes(b"new")
    assert task.run("corpus-datasettask-b").code == 0
    assert task.copied == files(task.data)


def test_a_missing_dataset_fails_for_good(tmp_path: Path) -> None:
    task = Task(tmp_path, {**TO_CLAIM, "subPath": "absent"})
    ended = task.run()
    assert (ended.code, "absent is not there" in ended.output) == (4, True)


def test_a_copy_that_is_killed_at_any_moment_ends_whole(tmp_path: Path) -> None:
    """No unfinished file is ever at its place. The dataset changes between two attempts, so that each has work."""
    task, kills = Task(tmp_path, TO_CLAIM), Kills(KILLS)
    chance = random.Random(7)  # noqa: S311 - content of a test
    ever: dict[str, set[bytes]] = {}
    for attempt in kills:
        for number in chance.sample(range(200), 50 if attempt else 200):
            data = chance.randbytes(chance.randrange(200_000))
            (task.data / f"{number:03}").write_bytes(data)
            ever.setdefault(f"{number:03}", set()).add(data)
        with task.started(f"run-{attempt}") as process:
            kills.strike(process)
        if (task.archive / "weekly").exists():
            assert all(data in ever[name] for name, data in task.copied.items())
    assert task.run().code == 0
    assert task.copied == files(task.data)
