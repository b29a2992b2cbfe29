"""Transfers with a Hub that are killed repeatedly at any moment, and then finish."""

import pytest

from tests.agents.transfer.agent import files
from tests.agents.transfer.faults import Fault, Proxy, Request
from tests.agents.transfer.hub_agent import HubCube
from tests.agents.transfer.test_download import large
from tests.agents.transfer.test_hub_download import there
from tests.agents.transfer.test_kill import Source, kill_again_and_again
from tests.agents.waiting import GRACE_SECONDS, until

LARGE = {"large": 12_000_000, "larger": 21_000_000}


def test_download_survives_kills(repo: HubCube, hub_proxy: Proxy) -> None:
    def write(changed: dict[str, bytes]) -> None:
        repo.hub.store.put(repo.repository, changed)

    source = Source(write, 40, LARGE)
    kill_again_and_again(repo, hub_proxy, (repo.remote(), repo.local()), source)
    assert source.has_had(there(repo)), "a file is there that is not complete"
    ended = repo.download(run="last")
    assert ended.code == 0, ended.output
    assert there(repo) == source.now
    assert list((repo.state / "parts").iterdir()) == []


def test_upload_survives_kills(repo: HubCube, hub_proxy: Proxy) -> None:
    source = Source(repo.write, 40, LARGE)
    kill_again_and_again(repo, hub_proxy, (repo.local(), repo.remote()), source)
    ended = repo.upload(run="last")
    assert ended.code == 0, ended.output
    assert repo.hub.store.read(repo.repository) == source.now
    assert files(repo.data) == source.now
    # Not before: the Hub may still make the commit that a killed agent asked for.
    for commit in list(repo.repository.commits):
        assert source.has_had(repo.hub.store.read(repo.repository, commit)), "a file is there that is not complete"


def test_parts_that_are_there_are_not_fetched_again(repo: HubCube, storage_proxy: Proxy) -> None:
    data = large(40_000_000)
    repo.hub.store.put(repo.repository, {"large.bin": data})
    asked = 0

    def first_half(_: Request) -> Fault | None:
        nonlocal asked
        asked += 1
        return Fault(seconds=60) if asked > 4 else None

    storage_proxy.rule = first_half
    with repo.started(repo.remote(), repo.local(), "run") as process:
        until(lambda: _parts(repo) >= 4)
        process.kill()
    before, storage_proxy.rule = len(storage_proxy.requests), None
    ended = repo.download(run="run")
    assert ended.code == 0, ended.output
    assert there(repo) == {"large.bin": data}
    assert len(storage_proxy.requests) - before == 8 - 4


def test_parts_of_a_file_that_changed_meanwhile_are_removed(repo: HubCube, storage_proxy: Proxy) -> None:
    repo.hub.store.put(repo.repository, {"large.bin": large()})
    storage_proxy.rule = lambda request: Fault(seconds=60) if (request.range or "").startswith("bytes=10") else None
    with repo.started(repo.remote(), repo.local()) as process:
        until(lambda: _parts(repo) >= 2)
        process.kill()
    new = large(seed=8)
    repo.hub.store.put(repo.repository, {"large.bin": new})
    storage_proxy.rule = None
    assert repo.download().code == 0
    assert there(repo) == {"large.bin": new}
    assert list((repo.state / "parts").iterdir()) == []


def test_file_that_the_storage_has_is_not_sent_again(repo: HubCube, hub_proxy: Proxy, storage_proxy: Proxy) -> None:
    """Killed between the upload of the content and the commit that names it."""
    repo.write({"large.bin": large()})
    hub_proxy.rule = lambda request: Fault(seconds=60) if request.path.endswith("/commit/main") else None
    with repo.started(repo.local(), repo.remote(), "run") as process:
        until(lambda: hub_proxy.count("POST", "/commit/main"))
        process.kill()
    before, hub_proxy.rule = len(storage_proxy.requests), None
    assert repo.upload(run="run").code == 0
    assert len(storage_proxy.requests) == before
    assert repo.hub.store.read(repo.repository) == {"large.bin": large()}


def _parts(cube: HubCube) -> int:
    journals = list((cube.state / "parts").glob("*.parts")) if cube.state.exists() else []
    return sum(each.read_text().count("w ") for each in journals)


@pytest.mark.parametrize("flow", ["download", "upload"])
def test_sigterm_ends_at_once_and_keeps_what_is_there(repo: HubCube, storage_proxy: Proxy, flow: str) -> None:
    names = {f"{number:03}.bin": bytes([number]) * 10 for number in range(60)}
    count = 0

    def hang(_: Request) -> Fault | None:
        nonlocal count
        count += 1
        return Fault(seconds=60) if count > 40 else None

    if flow == "download":
        repo.hub.store.put(repo.repository, names)
    else:
        repo.write(names)
    storage_proxy.rule = hang
    sides = (repo.remote(), repo.local())
    with repo.started(*(sides if flow == "download" else sides[::-1]), "run") as process:
        until(lambda: count >= 44)
        process.terminate()
        output, _ = process.communicate(timeout=GRACE_SECONDS)
    assert process.returncode == 143, output
    before, storage_proxy.rule = len(storage_proxy.requests), None
    ended = repo.download(run="run") if flow == "download" else repo.upload(run="run")
    assert ended.code == 0, ended.output
    assert len(storage_proxy.requests) - before <= 60 - 36
