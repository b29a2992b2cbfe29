"""Contents of a folder in a commit."""

import os
import subprocess
from pathlib import Path

import pytest

from stowplan.compiler.repository.commit import BaseError, at_commit


def git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def committed(repo: Path, folder: Path) -> None:
    """Commit the file `a` in `folder` of a new repository."""
    folder.mkdir(parents=True)
    (folder / "a").write_text("content")
    git(repo, "init", "-q")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "x")


@pytest.mark.parametrize(
    ("revision", "advice"), [("HEAD", "Commit something first."), ("origin/main", "Fetch it first.")]
)
def test_a_commit_that_does_not_exist_is_named_with_a_remedy(tmp_path: Path, revision: str, advice: str) -> None:
    git(tmp_path, "init", "-q")
    with pytest.raises(BaseError, match=f"There is no commit {revision} here. {advice}"):
        at_commit(tmp_path, revision)


def test_missing_object_is_an_error_for_the_user(tmp_path: Path) -> None:
    committed(tmp_path, tmp_path / "out")
    found = at_commit(tmp_path / "out", "HEAD")
    blob = found.blobs["a"]
    (tmp_path / ".git/objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(BaseError, match=f"lacks the object {blob}"):
        found.read(["a"])


@pytest.mark.parametrize("name", [b" out ", b"o\xff", b"o\n"])
def test_folder_with_an_unusual_name_is_found(tmp_path: Path, name: bytes) -> None:
    folder = tmp_path / os.fsdecode(name)
    committed(tmp_path, folder / "below")
    assert at_commit(folder, "HEAD").read(["below/a"]) == {"below/a": b"content"}
