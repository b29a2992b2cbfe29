"""Whether a file that is there is the copy of what a source lists."""

import os
from pathlib import Path

import pytest

from stowplan.agents.copying.newness import SECOND, Stamp


@pytest.mark.parametrize(
    ("there", "unit", "agrees"),
    [
        (Stamp(3, 5 * SECOND), 1, True),
        (Stamp(3, 5 * SECOND + 1), 1, False),
        (Stamp(3, 5 * SECOND + 1), SECOND, True),
        (Stamp(3, 6 * SECOND), SECOND, False),
        (Stamp(3, 4 * SECOND), SECOND, False),
        (Stamp(4, 5 * SECOND), SECOND, False),
        (None, SECOND, False),
    ],
)
def test_stamps(there: Stamp | None, unit: int, *, agrees: bool) -> None:
    assert Stamp(3, 5 * SECOND).agrees(there, unit) is agrees


def test_only_regular_files_have_one(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"123")
    (tmp_path / "link").symlink_to("file")
    os.utime(tmp_path / "file", ns=(7, 7))
    assert Stamp.of((tmp_path / "file").lstat()) == Stamp(3, 7)
    assert [Stamp.of(each) for each in (tmp_path.lstat(), (tmp_path / "link").lstat(), None)] == [None, None, None]
