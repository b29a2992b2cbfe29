"""The copy of a Dataset to a Hub, with compiled configuration."""

from pathlib import Path
from urllib.parse import urlsplit

from tests.agents.transfer.agent import files
from tests.agents.transfer.hub_base import TOKEN, Hub
from tests.agents.transfer.test_dataset_task import Task


def test_a_dataset_is_copied_to_a_repository_of_a_hub(hub: Hub, tmp_path: Path) -> None:
    task = Task(tmp_path, {"to": {"huggingface": {"repo": "ml/corpus", "secretRef": {"name": "hub"}}}})
    # The storage of the tests' Hub is a host of its own, and none that everybody knows.
    task.config["sink"]["hosts"] = [urlsplit(hub.storage).netloc]
    repository = hub.store.make("ml/corpus", "dataset", private=True, writers={TOKEN})
    (task.data / "train").mkdir()
    (task.data / "train/1").write_bytes(b"one")
    (task.data / "2").write_bytes(b"two")
    before = files(task.samples)
    ended = task.run(variables={"TOKEN": f"{TOKEN}\n", "HF_ENDPOINT": hub.url})
    assert ended.code == 0, ended.output
    assert hub.store.read(repository) == {"train/1": b"one", "2": b"two"}
    assert files(task.samples) == before
    assert TOKEN not in ended.output
