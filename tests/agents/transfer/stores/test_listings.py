"""Lists of stores that do not list as S3 does."""

import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from urllib.parse import quote, quote_plus
from xml.sax.saxutils import escape

import pytest

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.redaction import Redactor
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.runtime.log import Log
from stowplan.agents.transfer.remotes.s3 import revision
from stowplan.agents.transfer.remotes.s3.protocol.entry import S3Object
from stowplan.agents.transfer.remotes.s3.protocol.lists import listing, sorting
from stowplan.agents.transfer.remotes.s3.protocol.rest_client import RestClient
from tests.agents.transfer.agent import Cube, files
from tests.agents.transfer.stores.test_refusals import download, error
from tests.hostile.s3.attempt import attempt
from tests.hostile.s3.server import BUCKET, MODIFIED, Answer, Request, Rule, Server


def listed(keys: Sequence[str], more: str = "") -> bytes:
    """A page, with the keys as they are."""
    rest = f"<LastModified>{MODIFIED}</LastModified><ETag>e</ETag><Size>1</Size>"
    contents = "".join(f"<Contents><Key>{key}</Key>{rest}</Contents>" for key in keys)
    return f"<ListBucketResult><Name>{BUCKET}</Name>{more}{contents}</ListBucketResult>".encode(
        errors="surrogateescape"
    )


END, MORE = "<IsTruncated>false</IsTruncated>", "<IsTruncated>true</IsTruncated>"
URL = "<EncodingType>url</EncodingType>"


def first_version(server: Server, size: int = 2, *, refuses: str = "", names: bool = True) -> Rule:
    """A store that knows the first version of the list only, with pages of `size` keys.

    It ignores `list-type=2`, as Huawei OBS (minio-go #1704), or refuses it with the code `refuses`. `names`: it says
    from which marker to go on, which S3 does only for a list with a delimiter.
    """

    def rule(request: Request) -> Answer | None:
        if request.method != "GET" or request.key:
            return None
        if refuses and request.is_listing:
            return Answer(501 if refuses == "NotImplemented" else 400, error(refuses))
        begin, marker = request.query["prefix"], request.query.get("marker", "")
        keys = [key for key in sorted(server.objects) if key.startswith(begin) and key > marker]
        if keys[size:]:
            named = f"<NextMarker>{quote(keys[size - 1])}</NextMarker>" if names else ""
            return Answer(body=listed([quote(key) for key in keys[:size]], MORE + named + URL))
        return Answer(body=listed([quote(key) for key in keys], END + URL))

    return rule


@pytest.mark.parametrize("names", [True, False], ids=["with a marker", "without"])
@pytest.mark.parametrize("refuses", ["", "NotImplemented", "InvalidArgument"])
def test_first_version_of_the_list(server: Server, cube: Cube, refuses: str, *, names: bool) -> None:
    server.objects = {f"d/ä {number}": b"x" for number in range(7)}
    server.rule = first_version(server, refuses=refuses, names=names)
    assert isinstance(attempt(cube, cube.remote("d/"), cube.local()), str)
    assert files(cube.data) == {key.removeprefix("d/"): b"x" for key in server.objects}


def test_a_store_that_ends_in_the_middle(server: Server, cube: Cube) -> None:
    server.rule = lambda request: Answer(body=listed([], MORE)) if request.is_listing else None
    failure = download(cube)
    assert (failure.code, failure.reason) == (5, "BadListing")
    assert "neither a token nor a key" in str(failure)


def test_a_store_that_does_not_go_on(server: Server, cube: Cube) -> None:
    server.rule = lambda _: Answer(body=listed(["a", "b"], MORE))
    failure = download(cube)
    assert (failure.code, failure.reason) == (5, "BadListing")
    assert len(server.requests) < 10


def unsorted(server: Server, order: Sequence[str], size: int) -> Rule:
    """Directory order, as Volcengine TOS (juicefs #7489), or none, as Storj (juicefs #2764): pages of `size` keys."""

    def rule(request: Request) -> Answer | None:
        if not request.is_listing:
            return None
        keys = [key for key in order if key in server.objects]
        begin = int(request.query.get("continuation-token", "0"))
        token = f"<NextContinuationToken>{begin + size}</NextContinuationToken>"
        return Answer(body=listed(keys[begin : begin + size], MORE + token if keys[begin + size :] else END))

    return rule


ORDER = ["foo/b", "foo/c", "foo/a/x", "foo.conda", "é", "😀", "zz", "a"]


@pytest.mark.parametrize("size", [1, 3, 100])
@pytest.mark.parametrize("run", [1, 300, sorting.RUN_BYTES])
def test_a_list_in_no_order(server: Server, cube: Cube, monkeypatch: pytest.MonkeyPatch, size: int, run: int) -> None:
    monkeypatch.setattr(sorting, "RUN_BYTES", run)
    server.objects = dict.fromkeys(ORDER, b"x")
    server.rule = unsorted(server, ORDER, size)
    for _ in range(2):
        assert isinstance(attempt(cube, cube.remote(), cube.local()), str)
        assert files(cube.data) == server.objects
    assert sum(request.key == "a" for request in server.requests) == 1, "fetched again"
    mirroring = Cube(cube.folder, cube.storage, options={"requestRetries": 0, "mirror": {}})
    del server.objects["foo/b"]
    assert isinstance(attempt(mirroring, cube.remote(), cube.local()), str)
    assert files(cube.data) == server.objects


def test_an_upload_beside_a_list_in_no_order(server: Server, cube: Cube) -> None:
    cube.data.mkdir()
    for name in ("a", "b", "zz", "zzz"):
        (cube.data / name).write_bytes(b"x")
    server.objects = {"b": b"x", "zz": b"x", "a": b"x"}
    server.rule = unsorted(server, ["zz", "b", "a"], 1)
    assert isinstance(attempt(cube, cube.local(), cube.remote()), str)


