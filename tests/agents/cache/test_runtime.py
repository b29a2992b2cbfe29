"""The runtime of a cache pod during every fault of its mount."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.agents.cache.conftest import NewDisk, NewMounts
from tests.agents.cache.redis_server import PASSWORD, Redis
from tests.agents.cache.runtime_agent import Runtime, runtime
from tests.agents.cache.volume import Mount
from tests.cluster.client import wait_for

INTERNAL = {".accesslog", ".config", ".control", ".jfs.control", ".stats", ".trash"}
"""What JuiceFS itself shows at the root."""

TOLD_SECONDS = 60
"""After that long a fault must be known."""


@pytest.fixture
def node(mounts: NewMounts) -> Mount:
    """A node with one file."""
    (node,) = mounts(1)
    (node.path / "a").write_bytes(b"x" * 5000)
    return node


@pytest.fixture
def agent(node: Mount, tmp_path: Path) -> Iterator[Runtime]:
    """Its agent, once it has measured."""
    with runtime(tmp_path / "agent", node) as running:
        wait_for(running.said(message="Measured", files=1), what="a measurement")
        wait_for(lambda: running.probe("ready") == (0, ""), what="readiness")
        yield running


def unready(agent: Runtime, reason: str) -> Callable[[], bool]:
    return lambda: agent.probe("ready")[1].startswith(f"{reason}: ")


def test_mount_that_hangs(agent: Runtime, node: Mount) -> None:
    """It is told, nothing waits for it, and all is well again once it answers."""
    node.freeze()
    wait_for(unready(agent, "MountHung"), TOLD_SECONDS, what="an unready pod")
    wait_for(agent.said(level="warning", reason="MountHung"), what="a warning")
    assert agent.probe("alive") == (0, "")
    node.thaw()
    wait_for(lambda: agent.probe("ready") == (0, ""), what="a ready pod")
    (node.path / "b").write_bytes(b"y")
    wait_for(agent.said(message="Measured", files=2), what="another measurement")


def test_agent_beside_a_mount_that_hangs_ends_at_once(agent: Runtime, node: Mount) -> None:
    node.freeze()
    wait_for(unready(agent, "MountHung"), TOLD_SECONDS, what="an unready pod")
    assert agent.end() == 143


def test_mount_whose_client_is_killed_and_comes_back(agent: Runtime, node: Mount) -> None:
    node.kill()
    wait_for(unready(agent, "MountDead"), TOLD_SECONDS, what="an unready pod")
    assert agent.probe("alive") == (0, "")
    node.unmount()
    wait_for(unready(agent, "NotMounted"), TOLD_SECONDS, what="no mount")
    node.start()
    wait_for(lambda: agent.probe("ready") == (0, ""), what="a ready pod")


def test_metadata_engine_that_is_away_and_comes_back(agent: Runtime, node: Mount, redis: Redis) -> None:
    """Once the engine is back, the client takes some of its patience to find out."""
    redis.kill()
    wait_for(lambda: agent.probe("ready")[1].startswith("Metadata"), TOLD_SECONDS, what="an unready pod")
    assert agent.probe("alive") == (0, "")
    assert PASSWORD not in json.dumps(agent.events())
    redis.start()
    wait_for(lambda: agent.probe("ready") == (0, ""), 120, what="a ready pod")


def test_pod_that_starts_before_the_mount(node: Mount, tmp_path: Path) -> None:
    node.unmount()
    with runtime(tmp_path / "agent", node) as agent:
        wait_for(unready(agent, "NotMounted"), what="no mount")
        node.stop()
        node.start()
        wait_for(agent.said(message="Measured", files=1), what="a measurement")


def test_runtime_ends_while_mount_is_broken(agent: Runtime) -> None:
    assert agent.end() == 143
    assert agent.events()[-1]["message"] == "Ended"


def test_little_is_taken(agent: Runtime, node: Mount) -> None:
    """Nothing is written into the dataset, and the image's limits are far away."""
    assert [each.name for each in node.path.iterdir() if each.name not in INTERNAL] == ["a"]
    status = Path(f"/proc/{agent.process.pid}/status").read_text(encoding="ascii")
    peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    assert peak < 80 * 1024


def test_wrong_configurations(node: Mount, tmp_path: Path) -> None:
    """Pods without a number, and the configuration of another task."""
    for pod in ("", "imagenet-runtime", "imagenet-runtime-x", "imagenet-runtime-01"):
        with runtime(tmp_path / f"of {pod}", node, environment={"STOWPLAN_POD": pod}) as agent:
            assert agent.process.wait(60) == 2
            assert "STOWPLAN_POD" in agent.events()[-1]["message"]
    with runtime(tmp_path / "agent", node, task="sync") as agent:
        assert agent.process.wait(60) == 2
        assert "task" in agent.events()[-1]["message"]


def test_a_cache_in_memory_has_no_more_space_than_its_node(node: Mount, tmp_path: Path) -> None:
    memory = tmp_path / "meminfo"
    memory.write_text("MemTotal: 8000000 kB\nMemAvailable: 65536 kB\n", encoding="ascii")
    node.run("warmup", node.path / "a")
    node.await_written()
    variables = {"STOWPLAN_MEMINFO": str(memory)}
    for directory, available in (("/dev/shm/imagenet", 64 << 20), ("/data/imagenet", (256 << 20) - 5000 - 4096)):
        options = ["cache-size=256", f"cache-dir={directory}"]
        folder = tmp_path / directory.split("/")[1]
        with runtime(folder, node, environment=variables, mountOptions=options) as agent:
            wait_for(agent.said(message="Measured", availableBytes=available), what="the space")


def test_a_cache_whose_disk_is_full_has_no_space(mounts: NewMounts, new_disk: NewDisk, tmp_path: Path) -> None:
    """The disk of 256 MiB holds 150 MiB of others, and JuiceFS leaves its half free. Its budget is 128 MiB."""
    disk = new_disk(256)
    options = (f"--cache-dir={disk}/cache", "--cache-size=128", "--free-space-ratio=0.5")
    (node,) = mounts(1, options=options)
    with runtime(tmp_path / "agent", node, cacheSizeMiB=128, mountOptions=["cache-size=128"]) as agent:
        wait_for(agent.said(message="Measured", availableBytes=128 << 20), what="the budget")
        for number in range(4):
            (node.path / str(number)).write_bytes(os.urandom(4 << 20))
        node.run("warmup", node.path)
        wait_for(agent.said(message="Measured", cachedBytes=4 * ((4 << 20) + 4096)), what="a full cache")
        (disk / "others").write_bytes(bytes(150 << 20))
        wait_for(agent.said(message="Measured", availableBytes=0), what="no space")
