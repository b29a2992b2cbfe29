"""An invalid listing is refused before any deletion or write."""

import json
from dataclasses import replace

import pytest

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.redaction import Redactor
from stowplan.agents.runtime.log import Log
from stowplan.agents.transfer.remotes.s3.protocol import multipart
from stowplan.agents.transfer.remotes.s3.protocol.answers import Response
from stowplan.agents.transfer.remotes.s3.protocol.keeper import Keeper
from stowplan.agents.transfer.remotes.s3.protocol.lists import listing
from stowplan.agents.transfer.remotes.s3.protocol.multipart import Ongoing, Stored
from stowplan.agents.transfer.remotes.s3.protocol.refusal import MESSAGE, refusal
from stowplan.agents.transfer.remotes.s3.protocol.rest_client import RestClient
from stowplan.agents.transfer.remotes.s3.upload_file import UploadInParts
from tests.agents.transfer.agent import Cube, files
from tests.hostile.s3.attempt import attempt
from tests.hostile.s3.server import MODIFIED, NAMESPACE, Answer, Server, page

ENTITIES = b"".join(b'<!ENTITY e%d "%s">' % (number, b"&e%d;" % (number - 1) * 10) for number in range(1, 20))

NO_LISTINGS = {
    "page": b"<html><body>Please log in to the hotel</body></html>",
    "nothing": b"",
    "no XML": b"ListBucketResult",
    "JSON": b"{}",
    "other root": page([]).replace(b"ListBucketResult", b"ListAllMyBucketsResult"),
    "root elsewhere": b"<html>" + page([]).partition(b"?>")[2] + b"</html>",
    "not truncated?": page([]).replace(b"<IsTruncated>false</IsTruncated>", b""),
    "truncated maybe": page([]).replace(b"<IsTruncated>false<", b"<IsTruncated>maybe<"),
    "other bucket": page([]).replace(b"<Name>bucket<", b"<Name>buckets<"),
    "entities": b'<!DOCTYPE x [<!ENTITY e0 "x">' + ENTITIES + b"]>" + page([]).partition(b"?>")[2],
    "deep": b"<ListBucketResult>" + b"<a>" * 200_000 + b"</a>" * 200_000 + b"</ListBucketResult>",
    "other encoding": page([]).decode().replace("UTF-8", "UTF-16").encode("utf-16"),
    "ebcdic": b'<?xml version="1.0" encoding="cp037"?>' + b"\x4c" * 1000,
    "cut off": page([])[:-5],
    "size": page([("a", "e", "1.5")]),
    "negative size": page([("a", "e", -1)]),
    "size in other digits": page([("a", "e", "\u0661")]),
    "large size": page([("a", "e", "9" * 5000)]),
    "no size": page([("a", "e", "")]),
    "time": page([("a", "e", 1)]).replace(MODIFIED.encode(), b"yesterday"),
    "early time": page([("a", "e", 1)]).replace(MODIFIED.encode(), b"0001-01-01T00:00:00"),
    "etag": page([("a", "a\r\nb: c", 1)]),
    "escape": page([("a", "\x9b31m", 1)]),
    "long etag": page([("a", "e" * 2000, 1)]),
    "wide etag": page([("a", "“e”", 1)]),
    "no token": page([], token="t").replace(b"NextContinuationToken", b"NextMarker"),
}


@pytest.mark.parametrize("name", NO_LISTINGS)
def test_what_is_no_listing(server: Server, client: RestClient, name: str) -> None:
    server.rule = lambda _: Answer(body=NO_LISTINGS[name])
    with pytest.raises(AttemptError) as refused:
        list(listing.objects(client, ""))
    assert refused.value.reason in ("BadAnswer", "BadListing")
    assert len(str(refused.value)) < 1000
    assert str(refused.value).isprintable()


