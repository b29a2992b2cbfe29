"""Keeps `examples/` and `out/` of a commit as the repositories of a version.

At each release, run `.venv/bin/python -m tests.upgrade.pack VERSION [COMMIT]`, and remove a version in development. The
same commit gives the same bytes. `0.1.0` is of the commit cf330aee.
"""

import lzma
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def pack(version: str, commit: str = "HEAD") -> None:
    command = ["git", "archive", "--format=tar", commit, "examples", "out"]
    tar = subprocess.run(command, cwd=HERE.parents[1], capture_output=True, check=True).stdout
    (HERE / f"{version}.tar.xz").write_bytes(lzma.compress(tar, preset=9 | lzma.PRESET_EXTREME))


if __name__ == "__main__":
    pack(*sys.argv[1:])
