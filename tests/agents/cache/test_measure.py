"""Size and cache of a dataset, compared with the client's own figures."""

import csv
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from stowplan.agents.cache.drivers.api import DatasetSize, Pulse, Trouble
from stowplan.agents.cache.drivers.juicefs.measure import JuiceFS
from tests.absent import skip
from tests.agents.cache.conftest import NewMounts
from tests.agents.cache.redis_server import Redis
from tests.agents.cache.volume import Mount, Volume
from tests.agents.waiting import until

KIB = 1024


@pytest.fixture
def node(mounts: NewMounts, juicefs: Path, monkeypatch: pytest.MonkeyPatch) -> Mount:
    """One node, with the client where the agent's image has it."""
    monkeypatch.setenv("PATH", f"{juicefs.parent}:{os.environ['PATH']}")
    return mounts(1)[0]


@pytest.fixture
def asked(juicefs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Gets a line for each call of the client: its arguments."""
    program, log = tmp_path / "bin" / "juicefs", tmp_path / "asked"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$@" >> {log}\nexec {juicefs} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return log


def fill(node: Mount) -> None:
    """Three files in three directories, 9 KiB in all."""
    for name, size in (("a", 1), ("train/b", 4 * KIB), ("train/deep/c", 5 * KIB - 1)):
        (node.path / name).parent.mkdir(parents=True, exist_ok=True)
        (node.path / name).write_bytes(b"x" * size)


def strictly(node: Mount, directory: str = "") -> DatasetSize:
    """What the client says when it looks at each file."""
    text = node.run("summary", "--strict", "--depth=0", "--csv", node.path / directory)
    (row,) = csv.DictReader(text.splitlines())
    return DatasetSize(int(row["SIZE"]), int(row["FILES"]))


def test_size_is_that_of_summary(node: Mount) -> None:
    fill(node)
    size = DatasetSize(bytes=(4 + 4 + 8 + 3 * 4) * KIB, files=3)
    assert JuiceFS().extent(node.path) == strictly(node) == size


@pytest.mark.parametrize("limit", [-1, 100])
def test_size_of_a_large_volume_is_that_of_its_statistics(node: Mount, redis: Redis, limit: int, asked: Path) -> None:
    """JuiceFS writes them once a second, and they must not be asked for before: see `EXACT_INODES`."""
    fill(node)
    # Of what each directory holds, so the root is in none.
    whole = strictly(node).bytes - 4 * KIB
    until(lambda: sum(map(int, redis.ask(1, "HVALS", "dirUsedSpace"))) == whole)
    driver = JuiceFS(exact_inodes=limit)
    driver.pulse(node.path)
    assert driver.extent(node.path) == strictly(node)
    assert ("--strict" in asked.read_text(encoding="utf-8").splitlines()[0]) == (limit == 100)


def test_our_own_state_does_not_count(node: Mount) -> None:
    fill(node)
    before = JuiceFS().extent(node.path)
    assert isinstance(before, DatasetSize)
    state = node.path / ".stowplan" / "runs"
    state.mkdir(parents=True)
    (state / "imagenet-sync-abcdefgh.json").write_bytes(b"x" * 100 * KIB)
    assert JuiceFS().extent(node.path) == before
    assert strictly(node).files == 4
    assert strictly(node).bytes == before.bytes + (100 + 4 + 4) * KIB


def test_trash_and_other_directories_of_the_volume_do_not_count(node: Mount, mounts: NewMounts) -> None:
    """They do in what `statfs` says."""
    fill(node)
    (node.path / "train" / "deep" / "c").unlink()
    (part,) = mounts(1, options=("--subdir=train",))
    assert JuiceFS().extent(part.path) == DatasetSize(bytes=(4 + 2 * 4) * KIB, files=1)
    whole = os.statvfs(node.path)
    assert (whole.f_blocks - whole.f_bfree) * whole.f_frsize > strictly(node).bytes


def test_cache_is_that_of_this_node_alone(mounts: NewMounts) -> None:
    one, other = mounts(2)
    (one.path / "a").write_bytes(b"x" * 100 * KIB)
    one.run("warmup", one.path / "a")
    one.await_written()
    # A block of 100 KiB, and 4 KiB that JuiceFS counts for each.
    assert JuiceFS().pulse(one.path) == Pulse(104 * KIB, evictions=0)
    assert JuiceFS().pulse(other.path) == Pulse(0, evictions=0)


def test_measuring_reads_no_data(node: Mount) -> None:
    fill(node)

    def blocks() -> float:
        """That the client read, from its cache or from the store."""
        return node.stats()["juicefs_blockcache_hits"] + node.stats()["juicefs_blockcache_miss"]

    before = blocks()
    assert JuiceFS().pulse(node.path).trouble is None
    assert isinstance(JuiceFS().extent(node.path), DatasetSize)
    assert blocks() == before
    (node.path / "train" / "b").read_bytes()
    assert blocks() == before + 1


def test_directory_that_is_no_mount(tmp_path: Path) -> None:
    assert JuiceFS().pulse(tmp_path) == Pulse(None, Trouble("NotMounted", f"No JuiceFS is mounted at {tmp_path}"))


def test_directory_that_is_not_there(tmp_path: Path) -> None:
    pulse = JuiceFS().pulse(tmp_path / "none")
    assert pulse.trouble is not None
    assert pulse.trouble.reason == "NotMounted"


def test_image_without_the_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    extent = JuiceFS().extent(tmp_path)
    assert isinstance(extent, Trouble)
    assert extent.reason == "NoClient"


def test_directory_of_another_file_system(tmp_path: Path, juicefs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{juicefs.parent}:{os.environ['PATH']}")
    extent = JuiceFS().extent(tmp_path)
    assert isinstance(extent, Trouble)
    assert extent.reason == "NotMounted"


def test_mount_whose_client_was_killed(node: Mount) -> None:
    node.kill()
    trouble = JuiceFS().pulse(node.path).trouble
    assert trouble == Trouble("MountDead", "The client that served the mount has ended")


@pytest.fixture
def common(fuse: None, volume: Volume) -> Iterator[Mount]:
    """A node and a copy of the client where everybody may reach them, as pytest's own folders are not."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        shutil.copy(volume.program, folder)
        node = Mount(volume, folder / "node")
        try:
            node.start()
            yield node
        finally:
            node.stop()


def test_user_of_the_image(common: Mount) -> None:
    """It is not root. Our state may belong to whoever synced; then it counts, which is better than no size at all."""
    fill(common)
    (common.path / ".stowplan").mkdir(mode=0o700)
    (common.path / "train").chmod(0o700)
    assert as_user("extent", common) == str(DatasetSize(strictly(common).bytes, 3))
    assert as_user("pulse", common).endswith("trouble=None, evictions=0)")


def test_root_that_only_its_owner_may_enter(common: Mount) -> None:
    common.path.chmod(0o700)
    assert as_user("extent", common) == f"NoAccess: No right to look into {common.path}"
    assert "The mount cannot be read: Permission denied" in as_user("pulse", common)


def as_user(question: str, node: Mount) -> str:
    """What the driver answers to the user of the images, as text."""
    program = (
        "import os, sys; from pathlib import Path;"
        "from stowplan.agents.cache.drivers.juicefs.measure import JuiceFS;"
        "os.setgroups([]); os.setgid(65532); os.setuid(65532); os.environ['PATH'] = sys.argv[2];"
        # That of the tests may lie in a home directory.
        "sys.executable = '/usr/bin/python3';"
        f"print(JuiceFS().{question}(Path(sys.argv[1])))"
    )
    command = [sys.executable, "-c", program, str(node.path), str(node.folder.parent)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    if "'/usr/bin/python3'" in done.stderr:
        skip("no Python that everybody may run")
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
