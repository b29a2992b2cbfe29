"""The copy of a Dataset to a Git server, with compiled configuration: what is checked out there is pushed."""

import subprocess
from pathlib import Path

from tests.agents.transfer.git.author import Author
from tests.agents.transfer.git.server import TOKEN, Forge
from tests.agents.transfer.test_dataset_task import Task


def test_commits_of_a_dataset_are_pushed(writer: Author, forge: Forge, tmp_path: Path) -> None:
    url = "https://git.example.com/ml/model.git"
    task = Task(tmp_path / "task", {"to": {"git": {"url": url, "secretRef": {"name": "git"}}}})
    forge.users = {"oauth2": TOKEN}
    clone = task.data / "model"
    subprocess.run(["cp", "-r", f"{writer.folder}/.", clone], check=True)
    ours = Author(clone, forge, writer.name)
    ours.git("commit", "-q", "--allow-empty", "-m", "Ours")
    ended = task.run(variables={"URL": f"{forge.url}/model.git", "TOKEN": f"{TOKEN}\n"})
    assert ended.code == 0, ended.output
    assert writer.git("--git-dir", str(writer.bare), "rev-parse", "main") == ours.head
    assert TOKEN not in ended.output