def test_nothing_is_deleted_for_what_is_no_listing(server: Server, cube: Cube) -> None:
    mirroring = replace(cube, options={**cube.options, "mirror": {"allowEmpty": True}})
    server.objects = {"a": b"a", "b": b"b"}
    assert mirroring.download(run="first").code == 0
    for name in ("page", "nothing", "entities", "deep", "negative size", "not truncated?"):
        body = NO_LISTINGS[name]
        server.rule = lambda request, body=body: Answer(body=body) if request.is_listing else None
        done = attempt(mirroring, mirroring.remote(), mirroring.local())
        assert isinstance(done, AttemptError), name
        assert (done.code, done.reason) == (10, "BadAnswer"), name
        assert files(mirroring.data) == {"a": b"a", "b": b"b"}


@pytest.mark.parametrize("space", [NAMESPACE, "http://doc.s3.amazonaws.com/2006-03-01", ""])
def test_namespaces_of_stores(server: Server, client: RestClient, space: str) -> None:
    text = page([("a", '"e"', 1)]).replace(
        f' xmlns="{NAMESPACE}"'.encode(), f' xmlns="{space}"'.encode() if space else b""
    )
    server.rule = lambda _: Answer(body=text.replace(b"<Name>bucket</Name>", b""))
    assert [each.key for each in listing.objects(client, "")] == ["a"]


def test_key_outside_of_the_prefix(server: Server, client: RestClient) -> None:
    server.rule = lambda _: Answer(body=page([("other/a", '"e"', 1)]))
    with pytest.raises(AttemptError, match="below"):
        list(listing.objects(client, "data/"))


@pytest.mark.parametrize(
    "body",
    [
        b"<html/>",
        b"<InitiateMultipartUploadResult/>",
        b"<ListPartsResult><IsTruncated>no</IsTruncated></ListPartsResult>",
        b"<ListPartsResult><IsTruncated>false</IsTruncated><Part><PartNumber>x</PartNumber></Part></ListPartsResult>",
    ],
)
def test_documents_of_uploads(server: Server, client: RestClient, body: bytes) -> None:
    server.rule = lambda _: Answer(body=body)
    for call in (
        lambda: multipart.begin(Keeper(client, Log()), "k"),
        lambda: multipart.complete(client, Ongoing("k", "u", keeps=True), {1: Stored(1, "e")}),
        lambda: multipart.stored(client, "k", "u"),
        lambda: list(multipart.begun(client, "")),
    ):
        with pytest.raises(AttemptError, match=r"sent|without an id"):
            call()


def test_endless_lists_of_uploads_and_parts(server: Server, client: RestClient) -> None:
    more = b"<IsTruncated>true</IsTruncated>"
    server.rule = lambda request: Answer(
        body=b"<ListMultipartUploadsResult>" + more + b"<NextKeyMarker>k</NextKeyMarker></ListMultipartUploadsResult>"
        if "uploads" in request.query
        else b"<ListPartsResult>" + more + b"<NextPartNumberMarker>7</NextPartNumberMarker></ListPartsResult>"
    )
    assert list(multipart.begun(client, "")) == []
    assert multipart.stored(client, "k", "u") == (Ongoing("k", "u", keeps=False), {})


@pytest.mark.parametrize("size", [0, 1])
def test_parts_of_a_size_that_nobody_sent(size: int) -> None:
    sending = UploadInParts.__new__(UploadInParts)
    sending.part_size = 5 << 20
    sending.found = type("Found", (), {"size": 20 << 20})()
    assert sending._usable({1: Stored(size, "e")}) == {}
    assert sending._usable({1: Stored(6 << 20, "e")}) != {}


def test_messages_of_errors_are_short_and_their_codes_are_words() -> None:
    body = b"<Error><Code>Evil\x1b[31m</Code><Message>" + b"m" * 60_000 + b"</Message></Error>"
    said = refusal(Response(404, {}, body.replace(b"\x1b", b"&#x9b;")), "GET b/k", Redactor(()))
    assert said.reason == "NotFound"
    assert len(str(said)) <= MESSAGE + 100


def test_a_huge_error_is_read_in_part(server: Server, cube: Cube) -> None:
    server.rule = lambda _: Answer(418, b"<Error><Code>A</Code><Message>" + b"m" * (50 << 20))
    done = cube.download()
    assert done.code == 10
    assert len(done.output) < 10_000
    assert json.loads(done.output.splitlines()[-1])["code"] == 10