def test_juicefs_sync_gets_no_list_in_another_order(server: Server, client: RestClient) -> None:
    server.objects = dict.fromkeys(ORDER, b"x")
    server.rule = unsorted(server, ORDER, 3)
    entries = revision.of_prefix(client.bucket, "", Stop(), Log(), Redactor(()))
    with closing(entries), pytest.raises(AttemptError, match="ascending order") as failure:
        list(entries)
    assert (failure.value.code, failure.value.reason) == (5, "UnsortedKeys")


def test_a_listing_that_is_sorted_in_a_file_is_as_one_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [f"{number * 7919 % 10007:06}/\udcff" for number in range(10_000)]
    entries = [S3Object(key, number, '"e"', number, "GLACIER") for number, key in enumerate(keys)]
    monkeypatch.setattr(sorting, "RUN_BYTES", 200_000)
    assert list(sorting.ascending(iter(entries))) == sorted(entries, key=lambda each: each.key)
    monkeypatch.setattr(sorting, "MOST_BYTES", 1000)
    with pytest.raises(AttemptError, match="too many"):
        list(sorting.ascending(iter(entries)))
    monkeypatch.setattr(sorting, "MOST_RUNS", 1)
    with pytest.raises(AttemptError, match="too many"):
        list(sorting.ascending(iter(entries)))


def test_a_list_in_order_needs_no_file(server: Server, client: RestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    server.objects = {"a": b"a", "b": b"b"}
    monkeypatch.setattr(tempfile, "TemporaryFile", None)
    assert [each.key for each in listing.objects(client, "")] == ["a", "b"]


@pytest.mark.parametrize("order", [["a", "b", "b"], ["b", "a", "b"]])
def test_a_key_that_is_listed_twice(server: Server, cube: Cube, order: list[str]) -> None:
    server.objects = {"a": b"x", "b": b"x"}
    server.rule = lambda request: Answer(body=listed(order, END)) if request.is_listing else None
    failure = download(cube)
    assert (failure.code, failure.reason) == (10, "BadListing")
    assert "'b' twice" in str(failure)
    assert files(cube.data) == {}


def half(key: str) -> str:
    """As Apache Ozone will (HDDS-15600) for blanks, with `+` left as it is."""
    return quote(key, safe="/+")


def spelling(server: Server, write: Callable[[str], str], said: str) -> Rule:
    """A store that writes keys in its own way, and says so or not."""

    def rule(request: Request) -> Answer | None:
        if not request.is_listing:
            return None
        keys = [key for key in sorted(server.objects) if key.startswith(request.query["prefix"])]
        return Answer(body=listed([escape(write(key)) for key in keys], END + said))

    return rule


ODD = {"a b": b"1", "a+b": b"2", "a%20b": b"3", "a%2Bb": b"4", "100%": b"5", "ä/ö": b"6", "p": b"7"}


@pytest.mark.parametrize("said", ["", URL], ids=["not said", "said"])
@pytest.mark.parametrize("write", [quote_plus, quote, half, str], ids=["as S3", "blanks as %20", "half", "as they are"])
@pytest.mark.parametrize("prefix", ["", "x y/"])
def test_keys_however_they_are_written(
    server: Server, cube: Cube, write: Callable[[str], str], said: str, prefix: str
) -> None:
    """Versity's gateway writes them as they are, and says nothing (versitygw #1985)."""
    server.objects = {prefix + key: data for key, data in ODD.items()}
    server.rule = spelling(server, write, said)
    assert isinstance(attempt(cube, cube.remote(prefix), cube.local()), str)
    assert files(cube.data) == ODD
    assert len([request for request in server.requests if request.is_listing]) < 12


def test_usual_keys_are_listed_by_one_request(server: Server, client: RestClient) -> None:
    server.objects = {"a/b-c_d.e~f": b"x", "ab(1)": b"x"}
    server.rule = spelling(server, lambda key: quote(key, safe="/()"), URL)
    assert len(list(listing.objects(client, ""))) == 2
    assert len(server.requests) == 1


def test_an_account_that_may_list_its_prefix_alone(server: Server, client: RestClient) -> None:
    """A policy with a condition on `s3:prefix`: the word of the answer counts."""
    server.objects = {"d/a b": b"x"}
    usual = spelling(server, quote_plus, URL)
    server.rule = lambda request: usual(request) if request.query["prefix"] == "d/" else Answer(403)
    assert [each.key for each in listing.objects(client, "d/")] == ["a b"]


def test_a_key_that_is_no_utf8(server: Server, cube: Cube) -> None:
    """Encoded, such keys can be left out; they cannot be files."""
    server.objects = {"a": b"x", "b\udcff": b"x"}
    write = lambda key: quote(key, errors="surrogateescape")  # noqa: E731
    server.rule = spelling(server, write, URL)
    failure = download(cube)
    assert (failure.code, failure.reason) == (5, "UnsafeKeys")
    assert r"'b\udcff' holds bytes that are no UTF-8" in str(failure)
    assert isinstance(attempt(cube, cube.remote(exclude=["b*"]), cube.local()), str)


@pytest.mark.parametrize(("key", "shown"), [("b\udcff", r"b\udcff"), ("b\x01", r"b\x01"), ("b&#2;", r"b\x02")])
def test_a_key_that_no_xml_can_hold(server: Server, cube: Cube, key: str, shown: str) -> None:
    server.rule = lambda request: Answer(body=listed(["a", key], END)) if request.is_listing else None
    failure = download(cube)
    assert (failure.code, failure.reason) == (5, "UnsafeKeys")
    assert f"'{shown}'" in str(failure)
