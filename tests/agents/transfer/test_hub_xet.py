"""Files of the Xet store, by hf-xet itself."""

import os
from collections.abc import Iterator

import pytest

from tests.agents.transfer.faults import Proxy
from tests.agents.transfer.hub_agent import HubCube
from tests.agents.transfer.hub_base import TOKEN
from tests.agents.transfer.hub_xet import CLIENT, Xet, serving
from tests.agents.transfer.test_download import large
from tests.agents.transfer.test_hub_download import there
from tests.agents.waiting import until

FILES = {"a.txt": b"a", "small.bin": b"s" * 3000, "large.bin": large(50_000_000)}
"""The last one in ten parts."""

PART = 5 << 20

LEADING = (
    *("HF_HOME", "HF_XET_CACHE", "HF_HUB_CACHE", "HF_ASSETS_CACHE", "HF_TOKEN_PATH", "XDG_CACHE_HOME"),
    *("HF_XET_SHARD_CACHE_SUBDIR", "HF_XET_SESSION_DIR_NAME", "HF_XET_SYSTEM_MONITOR_LOG_PATH", "HF_XET_LOG_DEST"),
)
"""Variables that name files and folders of the libraries."""


@pytest.fixture
def xet(repo: HubCube) -> Iterator[Xet]:
    with serving(repo.hub) as store:
        yield store


@pytest.fixture
def cube(repo: HubCube, xet: Xet) -> HubCube:
    return repo.with_options(memoryMiB=512, environment=CLIENT)


def uploaded(cube: HubCube) -> None:
    cube.write(FILES)
    ended = cube.upload(run="up")
    assert ended.code == 0, ended.output
    for name in FILES:
        (cube.data / name).unlink()


def test_both_ways(cube: HubCube, xet: Xet, storage_proxy: Proxy) -> None:
    uploaded(cube)
    assert cube.hub.store.read(cube.repository) == FILES
    entries = cube.repository.files()
    assert {name: xet.content(each.xet) for name, each in entries.items() if each.xet} == {
        name: FILES[name] for name in ("small.bin", "large.bin")
    }
    ended = cube.download(run="down")
    assert ended.code == 0, ended.output
    assert there(cube) == FILES
    assert sum(size for _, size in xet.sent) >= len(FILES["large.bin"])
    assert (storage_proxy.requests, cube.hub.leaks) == ([], [])


def test_the_library_writes_to_a_place_of_its_own(cube: HubCube, xet: Xet) -> None:
    """Whatever the environment says, and whatever others have put into the claim."""
    elsewhere = cube.folder / "elsewhere"
    led = {name: str(elsewhere / name) for name in LEADING}
    led |= {"HF_XET_SYSTEM_MONITOR_ENABLED": "true", "HF_XET_CHUNK_CACHE_SIZE_BYTES": "1000000000"}
    cube = cube.with_options(environment=led)
    (cube.state / "xet/shards").mkdir(parents=True)
    (cube.state / "xet/old at the top").write_text("x")
    (cube.state / "xet/shards/old").write_text("x")
    (cube.state / "xet/link").symlink_to(cube.folder)
    os.mkfifo(cube.state / "xet/pipe")
    cube.write(FILES)
    with cube.started(cube.local(), cube.remote(), "up") as process:
        until(lambda: list(cube.folder.glob("stowplan-huggingface-*/xet")) or process.poll() is not None)
        assert process.poll() is None
        (scratch,) = cube.folder.glob("stowplan-huggingface-*")
        assert scratch.stat().st_mode & 0o777 == 0o700
        output, _ = process.communicate(timeout=120)
    assert process.returncode == 0, output
    for name in FILES:
        (cube.data / name).unlink()
    ended = cube.download(run="down")
    assert ended.code == 0, ended.output
    assert there(cube) == FILES
    assert sorted(each.name for each in cube.folder.iterdir()) == ["claim", "config.json"]
    kept = [each for each in (cube.state / "xet").rglob("*") if not each.is_dir()]
    assert all(each.is_file() and not each.is_symlink() and each.stat().st_size < 100_000 for each in kept)
    assert {"old", "old at the top"} < {each.name for each in kept}


def test_what_changed_is_sent_chunk_by_chunk(cube: HubCube, xet: Xet) -> None:
    uploaded(cube)
    cube.write({"large.bin": FILES["large.bin"][:25_000_000] + b"inserted" + FILES["large.bin"][25_000_000:]})
    before = set(xet.blocks)
    ended = cube.upload(run="again")
    assert ended.code == 0, ended.output
    assert cube.hub.store.read(cube.repository)["large.bin"][25_000_000:25_000_008] == b"inserted"
    assert sum(len(xet.blocks[name]) for name in set(xet.blocks) - before) < 10_000_000


def test_parts_that_are_there_are_not_fetched_again(cube: HubCube, xet: Xet) -> None:
    uploaded(cube)
    # Four parts come at once: the rest of the ten cannot be there when the first ones are seen.
    xet.seconds = 1
    with cube.started(cube.remote(), cube.local(), "run") as process:
        until(lambda: _parts(cube) >= 3)
        process.kill()
        process.wait()
    parts, xet.seconds = _parts(cube), 0
    xet.sent.clear()
    ended = cube.download(run="run")
    assert ended.code == 0, ended.output
    assert there(cube) == FILES
    assert any("Goes on with a file" in each["message"] for each in ended.events)
    # At both ends of a part a chunk is sent, of up to 128 KiB, that is not in it as a whole.
    assert sum(size for _, size in xet.sent) <= len(FILES["large.bin"]) - parts * PART + 10 * 300_000


def _parts(cube: HubCube) -> int:
    """Parts of files that the claim has."""
    return sum(each.read_text().count("w ") for each in (cube.state / "parts").glob("*.parts"))


def test_store_that_has_lost_its_content(cube: HubCube, xet: Xet) -> None:
    uploaded(cube)
    xet.files.clear()
    ended = cube.with_options(requestRetries=0).download(run="run")
    # The client ends a part of a file that is not there as if it were empty, and says so of a whole one.
    assert (ended.code, ended.last["reason"]) in ((10, "Xet"), (11, "WrongLength")), ended.output
    assert set(there(cube)) == {"a.txt"}


def test_without_the_memory_for_it_files_come_over_http(cube: HubCube, xet: Xet, storage_proxy: Proxy) -> None:
    uploaded(cube)
    ended = cube.with_options(memoryMiB=400).download(run="run")
    assert ended.code == 0, ended.output
    assert there(cube) == FILES
    assert xet.sent == []
    assert storage_proxy.count("GET", "/lfs/") > 0


def test_token_of_the_hub_goes_to_the_hub_alone(cube: HubCube, xet: Xet) -> None:
    uploaded(cube)
    assert cube.download(run="run").code == 0
    assert not any(TOKEN in each for each in cube.hub.leaks)
    kept = b"".join(
        path.read_bytes() for path in cube.folder.rglob("*") if path.is_file() and path.stat().st_size < 1e6
    )
    assert TOKEN.encode() not in kept


def test_new_repository_is_filled_by_xet_too(cube: HubCube, xet: Xet) -> None:
    cube.write(FILES)
    ended = cube.with_options(environment={"REPO": "tester/new"}).upload(run="up")
    assert ended.code == 0, ended.output
    made = cube.hub.store.repositories["model", "tester/new"]
    assert cube.hub.store.read(made) == FILES
    assert made.files()["large.bin"].xet in xet.files
