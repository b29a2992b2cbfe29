"""Time zones from the packaged IANA database, never from the machine's."""

import zoneinfo
from pathlib import Path

import pytest

from stowplan.library.values import time_zones


@pytest.mark.parametrize("name", ["UTC", "Etc/UTC", "Europe/Berlin", "America/Argentina/Ushuaia", "US/Pacific", "GMT"])
def test_a_zone(name: str) -> None:
    assert time_zones.problem(name) is None


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Europe/Belrin", "Europe/Berlin"),
        ("europe/berlin", "Europe/Berlin"),
        ("Berlin", "Europe/Berlin"),
        ("utc", "UTC"),
        ("Local", "Europe/Berlin"),
        ("", "Europe/Berlin"),
        ("CEST", "Europe/Berlin"),
        ("UTC+2", "Europe/Berlin"),
        ("+02:00", "Europe/Berlin"),
        ("../../etc/passwd", "Europe/Berlin"),
        ("/Europe/Berlin", "Europe/Berlin"),
        ("Europe", "Europe/Berlin"),
    ],
)
def test_no_zone(name: str, words: str) -> None:
    problem = time_zones.problem(name)
    assert problem is not None
    assert words in problem[1]


def test_the_machine_is_not_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    zoneinfo.reset_tzpath([str(tmp_path)])
    try:
        (tmp_path / "Mars").write_bytes(b"")
        time_zones.names.cache_clear()
        assert time_zones.problem("Europe/Berlin") is None
        assert time_zones.problem("Mars") is not None
    finally:
        zoneinfo.reset_tzpath()
