"""Contents of a folder in a commit, and names of commits."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from stowplan.compiler.git import program
from stowplan.compiler.git.commit import at_commit, merge_base
from stowplan.compiler.git.work_tree import GitError, around


def git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def committed(repo: Path, folder: Path) -> None:
    """Commit the file `a` in `folder` of a new repository."""
    folder.mkdir(parents=True)
    (folder / "a").write_text("content")
    git(repo, "init", "-q", "-b", "main")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "x")


@pytest.mark.parametrize(
    ("revision", "advice"),
    [
        ("HEAD", "Commit something first."),
        ("origin/main", "Fetch it first."),
        ("refs/remotes/origin/main", "Fetch it first."),
    ],
)
def test_a_commit_that_does_not_exist_is_named_with_a_remedy(tmp_path: Path, revision: str, advice: str) -> None:
    git(tmp_path, "init", "-q")
    with pytest.raises(GitError, match=f"There is no commit {revision} here. {advice}"):
        at_commit(tmp_path, tmp_path, revision)


def test_missing_object_is_an_error_for_the_user(tmp_path: Path) -> None:
    committed(tmp_path, tmp_path / "out")
    found = at_commit(tmp_path, tmp_path / "out", "HEAD")
    blob = found.blobs["a"]
    (tmp_path / ".git/objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(GitError, match=f"lacks the object {blob}"):
        found.read(["a"])


@pytest.mark.parametrize("name", [b" out ", b"o\xff", b"o\n"])
def test_folder_with_an_unusual_name_is_found(tmp_path: Path, name: bytes) -> None:
    folder = tmp_path / os.fsdecode(name)
    committed(tmp_path, folder / "below")
    assert at_commit(tmp_path, folder, "HEAD").read(["below/a"]) == {"below/a": b"content"}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A clone with two commits: `refs/remotes/origin/main` is the first one, `HEAD` the second one."""
    committed(tmp_path, tmp_path / "out")
    git(tmp_path, "update-ref", "refs/remotes/origin/main", "HEAD")
    (tmp_path / "out/a").write_text("evil")
    git(tmp_path, "commit", "-qam", "x")
    return tmp_path


def at(repo: Path, revision: str) -> bytes:
    return at_commit(around(repo / "out", repo), repo / "out", revision).read(["a"])["a"]


@pytest.mark.parametrize("ref", ["refs/tags/origin/main", "refs/heads/origin/main", "refs/origin/main"])
def test_a_name_that_may_mean_several_commits_is_refused(repo: Path, ref: str) -> None:
    """Git would take the first one of these for the branch of the remote repository."""
    git(repo, "update-ref", ref, "HEAD")
    said = rf"origin/main may mean {ref} \([0-9a-f]+\) or refs/remotes/origin/main \([0-9a-f]+\)\."
    for revision in ("origin/main", "origin/main^{commit}", "origin/main~0"):
        with pytest.raises(GitError, match=said):
            at(repo, revision)
        with pytest.raises(GitError, match=said):
            merge_base(repo, revision)
    assert at(repo, "refs/remotes/origin/main") == b"content"


def test_several_names_of_one_commit_are_none_too_many(repo: Path) -> None:
    git(repo, "tag", "-m", "Release", "origin/main", "refs/remotes/origin/main")
    assert at(repo, "origin/main") == b"content"


def test_a_whole_name_is_no_end_of_another_one(repo: Path) -> None:
    """Git would look for it among the tags."""
    git(repo, "update-ref", "-d", "refs/remotes/origin/main")
    git(repo, "tag", "refs/remotes/origin/main")
    with pytest.raises(GitError, match="There is no commit refs/remotes/origin/main here"):
        at(repo, "refs/remotes/origin/main")


def test_a_tag_with_the_name_of_head_changes_nothing(repo: Path) -> None:
    git(repo, "update-ref", "refs/tags/HEAD", "HEAD^")
    assert [at(repo, each) for each in ("HEAD", "@", "HEAD^")] == [b"evil", b"evil", b"content"]


def test_a_tag_with_the_id_of_a_commit_is_no_commit(repo: Path) -> None:
    commit = git(repo, "rev-parse", "HEAD^")
    for name in (commit, commit[:8]):
        git(repo, "update-ref", f"refs/tags/{name}", "HEAD")
    assert at(repo, commit) == b"content"
    with pytest.raises(GitError, match=rf"may mean refs/tags/{commit[:8]} \(.*\) or the commit {commit} "):
        at(repo, commit[:8])
    assert at(repo, commit[:9]) == b"content"


def test_files_that_look_like_a_repository_are_not_asked(repo: Path) -> None:
    """They can be part of any branch. In them, `refs/remotes/origin/main` is whatever their author likes."""
    fake = repo.parent / "fake"
    committed(fake, fake / "out")
    (fake / "out/a").write_text("forged")
    git(fake, "commit", "-qam", "x")
    git(fake, "update-ref", "refs/remotes/origin/main", "HEAD")
    for each in (fake / ".git").iterdir():
        each.rename(repo / "out" / each.name)
    git(repo, "--git-dir=out", "config", "core.bare", "true")
    assert at(repo, "refs/remotes/origin/main") == b"content"


HOSTILE = {
    "core.attributesFile": "{evil}",
    "core.fsmonitor": "{evil}",
    "core.hooksPath": "{evil}",
    "core.pager": "{evil}",
    "core.quotePath": "true",
    "diff.external": "{evil}",
    "diff.ignoreSubmodules": "all",
    "log.showSignature": "true",
}


def test_settings_variables_and_other_histories_change_nothing(
    repo: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    evil = tmp_path_factory.mktemp("evil") / "program"
    evil.write_text(f"#!/bin/sh\ntouch {evil.parent}/ran\n")
    evil.chmod(0o755)
    first, second = (git(repo, "rev-parse", each) for each in ("HEAD^", "HEAD"))
    for name, value in HOSTILE.items():
        git(repo, "config", name, value.format(evil=evil))
    git(repo, "replace", first, second)
    (repo / ".git/info").mkdir(exist_ok=True)
    (repo / ".git/info/grafts").write_text(f"{second}\n")
    other = evil.parent / "other"
    committed(other, other / "out")
    for name, path in {
        "GIT_DIR": ".git",
        "GIT_WORK_TREE": ".",
        "GIT_INDEX_FILE": ".git/index",
        "GIT_OBJECT_DIRECTORY": ".git/objects",
        "GIT_COMMON_DIR": ".git",
        "GIT_GRAFT_FILE": "out/a",
        "GIT_EXTERNAL_DIFF": "../program",
    }.items():
        monkeypatch.setenv(name, str(other / path))
    monkeypatch.setenv("GIT_NAMESPACE", "other")
    assert at(repo, "refs/remotes/origin/main") == b"content"
    assert at(repo, "HEAD^") == b"content"
    assert merge_base(repo, first) == first
    assert not (evil.parent / "ran").exists()


def test_trust_in_folders_of_others_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Containers have it in variables."""
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "safe.directory")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "/repo")
    assert program.run("config", "--get-all", "safe.directory").stdout == b"/repo\n"


def test_nothing_else_starts_git() -> None:
    root = Path(__file__).parents[4] / "compiler/stowplan/compiler"
    starts = re.compile(r"subprocess\.\w+\(\s*(?:#.*\s*)?\[\s*[\"']git[\"']")
    assert [
        path.relative_to(root).as_posix() for path in sorted(root.rglob("*.py")) if starts.search(path.read_text())
    ] == ["git/program.py"]
