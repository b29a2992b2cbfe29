"""Find the programs of a tool in KUBEBUILDER_ASSETS or in the cache, or build them with Go.

`python -m tests.cluster.binaries [landing | nightly]` builds what is missing of the programs that the tests of this
tier need, by default `landing`, and prints the minutes of each build.
"""

import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.tools import TIERS, Tool

SECONDS_FILE = "build-seconds"

COMPILER = {"GOGC": "off", "GOMEMLIMIT": "2GiB"}
"""The compiler collects no garbage before it has used two gigabytes, so it takes a tenth less of the processor.

Measured on etcd, with Go 1.26.
"""


@dataclass(frozen=True)
class Found:
    """The programs of one tool, ready to run."""

    tool: Tool
    paths: Mapping[str, Path]
    version: str
    """What the programs report, with the leading `v`."""
    origin: str
    """`assets` or `cache`."""
    build_seconds: float | None = None
    """What the build took when it was done; None for `assets`."""

    def __str__(self) -> str:
        if self.build_seconds is None:
            return f"{self.tool.name} {self.version} from KUBEBUILDER_ASSETS"
        return f"{self.tool.name} {self.version} built in {self.build_seconds / 60:.1f} min"


@dataclass(frozen=True)
class Missing:
    """Why a tool cannot be had on this machine."""

    tool: Tool
    reason: str

    def __str__(self) -> str:
        return f"{self.tool.name} {self.tool.version}: {self.reason}"


def cache_folder() -> Path:
    """Outside of every checkout, so that clones and branches share builds."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "stowplan" / "tools"


def find(tool: Tool) -> Found | None:
    """The tool from the assets or the cache; builds nothing."""
    return _from_assets(tool) or _from_cache(tool)


def obtain(tool: Tool) -> Found | Missing:
    """The tool from the assets or the cache, else built with Go; two processes never build one tool twice."""
    if found := find(tool):
        return found
    if shutil.which("go") is None:
        return Missing(tool, "neither in KUBEBUILDER_ASSETS nor in the cache, and there is no Go to build it")
    with _lock(tool):
        return _from_cache(tool) or _build(tool)


def _from_assets(tool: Tool) -> Found | None:
    """Programs of one release belong together, so the folder counts only if it has all of the tool.

    Files of modules are never in it.
    """
    folder = os.environ.get("KUBEBUILDER_ASSETS")
    if not folder or tool.files:
        return None
    paths = {name: Path(folder) / name for name in tool.programs}
    if not all(path.is_file() for path in paths.values()):
        return None
    version = _reported_version(paths[tool.programs[0]])
    if tool.minor and not version.startswith(f"v{tool.minor}."):
        return None
    return Found(tool, paths, version, "assets")


def _reported_version(program: Path) -> str:
    output = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"v?(\d+\.\d+\.\d+\S*)", output)
    return f"v{found[1]}" if found else "unknown"


def _from_cache(tool: Tool) -> Found | None:
    folder = cache_folder() / tool.key
    if not (folder / SECONDS_FILE).is_file():
        return None
    seconds = float((folder / SECONDS_FILE).read_text(encoding="ascii"))
    return Found(tool, {name: folder / name for name in tool.programs}, tool.version, "cache", seconds)


@contextmanager
def _lock(tool: Tool) -> Iterator[None]:
    cache_folder().mkdir(parents=True, exist_ok=True)
    with (cache_folder() / f"{tool.name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _build(tool: Tool) -> Found | Missing:
    """One `go build` for all programs, then one rename, so that a killed build leaves nothing half done."""
    target = cache_folder() / tool.key
    with tempfile.TemporaryDirectory(dir=cache_folder(), prefix=f"{tool.name}-") as scratch:
        folder = Path(scratch) / "out"
        folder.mkdir()
        output = folder / tool.programs[0] if len(tool.programs) == 1 else f"{folder}{os.sep}"
        start = time.monotonic()
        done = subprocess.run(
            ["nice", "go", "build", *tool.flags, "-o", output, "tool"],
            cwd=tool.folder,
            env={**COMPILER, **os.environ, "CGO_ENABLED": str(int(tool.cgo)), "GOWORK": "off"},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            return Missing(tool, f"go build failed: {done.stderr.strip()[-2000:]}")
        _copy_files(tool, folder)
        (folder / SECONDS_FILE).write_text(f"{time.monotonic() - start:.1f}\n", encoding="ascii")
        shutil.rmtree(target, ignore_errors=True)
        folder.rename(target)
    found = _from_cache(tool)
    assert found is not None
    return found


def _copy_files(tool: Tool, folder: Path) -> None:
    """The build has downloaded the module, so Go knows where its files are. They are read-only there."""
    if not tool.files:
        return
    command = ["go", "list", "-m", "-f", "{{.Dir}}", tool.module]
    environment = {**os.environ, "GOWORK": "off"}
    module = subprocess.check_output(command, cwd=tool.folder, env=environment, text=True).strip()
    for name in tool.files:
        for path in (each for each in (Path(module, name), *Path(module, name).rglob("*")) if each.is_file()):
            copy = folder / path.relative_to(module)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())


def main(arguments: list[str]) -> int:
    """Obtain every tool of the tier; 1 if one is missing."""
    (tier,) = arguments or ["landing"]
    failed = False
    for tool in TIERS[tier]:
        result = obtain(tool)
        failed |= isinstance(result, Missing)
        sys.stdout.write(f"{result}\n")
        sys.stdout.flush()
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
