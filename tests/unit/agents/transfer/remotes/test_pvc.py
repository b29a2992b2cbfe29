"""Copies from one claim to another."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from stowplan.agents.attempt.completion import Completion
from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.outcome import AttemptOutcome
from stowplan.agents.attempt.redaction import Redactor
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.runtime.log import Log
from stowplan.agents.runtime.settings import SettingsError
from stowplan.agents.transfer.engine import TransferWork, engine
from stowplan.agents.transfer.remotes import pvc
from stowplan.agents.transfer.run import TransferRun
from stowplan.agents.transfer.settings import TransferSettings, settings
from stowplan.schema.agents.transfer_config import TransferConfig

STATE = ".stowplan/datasettasks/weekly"


class Claims:
    """Two folders that stand for two claims."""

    def __init__(self, folder: Path, path: str = "corpus") -> None:
        self.source, self.sink, self.path = folder / "source", folder / "sink", path
        self.source.mkdir()
        self.sink.mkdir()

    def config(self, **fields: object) -> TransferConfig:
        return TransferConfig.model_validate(
            {
                "target": {"kind": "DatasetTask", "namespace": "ml", "name": "weekly"},
                "reportPhase": False,
                "source": self.side(),
                "sink": {"type": "pvc", "claim": "b", "mountPath": str(self.sink), "path": "backup"},
                "memoryMiB": 256,
                "parallelism": 2,
                "state": {"directory": STATE, "lock": ".stowplan/locks/x"},
                **fields,
            }
        )

    def side(self) -> dict[str, object]:
        return {"type": "pvc", "claim": "a", "mountPath": str(self.source), "path": self.path}

    def put(self, name: str, data: bytes) -> Path:
        path = self.source / self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def run(self, run: str = "weekly-1") -> AttemptOutcome:
        given = settings(self.config(), {"STOWPLAN_RUN": run})
        return attempt(given)

    def copied(self) -> dict[str, bytes]:
        root = self.sink / "backup"
        return {str(each.relative_to(root)): each.read_bytes() for each in root.rglob("*") if each.is_file()}


def attempt(given: TransferSettings) -> AttemptOutcome:
    outcome = AttemptOutcome(given.run, "pod")
    work = TransferWork(outcome, Stop(), Log("text", {}), Redactor(()), given.config.request_retries)
    TransferRun(given, engine(given), work).all()
    return outcome


@pytest.fixture
def claims(tmp_path: Path) -> Claims:
    return Claims(tmp_path)


def test_files_are_copied_with_their_times(claims: Claims) -> None:
    os.utime(claims.put("train/a.bin", b"a" * 3_000_000), ns=(1_500_000_000_123_456_789,) * 2)
    claims.put("b.txt", b"")
    (claims.source / "corpus/empty").mkdir()
    outcome = claims.run()
    assert claims.copied() == {"train/a.bin": b"a" * 3_000_000, "b.txt": b""}
    assert (claims.sink / "backup/train/a.bin").stat().st_mtime_ns == 1_500_000_000_123_456_789
    assert (claims.sink / "backup/empty").is_dir()
    assert (outcome.progress.files_done, outcome.progress.bytes_done) == (2, 3_000_000)


def test_what_is_there_is_not_copied_again(claims: Claims) -> None:
    claims.put("a", b"one")
    claims.put("b", b"two")
    claims.run()
    before = (claims.sink / "backup/a").stat().st_ino
    claims.put("b", b"new")
    progress = claims.run("weekly-2").progress
    assert (progress.files_unchanged, claims.copied()) == (1, {"a": b"one", "b": b"new"})
    assert (claims.sink / "backup/a").stat().st_ino == before


def test_a_file_of_another_time_is_compared_by_its_content(claims: Claims) -> None:
    """File systems round times, and a file may have been changed without a change of its size."""
    for name in ("same", "other"):
        claims.put(name, b"12345")
    claims.run()
    for name in ("same", "other"):
        os.utime(claims.sink / "backup" / name, (1, 1))
    (claims.sink / "backup/other").write_bytes(b"54321")
    assert claims.run("weekly-2").progress.files_unchanged == 1
    assert claims.copied() == {"same": b"12345", "other": b"12345"}


def test_other_files_of_the_sink_stay(claims: Claims) -> None:
    (claims.sink / "backup").mkdir()
    (claims.sink / "backup/own").write_bytes(b"own")
    claims.put("a", b"a")
    claims.run()
    assert claims.copied() == {"own": b"own", "a": b"a"}


def test_a_run_that_is_over_copies_nothing_more(claims: Claims) -> None:
    claims.put("a", b"a")
    claims.run()
    claims.put("b", b"b")
    claims.run()
    assert claims.copied() == {"a": b"a"}


def test_state_of_agents_and_links_are_left_out(claims: Claims) -> None:
    claims.put(".stowplan/complete.json", b"{}")
    claims.put("a", b"a")
    claims.put(".git/config", b"[core]")
    os.mkfifo(claims.source / "corpus/pipe")
    outcome = claims.run()
    assert claims.copied() == {"a": b"a", ".git/config": b"[core]"}
    assert outcome.progress.fates()["leftOut"] == [{"reason": "device", "count": 1, "examples": ["pipe"]}]


def test_links_are_followed_within_the_source(claims: Claims) -> None:
    """As a cache of Hugging Face has them: `snapshots` links to `blobs`."""
    blob = claims.put("models/blobs/0123", b"weights")
    blob.chmod(0o640)
    claims.put("other/deep/b", b"b")
    folder = claims.source / "corpus/models/snapshots/main"
    folder.mkdir(parents=True)
    (folder / "model.bin").symlink_to("../../blobs/0123")
    (folder / "more").symlink_to("../../../other")
    claims.run()
    copied = claims.copied()
    assert copied["models/snapshots/main/model.bin"] == b"weights"
    assert copied["models/snapshots/main/more/deep/b"] == b"b"
    place = claims.sink / "backup/models/snapshots/main"
    assert not (place / "model.bin").is_symlink()
    assert (place / "model.bin").stat().st_mode & 0o777 == 0o640
    assert claims.run("weekly-2").progress.files_unchanged == 4


@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("/etc/passwd", "leads out of the source"),
        ("../../x", "leads out of the source"),
        ("missing", "leads nowhere"),
        ("link", "leads in a circle"),
        (".", "leads in a circle"),
        (".stowplan/x", "leads to what is not copied"),
    ],
)
def test_links_that_lead_nowhere_within_the_source(claims: Claims, target: str, why: str) -> None:
    claims.put("a", b"a")
    claims.put(".stowplan/x", b"{}")
    (claims.source / "corpus/link").symlink_to(target)
    with pytest.raises(AttemptError, match=f"'link' {why}") as caught:
        claims.run()
    assert (caught.value.code, caught.value.reason) == (5, "Links")
    assert claims.copied() == {}
    given = settings(claims.config(source={**claims.side(), "links": "skip"}), {"STOWPLAN_RUN": "weekly-2"})
    assert attempt(given).progress.fates()["leftOut"] == [{"reason": "link", "count": 1, "examples": ["link"]}]
    assert claims.copied() == {"a": b"a"}


def test_empty_folders_permissions_and_holes_are_kept(claims: Claims) -> None:
    claims.put("run.sh", b"#!").chmod(0o755)
    claims.put("key", b"k").chmod(0o600)
    (claims.source / "corpus/empty").mkdir()
    with claims.put("sparse", b"").open("r+b") as file:
        file.truncate(8 << 20)
        file.seek(5 << 20)
        file.write(b"data")
    claims.run()
    place = claims.sink / "backup"
    modes = {name: (place / name).stat().st_mode & 0o777 for name in ("run.sh", "key")}
    assert modes == {"run.sh": 0o755, "key": 0o600}
    assert (place / "empty").is_dir()
    assert (place / "sparse").read_bytes() == (claims.source / "corpus/sparse").read_bytes()
    assert (place / "sparse").stat().st_blocks * 512 < 1 << 20


def test_a_link_in_the_sink_is_replaced_and_not_followed(claims: Claims, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"mine")
    (claims.sink / "backup").mkdir()
    (claims.sink / "backup/a").symlink_to(outside)
    claims.put("a", b"a")
    claims.run()
    assert (claims.copied(), outside.read_bytes()) == ({"a": b"a"}, b"mine")


def _with_folder(claims: Claims) -> None:
    claims.put("a", b"")
    (claims.sink / "backup/a").mkdir(parents=True)
    (claims.sink / "backup/a/own").touch()


@pytest.mark.parametrize(
    ("prepare", "code", "reason"),
    [
        (lambda _: None, 4, "NotFound"),
        (lambda claims: claims.put("a\\b", b""), 5, "UnsafeKeys"),
        (_with_folder, 5, "IsADirectory"),
    ],
)
def test_failures(claims: Claims, prepare: Callable[[Claims], object], code: int, reason: str) -> None:
    prepare(claims)
    with pytest.raises(AttemptError) as raised:
        claims.run()
    assert (raised.value.code, raised.value.reason) == (code, reason)


def test_what_is_read_again_must_be_what_was_written(claims: Claims, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pvc, "sha256", lambda *_: "other")
    claims.put("a", b"a")
    with pytest.raises(AttemptError) as raised:
        claims.run()
    assert (raised.value.code, claims.copied()) == (11, {})


@pytest.mark.parametrize(
    "fields",
    [
        {"mirror": {}},
        {"state": None},
        {"source": {"type": "pvc", "claim": "a", "path": "../b"}},
    ],
)
def test_refused_configurations(claims: Claims, fields: dict[str, object]) -> None:
    with pytest.raises(SettingsError):
        settings(claims.config(**fields), {})


def test_completion_is_that_of_the_sink(claims: Claims) -> None:
    claims.put("a", b"a")
    claims.run()
    assert Completion(claims.sink, claims.sink / STATE, "weekly-1").is_done()
    assert not (claims.source / ".stowplan").exists()


def test_files_of_another_source_stay_and_are_told(claims: Claims) -> None:
    """A copy of a dataset is a backup."""
    claims.put("old", b"old")
    claims.put("both", b"1")
    claims.run()
    claims.path = "next"
    claims.put("both", b"22")
    outcome = claims.run("weekly-2")
    assert claims.copied() == {"both": b"22", "old": b"old"}
    fates = outcome.progress.fates()
    assert (fates["copied"], fates["deleted"], fates["unknown"]) == (1, 0, 1)
