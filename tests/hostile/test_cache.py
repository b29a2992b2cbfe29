"""The cache in `~/.cache/stowplan`: with any content, a command gives the same result as with an empty cache."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from stat import S_IMODE

import pytest
from msgspec import msgpack

from stowplan.compiler.cache import private_files
from stowplan.compiler.cache.stamp import Stamp, look
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.repository.layout import Repository as Layout
from stowplan.compiler.repository.work_tree import Around
from tests.hostile.forged_runs import FILES, Repository

Ended = subprocess.CompletedProcess[str]


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    for name, text in FILES.items():
        (tmp_path / "repo" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "repo" / name).write_text(text)
    return Repository(tmp_path / "repo")


@pytest.fixture
def cache(repo: Repository) -> Path:
    return repo.folder.with_name("cache")


def stowplan(command: str, repo: Repository, cache: Path) -> Ended:
    """In a process of its own, which may hang or crash. `TimeoutExpired` after some time."""
    program = "from stowplan.compiler.cli import main; main()"
    arguments = [sys.executable, "-c", program, command, str(repo.folder)]
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "XDG_STATE_HOME": str(repo.folder.with_name("state"))}
    return subprocess.run(arguments, env=environment, capture_output=True, text=True, check=False, timeout=120)


def reported(ended: Ended) -> tuple[int, str, str]:
    return ended.returncode, ended.stdout, ended.stderr


def records(cache: Path) -> list[Path]:
    found = [path for path in (cache / "stowplan/runs").iterdir() if path.suffix == ".stamp"]
    assert found
    return found


def test_cache_is_readable_by_its_owner_alone(repo: Repository, cache: Path) -> None:
    before = os.umask(0o022)
    try:
        stowplan("validate", repo, cache / "new")
    finally:
        os.umask(before)
    folders = [cache, cache / "new", cache / "new/stowplan", cache / "new/stowplan/runs"]
    assert [S_IMODE(folder.stat().st_mode) for folder in folders] == [0o700] * 4


def test_folders_that_are_there_keep_their_mode(repo: Repository, cache: Path) -> None:
    cache.mkdir(mode=0o755)
    cache.chmod(0o755)
    stowplan("validate", repo, cache)
    assert S_IMODE(cache.stat().st_mode) == 0o755
    assert S_IMODE((cache / "stowplan").stat().st_mode) == 0o700


def test_output_of_an_older_commit_is_compiled_anew(repo: Repository, cache: Path) -> None:
    repo.git("init", "-q", "-b", "main")
    stowplan("synth", repo, cache)
    repo.commit("One image")
    repo.edit("specs/train.yaml", "train:1", "train:2")
    stowplan("synth", repo, cache)
    repo.commit("Another image")
    repo.git("checkout", "-q", "HEAD~1", "--", "out")
    assert stowplan("synth", repo, cache).returncode == 0
    assert "train:2" in (repo.out / "ml/paddlejob-train/job-train-paddlejob-worker.yaml").read_text()
    assert repo.git("diff", "HEAD", "--name-only") == ""


def test_edit_by_hand_that_keeps_the_size_is_seen(repo: Repository, cache: Path) -> None:
    stowplan("synth", repo, cache)
    path = repo.out / "ml/sampleset-imagenet/sampleset-imagenet.yaml"
    clean = path.read_bytes()
    path.write_bytes(clean.replace(b"name: imagenet", b"name: imagenot", 1))
    stowplan("synth", repo, cache)
    assert path.read_bytes() == clean


def replaced(content: bytes) -> Callable[[Path], object]:
    def put(record: Path) -> None:
        record.write_bytes(content)

    return put


def pipe(record: Path) -> None:
    record.unlink()
    os.mkfifo(record)


@pytest.mark.parametrize(
    ("command", "put"),
    [
        ("synth", replaced(b"[" * 100_000)),
        ("validate", replaced(b"[" * 100_000)),
        ("synth", pipe),
    ],
    ids=["synth, deep nesting", "validate, deep nesting", "synth, pipe"],
)
def test_broken_record_is_passed_over(
    repo: Repository, cache: Path, command: str, put: Callable[[Path], object]
) -> None:
    stowplan(command, repo, cache)
    expected = reported(stowplan(command, repo, cache))
    for record in records(cache):
        put(record)
    assert reported(stowplan(command, repo, cache)) == expected


def test_forged_record_does_not_hide_errors(repo: Repository, cache: Path) -> None:
    repo.edit("specs/train.yaml", "replicas: 1", "replicas: none")
    expected = reported(stowplan("validate", repo, cache))
    assert expected[0] == 1
    for record in records(cache):
        mark, content = record.read_bytes()[:32], record.read_bytes()[32:]
        stamp = msgpack.decode(content, type=Stamp)
        assert stamp.diagnostics
        record.write_bytes(mark + msgpack.encode(stamp._replace(diagnostics=())))
    assert reported(stowplan("validate", repo, cache)) == expected


def test_files_that_another_user_could_have_written_are_not_read(repo: Repository, cache: Path) -> None:
    stowplan("validate", repo, cache)
    for path in (cache / "stowplan/runs").iterdir():
        path.chmod(0o622)
    repo.edit("specs/train.yaml", "replicas: 1", "replicas: none")
    assert stowplan("validate", repo, cache).returncode == 1


def test_deep_values_are_a_miss_also_with_the_right_mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "repo/specs").mkdir(parents=True)
    repo = Layout(tmp_path / "repo")
    look(repo).remember(Report(), [], {}, {}, Around())
    assert look(repo).unchanged
    for content in (b"\x91" * 1_000_000, b"\x81\xa5files" + b"\x91" * 1_000_000, b"\xdd\xff\xff\xff\xff"):
        private_files.write(look(repo).file, content)
        assert look(repo).unchanged is None
