"""Faults of servers and networks."""

import os
import re
from dataclasses import replace

import pytest

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.runtime.log import Log
from stowplan.agents.transfer.remotes.s3.checksum import digest_of
from stowplan.agents.transfer.remotes.s3.protocol import connections, multipart
from stowplan.agents.transfer.remotes.s3.protocol.keeper import ALGORITHM, Keeper
from stowplan.schema.agents.exit_codes import ExitCode
from tests.agents.transfer.agent import Cube, files
from tests.agents.transfer.faults import Fault, Proxy, Request, Rule, once_each
from tests.agents.transfer.server import Storage
from tests.agents.transfer.test_download import large
from tests.agents.transfer.test_upload import write

OBJECTS = {"a": b"a" * 3000, "b": b"b" * 500_000, "large": large()}

PASSING = {
    "unavailable": Fault(status=503, body=b"<Error><Code>SlowDown</Code></Error>", headers={"Retry-After": "0"}),
    "internal": Fault(status=500),
    "many": Fault(status=429),
    "cut": Fault(cut_after=1000),
    "at-once": Fault(cut_after=0),
    "truncated": Fault(truncate_to=1000),
    "flipped": Fault(flip=True),
}
IN_PARTS = ("unavailable", "cut", "truncated")
"""Faults of a large object too."""


def faulty(*without: str) -> dict[str, bytes]:
    """A small and a medium object for each fault, which is that of its folder, and large ones."""
    names = [name for name in PASSING if name not in without]
    made = {f"{name}/{size}": name[:1].encode() * size for name in names for size in (3000, 500_000)}
    return made | {f"{name}/large": OBJECTS["large"] for name in names if name in IN_PARTS}


def once_for_each_folder() -> Rule:
    rules = {name: once_each(fault, of_data) for name, fault in PASSING.items()}
    return lambda request: next((rule(request) for name, rule in rules.items() if f"/{name}/" in request.path), None)


def of_data(request: Request) -> bool:
    return not request.is_listing


def test_download_through_faults_that_pass(storage: Storage, watched: Cube, proxy: Proxy) -> None:
    storage.put(faulty())
    proxy.rule = once_for_each_folder()
    ended = watched.download()
    assert ended.code == 0, ended.output
    assert files(watched.data) == faulty()


def test_upload_through_faults_that_pass(storage: Storage, watched: Cube, proxy: Proxy) -> None:
    """What a server says of an upload that went well is not looked at."""
    write(watched.data, faulty("truncated", "flipped"))
    proxy.rule = once_for_each_folder()
    ended = watched.upload()
    assert ended.code == 0, ended.output
    assert storage.read() == faulty("truncated", "flipped")


@pytest.mark.parametrize("name", ["unavailable", "at-once", "truncated"])
def test_listing_through_faults_that_pass(storage: Storage, watched: Cube, proxy: Proxy, name: str) -> None:
    storage.put({"a": b"a"})
    proxy.rule = once_each(PASSING[name], lambda request: request.is_listing)
    ended = watched.download()
    assert ended.code == 0, ended.output
    assert files(watched.data) == {"a": b"a"}


def test_one_bad_bit_in_a_large_object_is_found(storage: Storage, watched: Cube, proxy: Proxy) -> None:
    """Its parts have no digests of their own, so the whole is fetched again by the next attempt."""
    storage.put({"large": OBJECTS["large"]})
    proxy.rule = once_each(PASSING["flipped"], lambda request: request.range is not None)
    ended = watched.download()
    assert (ended.code, ended.last["reason"]) == (11, "WrongDigest")
    assert files(watched.data) == {}
    assert watched.download().code == 0
    assert files(watched.data) == {"large": OBJECTS["large"]}


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (Fault(status=200, body=OBJECTS["large"]), "WrongRange"),
        (Fault(status=206, body=OBJECTS["large"], headers={"content-range": "bytes 0-9/12000000"}), "WrongRange"),
        (Fault(change=lambda body: body + b"x"), "WrongLength"),
    ],
    ids=["the whole object", "another range", "too much"],
)
def test_answer_that_is_not_the_range(storage: Storage, watched: Cube, proxy: Proxy, fault: Fault, reason: str) -> None:
    storage.put({"large": OBJECTS["large"]})
    proxy.rule = lambda request: fault if request.range else None
    ended = watched.download()
    assert ended.code in (10, 11), ended.output
    assert ended.last["reason"] == reason
    assert files(watched.data) == {}


