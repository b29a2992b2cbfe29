"""One poll of a dataset, on real files."""

import json
import os
from pathlib import Path

import pytest

from stowplan.agents.wait.dataset.readiness import Poll, look
from stowplan.schema.agents.marker import COMPLETE_FILE, FAILED_FILE, Marker, WarmupMarker, warmup_path
from stowplan.schema.agents.wait_config import Until
from stowplan.schema.meta import Model

NOBODY = 65534
"""A user without read access to root's files."""


def put(root: Path, place: str, content: Model | str) -> None:
    path = root / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else content.model_dump_json())


def complete(root: Path, run: str = "data-sync-a", **more: str) -> None:
    put(root, COMPLETE_FILE, json.dumps({"format": 1, "run": run, "filesDone": 3, **more}))


def warm(root: Path, partition: int, *, of: int = 2, sync: str = "data-sync-a", failed: bool = False) -> None:
    reported = {
        "run": f"data-warmup-{partition}-a",
        "result": "failed" if failed else "succeeded",
        "exitCode": 11 if failed else 0,
        "partition": partition,
        "partitions": of,
        "sync": sync,
    }
    put(root, warmup_path(partition), WarmupMarker.model_validate(reported))


def failed(root: Path) -> None:
    put(root, FAILED_FILE, Marker.model_validate({"run": "data-sync-a", "result": "failed", "exitCode": 3}))


def test_an_empty_dataset_is_mounted_and_nothing_more(tmp_path: Path) -> None:
    assert look(tmp_path, "mounted").state == "ready"
    assert look(tmp_path, "synced") == Poll(
        "waiting", "no sync has completed it (.stowplan/complete.json is not there)"
    )
    assert look(tmp_path, "warmed") == look(tmp_path, "synced")


def test_the_marker_of_the_sync_makes_it_synced(tmp_path: Path) -> None:
    complete(tmp_path)
    assert look(tmp_path, "synced").state == "ready"
    assert look(tmp_path, "warmed") == Poll("waiting", "it is synced, and no cache is warm yet")


@pytest.mark.parametrize("until", ["mounted", "synced"])
def test_it_is_ready_only_with_the_wanted_revision(tmp_path: Path, until: Until) -> None:
    assert look(tmp_path, until, "abc").state == "waiting"
    complete(tmp_path)
    assert look(tmp_path, until, "abc") == Poll("waiting", "its last sync brought an unknown revision, not abc")
    complete(tmp_path, revision="def")
    assert look(tmp_path, until, "abc") == Poll("waiting", "its last sync brought def, not abc")
    assert look(tmp_path, until) == Poll("ready", "it is mounted" if until == "mounted" else "it is synced")
    complete(tmp_path, revision="abc")
    assert look(tmp_path, until, "abc") == Poll("ready", "it is synced")


def test_with_a_revision_it_must_be_warm_too(tmp_path: Path) -> None:
    complete(tmp_path, revision="abc")
    assert look(tmp_path, "warmed", "abc").state == "waiting"
    warm(tmp_path, 0, of=1)
    assert look(tmp_path, "warmed", "abc") == Poll("ready", "it is synced and warm")
    assert look(tmp_path, "warmed", "def").state == "waiting"


@pytest.mark.parametrize("content", ["", "{", "[]", "\x00"])
def test_a_truncated_marker_does_not_count(tmp_path: Path, content: str) -> None:
    put(tmp_path, COMPLETE_FILE, content)
    assert look(tmp_path, "synced").state == "waiting"


def test_every_cache_must_be_warm(tmp_path: Path) -> None:
    complete(tmp_path)
    warm(tmp_path, 1)
    assert look(tmp_path, "warmed") == Poll("waiting", "it is synced, and 1 of 2 caches are warm")
    warm(tmp_path, 0)
    assert look(tmp_path, "warmed").state == "ready"


def test_a_warmup_of_an_earlier_sync_does_not_count(tmp_path: Path) -> None:
    complete(tmp_path, "data-sync-b")
    for partition in range(2):
        warm(tmp_path, partition)
    assert look(tmp_path, "warmed") == Poll("waiting", "it is synced, and no cache is warm yet")
    warm(tmp_path, 0, of=1, sync="data-sync-b")
    assert look(tmp_path, "warmed").state == "ready"


def test_a_failed_sync_is_reported_until_a_sync_succeeds(tmp_path: Path) -> None:
    failed(tmp_path)
    assert look(tmp_path, "synced") == Poll("failed", "its sync failed for good (run data-sync-a, exit code 3)")
    assert look(tmp_path, "warmed").state == "failed"
    assert look(tmp_path, "mounted").state == "ready"
    complete(tmp_path)
    assert look(tmp_path, "synced").state == "ready"


def test_a_failed_warmup_is_reported(tmp_path: Path) -> None:
    complete(tmp_path)
    warm(tmp_path, 0)
    warm(tmp_path, 1, failed=True)
    text = "the warmup of cache 1 failed for good (run data-warmup-1-a, exit code 11)"
    assert look(tmp_path, "warmed") == Poll("failed", text)
    assert look(tmp_path, "synced").state == "ready"


def test_a_missing_mount_is_broken(tmp_path: Path) -> None:
    assert look(tmp_path / "none", "mounted") == Poll("broken", "its mount cannot be read (No such file or directory)")


def test_a_missing_right_is_reported(tmp_path: Path) -> None:
    complete(tmp_path)
    (tmp_path / ".stowplan").chmod(0)
    tmp_path.chmod(0)
    user = os.geteuid()
    if user == 0:
        os.seteuid(NOBODY)
    try:
        poll = look(tmp_path, "synced")
    finally:
        os.seteuid(user)
        tmp_path.chmod(0o700)
        (tmp_path / ".stowplan").chmod(0o700)
    assert poll == Poll("refused", f"user {NOBODY if user == 0 else user} may not read {tmp_path}")
