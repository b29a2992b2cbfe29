"""The sync of a dataset in a claim: the agent with its compiled input, and the markers for waiting pods."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from zlib import crc32

import pytest
import yaml

from stowplan.agents.wait.dataset.readiness import look
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.agents.marker import COMPLETE_FILE, FAILED_FILE, STATE_DIRECTORY
from stowplan.schema.remotes.s3_listing import ListingHash
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
    with found.client() as client:
        client.call("PUT", accepted=(409,))
    return found


def test_a_sync_makes_the_dataset_complete(storage: Storage, tmp_path: Path) -> None:
    sync = Sync("sampleset-coco", storage, tmp_path)
    storage.put({"coco/train/1.jpg": b"one", "coco/2.jpg": b"two", "other/3.jpg": b"three"})
    assert sync.run("coco-sync-a") == 0
    assert sync.samples() == {"train/1.jpg": b"one", "2.jpg": b"two"}
    assert look(sync.dataset, "synced").state == "ready"
    assert json.loads((sync.dataset / COMPLETE_FILE).read_text())["run"] == "coco-sync-a"
    assert sync.run("coco-sync-a") == 0


def revision(sync: Sync) -> str:
    return str(json.loads((sync.dataset / COMPLETE_FILE).read_text())["revision"])


def test_the_marker_names_the_listing_that_was_copied(storage: Storage, tmp_path: Path) -> None:
    sync = Sync("sampleset-coco", storage, tmp_path)
    storage.put({"coco/train/1.jpg": b"one", "coco/2.jpg": b"two", "other/3.jpg": b"three"})
    assert sync.run("coco-sync-a") == 0
    first, wanted = revision(sync), ListingHash()
    for key, data in (("2.jpg", b"two"), ("train/1.jpg", b"one")):
        wanted.add(key, len(data), hashlib.md5(data, usedforsecurity=False).hexdigest())
    assert first == wanted.revision
    assert look(sync.dataset, "synced", first).state == "ready"
    storage.put({"other/3.jpg": b"changed"})
    assert sync.run("coco-sync-b") == 0
    assert revision(sync) == first
    # The same size, so that the ETag alone tells.
    storage.put({"coco/2.jpg": b"new"})
    assert sync.run("coco-sync-c") == 0
    assert revision(sync) != first
    assert look(sync.dataset, "synced", first).state == "waiting"
    storage.put({"coco/2.jpg": b"two"})
    assert sync.run("coco-sync-d") == 0
    assert revision(sync) == first


def test_a_locked_sync_brings_its_listing_or_changes_nothing(storage: Storage, tmp_path: Path) -> None:
    sync = Sync("sampleset-coco", storage, tmp_path)
    storage.put({"coco/1.jpg": b"one"})
    assert sync.run("coco-sync-a") == 0
    first, path = revision(sync), sync.place / "config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps(config | {"source": config["source"] | {"revision": first}}))
    assert sync.run("coco-sync-b") == 0
    assert revision(sync) == first
    storage.put({"coco/2.jpg": b"two"})
    assert sync.run("coco-sync-c") == ExitCode.CONFLICT
    assert sync.samples() == {"1.jpg": b"one"}
    assert revision(sync) == first


def test_a_sync_beside_that_of_the_dataset_takes_the_revision_out_of_its_marker(
    storage: Storage, tmp_path: Path
) -> None:
    own = Sync("sampleset-coco", storage, tmp_path)
    storage.put({"coco/1.jpg": b"one"})
    assert own.run("coco-sync-a") == 0
    first, marker = revision(own), own.dataset / COMPLETE_FILE
    beside = Sync("samplejob-coco-nightly", storage, tmp_path)
    storage.put({"coco/2.jpg": b"two"})
    assert beside.run("coco-nightly-1") == 0
    assert "revision" not in json.loads(marker.read_text())
    assert look(own.dataset, "synced").state == "ready"
    assert look(own.dataset, "synced", first).state == "waiting"


def test_a_failed_sync_that_changed_nothing_leaves_the_revision(storage: Storage, tmp_path: Path) -> None:
    sync = Sync("sampleset-coco", storage, tmp_path)
    storage.put({"coco/1.jpg": b"one"})
    assert sync.run("coco-sync-a") == 0
    first = revision(sync)
    assert sync.run("coco-sync-b", key="nobody") in (3, 4)  # by the words of the store
    assert revision(sync) == first


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