def test_fault_that_does_not_pass_leaves_the_other_files(storage: Storage, watched: Cube, proxy: Proxy) -> None:
    storage.put(OBJECTS)
    proxy.rule = lambda request: Fault(status=503) if request.path.endswith("/a") else None
    ended = watched.download()
    assert ended.code == 10, ended.output
    assert set(files(watched.data)) == {"b", "large"}
    assert proxy.count("GET", "/a") == 3


def test_object_that_changes_while_it_is_fetched(storage: Storage, watched: Cube, proxy: Proxy) -> None:
    new = large(seed=3)
    storage.put(OBJECTS)
    ranges = 0

    def rule(request: Request) -> Fault | None:
        nonlocal ranges
        ranges += request.range is not None
        if ranges == 2:
            ranges += 1
            storage.put({"large": new, "b": b"new b"})
        return None

    proxy.rule = rule
    ended = watched.download()
    assert ended.code == 0, ended.output
    there = files(watched.data)
    assert there["large"] == new
    assert there["b"] in (OBJECTS["b"], b"new b")
    before = len(proxy.requests)
    proxy.rule = None
    assert watched.download().code == 0
    assert files(watched.data) == storage.read()
    assert sum(each.range is not None for each in proxy.requests[before:]) == 0, "its new version was not remembered"


def test_object_that_never_stands_still(storage: Storage, watched: Cube, proxy: Proxy) -> None:
    storage.put({"large": OBJECTS["large"]})

    def rule(request: Request) -> Fault | None:
        if request.range:
            storage.put({"large": os.urandom(12_000_000)})
        return None

    proxy.rule = rule
    ended = watched.download()
    assert (ended.code, ended.last["reason"]) == (10, "ChangesAllTheTime")
    assert files(watched.data) == {}


def test_object_that_goes_away(storage: Storage, watched: Cube, proxy: Proxy) -> None:
    storage.put({"a": b"a", "b": b"b"})
    gone = b"<Error><Code>NoSuchKey</Code></Error>"
    proxy.rule = lambda request: Fault(status=404, body=gone) if request.path.endswith("/a") else None
    ended = watched.download()
    assert (ended.code, ended.last["reason"]) == (10, "ObjectGone")
    assert files(watched.data) == {"b": b"b"}


@pytest.mark.parametrize(("flow", "status"), [("download", 400), ("upload", 403)])
def test_credentials_that_expire_on_the_way(
    storage: Storage, watched: Cube, proxy: Proxy, flow: str, status: int
) -> None:
    names = [f"{number:02}" for number in range(20)]
    watched.data.mkdir()
    for name in names:
        (watched.data / name).write_bytes(b"x")
    if flow == "download":
        storage.put(dict.fromkeys(names, b"y"))
    expired = Fault(status=status, body=b"<Error><Code>ExpiredToken</Code><Message>expired</Message></Error>")
    proxy.rule = lambda request: expired if request.path.endswith("/09") else None
    ended = watched.download() if flow == "download" else watched.upload()
    assert (ended.code, ended.last["reason"]) == (10, "ExpiredCredentials")
    assert proxy.count("GET", "/09") + proxy.count("PUT", "/09") == 1, "tried again, although it cannot pass"


