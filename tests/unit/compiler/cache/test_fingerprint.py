"""The key of the program in the cache."""

import os
from pathlib import Path

import pytest

from stowplan import compiler
from stowplan.compiler.cache import fingerprint


def test_program_key_covers_the_content_of_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = tmp_path / "module.py"
    code.write_text("LIMIT = 1\n")
    monkeypatch.setattr(compiler, "__path__", [str(tmp_path)])
    before, times = fingerprint.of_program.__wrapped__(), code.stat()
    assert fingerprint.of_program.__wrapped__() == before
    code.write_text("LIMIT = 2\n")
    os.utime(code, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert fingerprint.of_program.__wrapped__() != before
