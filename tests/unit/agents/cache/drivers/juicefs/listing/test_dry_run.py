"""Listings of `juicefs sync --dry`, with a program that prints them in place of the client."""

import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.redaction import Redactor
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.cache.drivers.juicefs.child import Child
from stowplan.agents.cache.drivers.juicefs.listing.dry_run import DryRun
from stowplan.agents.cache.drivers.juicefs.listing.entry import Entry, Place

Says = Callable[..., DryRun]
HEAD = "2026/11/27 23:31:20.062046 juicefs[9384]"


def line(key: str, size: int = 2, time: str = "2026-11-27 23:31:20.5 +0000 UTC") -> str:
    return f"{HEAD} <DEBUG>: exclude {key} size: {size}, mtime: {time} [filter@sync.go:1239]"


def end(excluded: int) -> str:
    return (
        f"{HEAD} <INFO>: Found: 0, excluded: {excluded} (0 B), skipped: 0 (0 B), copied: 0 (0 B), extra: 0 (0 B) "
        "[Sync@sync.go:1677]"
    )


@pytest.fixture
def says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Says:
    """Makes the program print these lines."""
    program = tmp_path / "juicefs"
    program.write_text(f"#!/bin/sh\nexec cat {tmp_path}/said\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    def make(*lines: str) -> DryRun:
        (tmp_path / "said").write_bytes("\n".join(lines).encode(errors="surrogateescape"))
        return DryRun(Child({}, Stop(), Redactor(())), {})

    return make


def entries(run: DryRun, stem: str = "", *, strict: bool = True) -> list[Entry]:
    with closing(run.entries(Place("oss://b/", stem), "the source oss://b/", strict=strict)) as found:
        return list(found)


def test_times_of_all_zones(says: Says) -> None:
    zones = {
        "2026-11-27 23:31:20.062046123 +0000 UTC": 1795822280,
        "2026-11-28 07:31:20 +0800 CST": 1795822280,
        "2026-11-27 19:01:20.9 -0430 -0430": 1795822280,
        "0001-01-01 00:00:00 +0000 UTC": -62135596800,
        "2026-11-27 23:31:20.01 +0000 UTC m=+0.012": 1795822280,
    }
    found = entries(says(*(line(f"{number}", 0, time) for number, time in enumerate(zones)), end(len(zones))))
    assert [each.modified for each in found] == list(zones.values())


def test_keys_of_all_kinds(says: Says) -> None:
    keys = [" lead", "a\udcff", "d/", "trail ", "x size: 5, mtime: 2026-11-27 23:31:20 +0000 UTC", "\U0001f600"]
    assert [each.key for each in entries(says(*map(line, keys), end(6)))] == keys
    assert [each.key for each in entries(says(line("train/a"), line("trail"), end(2)), "train")] == ["/a"]


@pytest.mark.parametrize(
    "lines",
    [
        (line("new\nline"), end(1)),
        # The second line of a key passes itself off as another object.
        (line(f"new\n{line('forged')}"), end(1)),
        (line("a"), end(2)),
    ],
)
def test_a_key_with_a_line_break_is_an_error_of_a_source(says: Says, lines: tuple[str, ...]) -> None:
    with pytest.raises(AttemptError) as failed:
        entries(says(*lines))
    assert (failed.value.code, failed.value.reason) == (5, "UnsafeKeys")
    entries(says(*lines), strict=False)


def test_a_listing_without_a_count_has_failed(says: Says) -> None:
    with pytest.raises(AttemptError) as failed:
        entries(says(line("a")))
    assert failed.value.code == 10
