"""Objects that are replaced while they are fetched never become a file of two versions."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.agents.transfer.agent import Cube, files
from tests.agents.transfer.odd_store import BORN, Asked, Odd, OddStore

OLD, NEW = (bytes([number]) * (20 << 20) for number in (1, 2))
CONSTANT = f"{'0' * 32}-1"
"""What MinIO gives files that others have put into its folder: minio #5567."""


@pytest.mark.parametrize("etag", ["", CONSTANT, "same"])
def test_object_that_is_replaced_between_two_parts(odd: OddStore, tmp_path: Path, etag: str) -> None:
    """The server knows no If-Match, or all versions have one ETag."""
    odd.objects["large"] = Odd(OLD, etag)
    odd.before = replacing(odd, "large", Odd(NEW, etag, BORN + 7), at=3)
    ended = Cube(tmp_path, odd.storage).download()
    assert (ended.code, ended.last["filesUnverified"]) == (0, 1), ended.output
    assert files(tmp_path / "claim/data") == {"large": NEW}


def replacing(odd: OddStore, key: str, new: Odd, at: int) -> Callable[[Asked], None]:
    """Replace an object before the answer to a GET of it, counted from 1."""
    seen: list[Asked] = []

    def before(asked: Asked) -> None:
        if asked.method == "GET" and asked.key == key:
            seen.append(asked)
            if len(seen) == at:
                odd.objects[key] = new

    return before


def test_etag_of_an_answer_counts_where_the_server_ignores_if_match(odd: OddStore, tmp_path: Path) -> None:
    odd.objects["large"] = Odd(OLD, "old-1")
    odd.before = replacing(odd, "large", Odd(NEW, "new-1"), at=3)
    ended = Cube(tmp_path, odd.storage).download()
    assert ended.code == 0, ended.output
    assert files(tmp_path / "claim/data") == {"large": NEW}


@pytest.mark.parametrize("etag", ["", CONSTANT])
def test_object_that_is_replaced_after_the_listing(odd: OddStore, tmp_path: Path, etag: str) -> None:
    """Its file gets the time of the version that came."""
    odd.objects["small"] = Odd(b"old", etag)
    odd.before = replacing(odd, "small", Odd(b"new", etag, BORN + 7), at=1)
    assert Cube(tmp_path, odd.storage).download().code == 0
    path = tmp_path / "claim/data/small"
    assert (path.read_bytes(), path.stat().st_mtime) == (b"new", BORN + 7)


@pytest.mark.parametrize("etag", ["", "same"])
def test_object_that_is_replaced_before_an_attempt_goes_on(odd: OddStore, tmp_path: Path, etag: str) -> None:
    odd.objects["large"] = Odd(OLD, etag)
    odd.refuses = lambda asked: (
        (500, "InternalError") if asked.headers.get("range", "").startswith("bytes=15") else None
    )
    cube = Cube(tmp_path, odd.storage, options={"requestRetries": 0, "parallelism": 1})
    assert cube.download().code == 10
    assert list((cube.state / "parts").glob("*.part"))
    odd.refuses = None
    odd.before = replacing(odd, "large", Odd(NEW, etag, BORN + 7), at=1)
    ended = cube.download()
    assert ended.code == 0, ended.output
    assert files(cube.data) == {"large": NEW}


def test_store_that_gives_neither_etags_nor_times(odd: OddStore, tmp_path: Path) -> None:
    odd.objects |= {"small": Odd(b"small", dated=False), "large": Odd(OLD, dated=False)}
    odd.before = lambda asked: dated(odd, asked)
    ended = Cube(tmp_path, odd.storage).download()
    assert (ended.code, ended.last["filesUnverified"]) == (0, 2), ended.output
    told = {each["key"] for each in ended.events if each["message"].startswith("The server gives neither ETags nor")}
    assert told == {"small", "large"}


def dated(odd: OddStore, asked: Asked) -> None:
    """A HEAD must have a time."""
    if asked.key:
        odd.objects[asked.key] = replace(odd.objects[asked.key], dated=asked.method == "HEAD")
