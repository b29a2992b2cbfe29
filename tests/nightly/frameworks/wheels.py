"""Real training frameworks: environments of Python with wheels from PyPI, found in the cache or installed by uv.

`python -m tests.nightly.frameworks.wheels` installs what is missing.
"""

import fcntl
import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.absent import skip
from tests.cluster.binaries import cache_folder
from tests.cluster.tools import MODULES
from tests.nightly.frameworks import cuda

UV = Path(sys.executable).with_name("uv")


@dataclass(frozen=True)
class Framework:
    """A release of a framework: requirements `<name>.txt` in `tests/tools/wheels`, and the Python that they need.

    `finish` gets the environment once all is installed.
    """

    name: str
    python: str
    finish: Callable[[Path], None] = lambda environment: None  # noqa: ARG005 - most need nothing more

    @property
    def requirements(self) -> Path:
        return MODULES / "wheels" / f"{self.name}.txt"


PADDLE_2 = Framework("paddle-2.6", "3.11")
PADDLE_3 = Framework("paddle-3.3", "3.11")
MXNET = Framework("mxnet-1.9", "3.8")
TORCH = Framework("torch-2.15", "3.11", cuda.replace)
JAX = Framework("jax-0.12", "3.12")
XGBOOST = Framework("xgboost-3.4", "3.12")
FRAMEWORKS = (PADDLE_2, PADDLE_3, MXNET, TORCH, JAX, XGBOOST)


class MissingError(Exception):
    """Why a framework cannot be had on this machine."""


def programs(framework: Framework) -> Path:
    """The folder with the `python` that has the framework. MissingError without the Python or without PyPI."""
    digest = hashlib.sha256(framework.requirements.read_bytes()).hexdigest()[:12]
    target = cache_folder() / f"{framework.name}-{digest}"
    if not target.is_dir():
        with _lock(framework):
            if not target.is_dir():
                _install(framework, target)
    return target / "bin"


def needed(framework: Framework) -> Path:
    """The same for a test, which is skipped without the framework."""
    try:
        return programs(framework)
    except MissingError as missing:
        skip(f"{framework.name} cannot be installed here: {missing}")


@contextmanager
def _lock(framework: Framework) -> Iterator[None]:
    """Two processes never install one framework at once."""
    cache_folder().mkdir(parents=True, exist_ok=True)
    with (cache_folder() / f"{framework.name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _install(framework: Framework, target: Path) -> None:
    """Beside the place, then one rename, so that a killed one leaves nothing half done."""
    with tempfile.TemporaryDirectory(dir=cache_folder(), prefix=f"{framework.name}-") as scratch:
        folder = Path(scratch) / "out"
        _uv("venv", "--relocatable", "--python", _python(framework.python), str(folder))
        wheels = ("--only-binary", ":all:", "--require-hashes", "--requirements", str(framework.requirements))
        _uv("pip", "install", "--no-deps", "--python", str(folder), *wheels)
        try:
            framework.finish(folder)
        except (OSError, subprocess.CalledProcessError) as error:
            raise MissingError(str(error)) from error
        folder.rename(target)


def _python(version: str) -> str:
    """An interpreter of pyenv, where uv does not look, or the version, which uv finds or downloads."""
    versions = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    found = sorted(versions.glob(f"{version}.*/bin/python"))
    return str(found[-1]) if found else version


def _uv(*words: str) -> None:
    done = subprocess.run([UV, *words, "--quiet"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise MissingError(done.stderr.strip()[-2000:])


def main() -> int:
    """Installs what is missing; 1 if that fails."""
    code = 0
    for framework in FRAMEWORKS:
        try:
            sys.stdout.write(f"{framework.name}: {programs(framework)}\n")
        except MissingError as missing:
            sys.stdout.write(f"{framework.name}: {missing}\n")
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main())
