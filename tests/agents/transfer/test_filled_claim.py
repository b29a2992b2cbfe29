"""A Dataset in a claim: the agent with its compiled input copies from a real store, again and again."""

from pathlib import Path
from typing import Any

import pytest

from stowplan.agents.wait.dataset.readiness import look
from stowplan.schema.agents.marker import STATE_DIRECTORY
from tests.agents.compiled_dataset import CompiledDataset, compiled
from tests.agents.transfer.agent import files
from tests.agents.transfer.server import ACCESS_KEY, SECRET_KEY, Storage

OBJECTS = {f"train/{number}.jpg": b"image" for number in range(4)}


class Filled:
    """A Dataset in a claim, and the bucket that it is copied from."""

    def __init__(self, storage: Storage, folder: Path, **refresh: Any) -> None:
        uri = {"uri": f"s3://{storage.bucket}/train", "endpoint": storage.endpoint, "region": "us-east-1"}
        source = {**uri, "secretRef": {"name": "bucket"}, "include": ["*.jpg"]}
        spec = {
            "source": {"s3": source},
            "volume": {"claim": {"name": "samples"}},
            "refresh": {"schedule": "0 3 * * *", **refresh},
        }
        self.storage, self.claim = storage, folder / "claim"
        self.claim.mkdir()
        variables = {"S3_ACCESS_KEY_ID": ACCESS_KEY, "S3_SECRET_ACCESS_KEY": f"{SECRET_KEY}\n"}
        self.jobs = CompiledDataset(compiled(spec), folder, self.claim, variables)

    @property
    def dataset(self) -> Path:
        """The default directory of the data."""
        return self.claim / "ml" / "corpus"

    @property
    def samples(self) -> set[str]:
        return {name for name in files(self.dataset) if not name.startswith(STATE_DIRECTORY)}


def delete(storage: Storage, *keys: str) -> None:
    with storage.client() as client:
        for key in keys:
            client.call("DELETE", key)


@pytest.fixture
def filled(storage: Storage, tmp_path: Path) -> Filled:
    """The first sync is done."""
    made = Filled(storage, tmp_path, delete=True, maxDelete=1)
    storage.put({**OBJECTS, "train/notes.txt": b"left out", "other/5.jpg": b"not below the prefix"})
    done = made.jobs.sync()
    assert done.code == 0, done.output
    return made


def test_the_first_sync_fills_the_directory_of_the_dataset(filled: Filled) -> None:
    assert filled.samples == {"0.jpg", "1.jpg", "2.jpg", "3.jpg"}
    assert look(filled.dataset, "synced").state == "ready"


def test_a_refresh_copies_what_is_new_and_deletes_what_is_gone(filled: Filled) -> None:
    filled.storage.put({"train/9.jpg": b"new"})
    delete(filled.storage, "train/0.jpg")
    done = filled.jobs.refresh(29000000)
    assert done.code == 0, done.output
    assert filled.samples == {"1.jpg", "2.jpg", "3.jpg", "9.jpg"}
    assert look(filled.dataset, "synced").state == "ready"


def test_a_refresh_that_would_delete_too_much_deletes_nothing(filled: Filled) -> None:
    delete(filled.storage, "train/0.jpg", "train/1.jpg")
    assert filled.jobs.refresh(29000000).code == 5
    assert filled.samples == {"0.jpg", "1.jpg", "2.jpg", "3.jpg"}
    assert look(filled.dataset, "synced").state == "ready"


def test_a_refresh_deletes_nothing_by_default(storage: Storage, tmp_path: Path) -> None:
    made = Filled(storage, tmp_path)
    storage.put(OBJECTS)
    assert made.jobs.sync().code == 0
    delete(storage, "train/0.jpg")
    assert made.jobs.refresh(29000000).code == 0
    assert "0.jpg" in made.samples
