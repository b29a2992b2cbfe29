"""The bounded output of a child process, tested with a program in place of `juicefs`."""

import os
from pathlib import Path

import pytest

from stowplan.agents.attempt.redaction import Redactor
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.cache.drivers.juicefs.child import LONGEST_LINE, Child, LogLine

SECRET = "CANARY " + "0123456789" * 400
"""So long that the rest of a line of such secrets fits into the shown length."""


@pytest.fixture
def says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file whose content `juicefs` prints."""
    program = tmp_path / "juicefs"
    program.write_text(f"#!/bin/sh\nexec cat {tmp_path}/said\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return tmp_path / "said"


@pytest.mark.parametrize("count", [LONGEST_LINE // len(SECRET) + 1, 4 * LONGEST_LINE // len(SECRET)])
def test_a_cut_line_contains_no_part_of_a_secret(says: Path, count: int) -> None:
    """It would not be known any more by whoever takes secrets out."""
    says.write_text(f"before\n{SECRET * count}\nafter {SECRET}")
    heard: list[LogLine] = []
    ended = Child({}, Stop(), Redactor([SECRET])).run("sync", said=heard.append)
    assert list(ended.lines) == heard
    assert [heard[0].text, heard[-1].text] == ["before", f"after {SECRET}"]
    assert len(heard) == 3
    assert max(len(line.text) for line in heard) <= LONGEST_LINE
    assert not any(part in line.shown for line in heard for part in ("CANA", "6789"))