def test_wrong_key(storage: Storage, watched: Cube) -> None:
    with watched.started(
        watched.remote(), watched.local(), environment={"S3_SECRET_ACCESS_KEY": "wrong-wrong-wrong"}
    ) as process:
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 3
    assert "wrong-wrong" not in output


def test_nobody_answers(cube: Cube) -> None:
    ended = Cube(cube.folder, cube.storage, "http://127.0.0.1:9").download()
    assert (ended.code, ended.last["reason"]) == (10, "RequestFailed")


@pytest.mark.parametrize(("flow", "status"), [("download", 429), ("upload", 503)])
def test_server_that_says_how_long_to_wait(
    storage: Storage, watched: Cube, proxy: Proxy, flow: str, status: int
) -> None:
    watched.data.mkdir()
    (watched.data / "a").write_bytes(b"a")
    storage.put({} if flow == "upload" else {"b": b"b"})
    seen: list[str] = []

    def rule(request: Request) -> Fault | None:
        if request.is_listing or request.path.rpartition("/")[2] not in ("a", "b"):
            return None
        seen.append(request.method)
        return Fault(status=status, headers={"Retry-After": "3"}) if len(seen) == 1 else None

    proxy.rule = rule
    ended = watched.download() if flow == "download" else watched.upload()
    assert ended.code == 0, ended.output
    method = "GET" if flow == "download" else "PUT"
    assert seen == [method, method]
    assert [each["seconds"] for each in ended.events if "tries_left" in each] == [3.0]


def test_silence_in_the_middle_of_an_answer_ends(
    storage: Storage, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage.put({"a": large(3_000_000)})
    proxy.rule = lambda _: Fault(cut_after=1_000_000, stall=20)
    monkeypatch.setattr(connections, "SILENCE_SECONDS", 0.5)
    with (
        replace(storage, endpoint=proxy.url).client() as client,
        pytest.raises(AttemptError, match="timed out") as raised,
    ):
        client.call("GET", "a")
    assert raised.value.code is ExitCode.TRANSIENT


def test_account_that_may_not_list_is_told_of_it(storage: Storage, watched: Cube, proxy: Proxy) -> None:
    """Without that right, S3 answers 403 for what is not there."""
    storage.put({"other": b"x"})
    proxy.rule = lambda request: Fault(status=403) if request.method == "HEAD" else None
    ended = watched.download("missing", kind="file")
    assert (ended.code, ended.last["reason"]) == (4, "NotFound")
    assert "403" in ended.last["message"]


def test_part_without_an_etag_is_sent_again_by_the_next_attempt(storage: Storage, watched: Cube, proxy: Proxy) -> None:
    """Without its ETag an upload cannot be completed."""
    watched.data.mkdir()
    (watched.data / "large").write_bytes(OBJECTS["large"])
    proxy.rule = lambda request: Fault(status=200) if "partNumber=2&" in request.path else None
    ended = watched.upload()
    assert (ended.code, ended.last["reason"]) == (10, "BadAnswer")
    assert "no ETag for part 2 of " in ended.output
    proxy.rule = lambda _: None
    assert watched.upload().code == 0
    assert storage.read() == {"large": OBJECTS["large"]}


def test_part_that_the_server_lists_without_an_etag_is_not_used(storage: Storage, proxy: Proxy) -> None:
    etag = re.compile(rb"<ETag>.*?</ETag>")
    with replace(storage, endpoint=proxy.url).client() as client:
        upload = multipart.begin(Keeper(client, Log()), "a")
        data = b"a" * (5 << 20)
        checksum = digest_of(ALGORITHM, data)
        sent = {number: multipart.send(client, upload, number, data, checksum) for number in (1, 2)}
        listed = {number: replace(each, checksum=b"") for number, each in sent.items()}
        assert multipart.stored(client, "a", upload.id) == (upload, listed)
        proxy.rule = lambda _: Fault(change=lambda body: etag.sub(b"", body, count=1))
        assert multipart.stored(client, "a", upload.id) == (upload, {2: listed[2]})
