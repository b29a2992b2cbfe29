"""The sync of a dataset in a claim: the agent with its compiled input, and the markers for waiting pods."""

import json
import os
import subprocess
import sys
from pathlib import Path
from zlib import crc32

import pytest
import yaml

from stowplan.agents.wait_dataset.readiness import look
from stowplan.schema.agents.marker import COMPLETE_FILE, FAILED_FILE, STATE_DIRECTORY
from tests.agents.transfer.agent import files
from tests.agents.transfer.server import ACCESS_KEY, SECRET_KEY, Storage
from tests.repositories import REPOSITORY

OUT = REPOSITORY / "out" / "shared-claim" / "vision"


class Sync:
    """A compiled sync, on a folder that stands for the claim and a real store."""

    def __init__(self, folder: str, storage: Storage, place: Path) -> None:
        self.storage, self.place = storage, place
        (config_map,) = (OUT / folder).glob("configmap-*.yaml")
        config = json.loads(yaml.safe_load(config_map.read_text(encoding="utf-8"))["data"]["config.json"])
        (path,) = [each for each in (OUT / folder).iterdir() if each.name.startswith(("job-", "cronjob-"))]
        spec = yaml.safe_load(path.read_text(encoding="utf-8"))["spec"]
        (self.container,) = spec.get("jobTemplate", {"spec": spec})["spec"]["template"]["spec"]["containers"]
        self.claim = place / "claim"
        self.claim.mkdir(exist_ok=True)
        config["sink"]["mountPath"] = str(self.claim)
        # In place of the buckets of AWS, which the example names.
        config["source"] |= {"endpointEnv": "S3_ENDPOINT", "uri": f"s3://{storage.bucket}/coco/"}
        (place / "config.json").write_text(json.dumps(config))

    @property
    def dataset(self) -> Path:
        return self.claim / "coco"

    def samples(self) -> dict[str, bytes]:
        """What the dataset holds, without the agent's own state."""
        return {name: data for name, data in files(self.dataset).items() if not name.startswith(STATE_DIRECTORY)}

    def run(self, run: str, *, key: str = ACCESS_KEY) -> int:
        """One run to its end; gives the exit code."""
        given = {each["name"]: each.get("value", "") for each in self.container["env"]}
        environment = given | {
            "STOWPLAN_SOURCE_ACCESS_KEY": key,
            "STOWPLAN_SOURCE_SECRET_KEY": f"{SECRET_KEY}\n",
            "S3_ENDPOINT": self.storage.endpoint,
            "S3_REGION": "us-east-1",
            "STOWPLAN_RUN": run,
            "PATH": os.environ["PATH"],
        }
        command = [
            sys.executable,
            *self.container["command"][1:],
            f"--config={self.place / 'config.json'}",
            "--allow-loopback",
        ]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        sys.stdout.write(done.stderr)
        return done.returncode


@pytest.fixture
def storage(s3_server: str, request: pytest.FixtureRequest) -> Storage:
    found = Storage(s3_server, f"dataset-{crc32(request.node.name.encode())}")
    with found.wire() as wire:
        wire.call("PUT", accepted=(409,))
    return found


def test_a_sync_makes_the_dataset_complete(storage: Storage, tmp_path: Path) -> None:
    sync = Sync("sampleset-coco", storage, tmp_path)
    storage.put({"coco/train/1.jpg": b"one", "coco/2.jpg": b"two", "other/3.jpg": b"three"})
    assert sync.run("coco-sync-a") == 0
    assert sync.samples() == {"train/1.jpg": b"one", "2.jpg": b"two"}
    assert look(sync.dataset, "synced").state == "ready"
    assert json.loads((sync.dataset / COMPLETE_FILE).read_text())["run"] == "coco-sync-a"
    assert sync.run("coco-sync-a") == 0


def test_a_sync_that_fails_for_good_says_so_until_another_succeeds(storage: Storage, tmp_path: Path) -> None:
    sync = Sync("sampleset-coco", storage, tmp_path)
    assert sync.run("coco-sync-a") == 4
    failed = look(sync.dataset, "synced")
    assert (failed.state, "coco-sync-a, exit code 4" in failed.text) == ("failed", True)
    storage.put({"coco/1.jpg": b"one"})
    assert sync.run("coco-sync-b") == 0
    assert look(sync.dataset, "synced").state == "ready"
    assert not (sync.dataset / FAILED_FILE).exists()


def test_a_refused_sync_leaves_a_complete_dataset_alone(storage: Storage, tmp_path: Path) -> None:
    """It has changed nothing."""
    sync = Sync("sampleset-coco", storage, tmp_path)
    storage.put({"coco/1.jpg": b"one"})
    assert sync.run("coco-sync-a") == 0
    assert sync.run("coco-sync-b", key="nobody") in (3, 4)  # by the words of the store
    assert look(sync.dataset, "synced").state == "ready"


def test_a_sync_beside_that_of_the_dataset_completes_nothing(storage: Storage, tmp_path: Path) -> None:
    sync = Sync("samplejob-coco-nightly", storage, tmp_path)
    storage.put({"coco/1.jpg": b"one"})
    assert sync.run("coco-nightly-1") == 0
    assert sync.samples() == {"1.jpg": b"one"}
    assert look(sync.dataset, "synced").state == "waiting"
    assert (sync.dataset / ".stowplan/samplejobs/coco-nightly/complete.json").exists()
