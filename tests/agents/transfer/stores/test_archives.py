"""Objects in archives are found as they are listed, before anything is written."""

from collections.abc import Set

import pytest

from stowplan.agents.attempt.failure import AttemptError
from tests.agents.transfer.agent import Cube, files
from tests.agents.transfer.stores.test_refusals import download, error
from tests.hostile.s3.attempt import attempt
from tests.hostile.s3.server import Answer, Request, Rule, Server

RESTORED = (
    b"<RestoreStatus><IsRestoreInProgress>false</IsRestoreInProgress>"
    b"<RestoreExpiryDate>2026-12-01T00:00:00.000Z</RestoreExpiryDate></RestoreStatus>"
)
UNDER_WAY = b"<RestoreStatus><IsRestoreInProgress>true</IsRestoreInProgress></RestoreStatus>"
HEADER = "x-amz-optional-object-attributes"


def archive(
    server: Server, archived: Set[str], restored: Set[str] = frozenset(), name: str = "GLACIER", *, tells: bool = True
) -> Rule:
    """The rule of a store where objects are archived, and some of these are restored. `tells`: in a list, too."""

    def rule(request: Request) -> Answer | None:
        if request.is_listing:
            body = server.listing(request.query["prefix"])
            asked = tells and request.headers.get(HEADER) == "RestoreStatus"
            for key in archived:
                status = (RESTORED if key in restored else UNDER_WAY) if asked else b""
                begin = f"<Key>{key}</Key>".encode()
                body = body.replace(begin, begin + f"<StorageClass>{name}</StorageClass>".encode() + status)
            return Answer(body=body)
        if request.key in archived - restored and request.method == "GET":
            return Answer(403, error("InvalidObjectState", "The operation is not valid for the object's storage class"))
        return None

    return rule


@pytest.mark.parametrize("name", ["GLACIER", "DEEP_ARCHIVE", "Archive", "ColdArchive", "COLD"])
def test_nothing_is_written_if_an_object_is_archived(server: Server, cube: Cube, name: str) -> None:
    server.objects = {"a": b"a", "b": b"bb", "c": b"ccc"}
    server.rule = archive(server, {"b", "c"}, name=name)
    failure = download(cube)
    assert (failure.code, failure.reason) == (5, "Archived")
    for each in ("2 objects of 5 bytes", name, "b, c", "exclude", "estore"):
        assert each in str(failure), each
    assert files(cube.data) == {}


def test_what_is_left_out_or_there_does_not_count(server: Server, cube: Cube) -> None:
    server.objects = {"a": b"a", "b": b"b", "c": b"c"}
    assert isinstance(attempt(cube, cube.remote(exclude=["c"]), cube.local()), str)
    server.rule = archive(server, {"b", "c"})
    assert isinstance(attempt(cube, cube.remote(exclude=["c"]), cube.local()), str)
    assert download(cube).reason == "Archived"


@pytest.mark.parametrize("tells", [True, False], ids=["lists say", "only a GET tells"])
def test_what_is_restored_is_fetched(server: Server, cube: Cube, *, tells: bool) -> None:
    server.objects = {"a": b"a", "b": b"b"}
    server.rule = archive(server, {"b"}, {"b"}, tells=tells)
    assert isinstance(attempt(cube, cube.remote(), cube.local()), str)
    assert files(cube.data) == server.objects


def test_an_archive_that_is_read_at_once_is_no_reason(server: Server, cube: Cube) -> None:
    """Google's class ARCHIVE."""
    server.objects = {f"{number:03}": b"x" for number in range(50)}
    server.rule = archive(server, set(server.objects), set(server.objects), name="ARCHIVE", tells=False)
    assert isinstance(attempt(cube, cube.remote(), cube.local()), str)
    assert len(server.requests) < 50 + 30, "asks for each object twice"


def test_one_object_that_is_archived(server: Server, cube: Cube) -> None:
    server.objects = {"b": b"b"}
    headers = {
        "x-amz-storage-class": "GLACIER",
        "last-modified": "Thu, 01 Jan 2026 00:00:00 GMT",
        "content-length": "1",
    }
    refuse = archive(server, {"b"})
    server.rule = lambda request: Answer(headers=headers) if request.method == "HEAD" else refuse(request)
    assert (failure := download(cube, "b", kind="file")).reason == "Archived"
    assert failure.code == 5


def test_an_archive_that_only_a_fetch_shows(server: Server, cube: Cube) -> None:
    """INTELLIGENT_TIERING: its lists do not tell the tier."""
    server.objects = {"a": b"a"}
    server.rule = archive(server, {"a"}, name="INTELLIGENT_TIERING")
    failure = download(cube)
    assert (failure.code, failure.reason) == (5, "Archived")
    assert "archive" in str(failure)


def test_a_store_that_refuses_the_question(server: Server, cube: Cube) -> None:
    """Directory buckets of S3 do not support the header."""
    server.objects = {"a": b"a"}
    usual = archive(server, {"a"}, {"a"})
    refused = Answer(400, error("InvalidRequest"))
    server.rule = lambda request: refused if HEADER in request.headers else usual(request)
    assert isinstance(attempt(cube, cube.remote(), cube.local()), str)


def test_the_question_is_asked_only_where_there_are_archives(server: Server, cube: Cube) -> None:
    server.objects = {"a": b"a"}
    assert not isinstance(attempt(cube, cube.remote(), cube.local()), AttemptError)
    assert not any(HEADER in request.headers for request in server.requests)
