"""A place whose tests are killed leaves nothing for long."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.client import wait_for
from tests.cluster.shared import REPOSITORY
from tests.nightly.node import leftovers, network
from tests.nightly.node.leftovers import CGROUPS

_STARTER = """
import sys, time
from pathlib import Path
from tests.cluster.binaries import obtain
from tests.nightly.node.place import TOOLS, running
programs = {name: path for tool in TOOLS for name, path in obtain(tool).paths.items()}
with running(programs, Path(sys.argv[1])):
    print("up", flush=True)
    time.sleep(600)
"""


def of_it(folder: Path) -> list[str]:
    """Command lines of all processes that name the folder: kubelets, containerd, and the shims of their containers."""
    found = []
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = each.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if str(folder) in words:
            found.append(words)
    return found


def groups(pid: int) -> list[Path]:
    name = f"stowplan-{pid}-*"
    return [*CGROUPS.glob(name), *CGROUPS.glob(f"*/{name}")]


@pytest.mark.timeout(2700)  # it waits for the places of other files
def test_next_start_takes_away_what_a_killed_one_left(programs: dict[str, Path], tmp_path: Path) -> None:
    command = [sys.executable, "-c", _STARTER, str(tmp_path)]
    with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as starter:
        assert starter.stdout is not None
        assert starter.stdout.readline() == "up\n"
        assert of_it(tmp_path)
        assert groups(starter.pid)
        starter.kill()
    wait_for(lambda: not of_it(tmp_path), 60, what="end of all processes")
    wait_for(lambda: not Path("/sys/class/net", network.interface()).exists(), 60, what="end of the network")
    assert (tmp_path / "node-1").exists()
    with leftovers.named([], []):
        assert groups(starter.pid) == []
        assert not (tmp_path / "node-1").exists()
        assert str(tmp_path) not in Path("/proc/mounts").read_text(encoding="utf-8")
