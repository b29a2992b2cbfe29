"""Real volumes for the tests of the cache agent. They need Go or a built client, Redis, and the right to mount."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.absent import skip
from tests.agents.cache.redis_server import PASSWORD, Redis, program, running
from tests.agents.cache.task_agent import Dataset
from tests.agents.cache.volume import Mount, Store, Volume, sweep, why_not
from tests.agents.transfer.server import ACCESS_KEY, SECRET_KEY, needed, new_bucket, serving
from tests.cluster.binaries import Missing, obtain
from tests.cluster.tools import JUICEFS

NewVolume = Callable[[Store], Volume]
NewMounts = Callable[..., list[Mount]]
NewDisk = Callable[[int], Path]


@pytest.fixture(scope="session")
def juicefs() -> Path:
    """The client."""
    found = obtain(JUICEFS)
    if isinstance(found, Missing):
        skip(str(found))
    return found.paths["juicefs"]


@pytest.fixture(scope="session")
def redis_program() -> Path:
    found = program()
    if found is None:
        skip("no redis-server on this machine")
    return found


@pytest.fixture
def redis(redis_program: Path, tmp_path: Path) -> Iterator[Redis]:
    """A server of this test alone. Database 1 is for the metadata of `volume`."""
    with running(tmp_path / "redis", redis_program) as server:
        yield server


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """URL of an S3 server."""
    with serving(needed(), tmp_path_factory.mktemp("s3")) as url:
        yield url


@pytest.fixture
def new_volume(juicefs: Path, redis: Redis, tmp_path: Path) -> NewVolume:
    """Formats volumes, one for each call."""
    count = 0

    def make(store: Store) -> Volume:
        nonlocal count
        count += 1
        made = Volume(juicefs, tmp_path / f"volume-{count}", redis.url(count), store)
        made.format()
        return made

    return make


@pytest.fixture
def volume(new_volume: NewVolume, tmp_path: Path) -> Volume:
    """A volume with its blocks in a directory."""
    return new_volume(Store("file", f"{tmp_path}/blocks/"))


@pytest.fixture
def s3_volume(new_volume: NewVolume, s3: str) -> Volume:
    """A volume with its blocks in S3."""
    bucket = new_bucket(s3).bucket
    return new_volume(Store("s3", f"{s3}/{bucket}", ACCESS_KEY, SECRET_KEY))


@pytest.fixture
def redis_volume(new_volume: NewVolume, redis: Redis) -> Volume:
    """A volume with its blocks in Redis, beside its metadata."""
    return new_volume(Store("redis", redis.url(15), secret_key=PASSWORD))


@pytest.fixture(scope="session")
def fuse(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The tests are skipped where nothing can be mounted."""
    if reason := why_not():
        # Who may not mount is skipped; a program can be installed.
        (skip if "fusermount" in reason else pytest.skip)(reason)
    sweep(tmp_path_factory.getbasetemp())


@pytest.fixture
def mounts(fuse: None, volume: Volume, tmp_path: Path) -> Iterator[NewMounts]:
    """Mounts a volume, by default `volume`, on this many nodes."""
    with ExitStack() as stack:
        count = 0

        def mount(number: int = 1, of: Volume = volume, options: tuple[str, ...] = ()) -> list[Mount]:
            nonlocal count
            made = []
            for _ in range(number):
                node = Mount(of, tmp_path / f"node-{count}", options)
                count += 1
                stack.callback(node.stop)
                node.start()
                made.append(node)
            return made

        yield mount


@pytest.fixture
def dataset(volume: Volume, s3: str, tmp_path: Path) -> Dataset:
    """A volume with its blocks in a directory, and an empty bucket to fill it from."""
    return Dataset(volume, tmp_path, new_bucket(s3))


@pytest.fixture
def new_disk(fuse: None, tmp_path: Path) -> Iterator[NewDisk]:
    """Makes a file system of so many MiB, in memory."""
    path = tmp_path / "disk"

    def make(size: int) -> Path:
        path.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}m", "tmpfs", path], check=True)
        return path

    yield make
    if path.is_mount():
        subprocess.run(["umount", "--lazy", path], check=True)
