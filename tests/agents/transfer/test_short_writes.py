"""Whatever one call of the system writes, a file holds all of its bytes, or the copy fails."""

from pathlib import Path

import pytest

from tests.agents.ended import Ended
from tests.agents.transfer.agent import Cube, Transfer, files
from tests.agents.transfer.hub_agent import HubCube
from tests.agents.transfer.server import Storage
from tests.agents.transfer.short_writes import library
from tests.agents.transfer.test_download import large

FILES = {"one": large(2_097_152, 1), "parts": large(12_000_000, 2)}


@pytest.fixture
def short(tmp_path: Path) -> dict[str, str]:
    # Python itself would leave short files of byte code.
    return {"LD_PRELOAD": library(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}


def run(cube: Transfer, source: dict[str, object], environment: dict[str, str]) -> Ended:
    with cube.started(source, cube.local(), environment=environment) as process:
        output, _ = process.communicate(timeout=120)
        return Ended(process.returncode, output)


def test_objects_of_a_store(storage: Storage, cube: Cube, short: dict[str, str]) -> None:
    storage.put(FILES)
    ended = run(cube, cube.remote(), short)
    assert ended.code == 0, ended.output
    assert files(cube.data) == FILES


def test_files_of_a_hub(repo: HubCube, short: dict[str, str]) -> None:
    repo.hub.store.put(repo.repository, FILES)
    ended = run(repo, repo.remote(), short)
    assert ended.code == 0, ended.output
    assert {key: data for key, data in files(repo.data).items() if key in FILES} == FILES


def test_files_of_another_claim(cube: Cube, short: dict[str, str]) -> None:
    source = cube.claim / "source"
    source.mkdir()
    for name, data in FILES.items():
        (source / name).write_bytes(data)
    ended = run(cube, cube.local("source"), short)
    assert ended.code == 0, ended.output
    assert files(cube.data) == FILES
