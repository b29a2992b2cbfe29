"""Every answer is bounded in size and time."""

import itertools
import os
import socket
import time
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.transfer.remotes.s3 import download
from stowplan.agents.transfer.remotes.s3.protocol import pace
from stowplan.agents.transfer.remotes.s3.protocol.lists import listing
from stowplan.agents.transfer.remotes.s3.protocol.rest_client import RestClient
from stowplan.schema.agents.exit_codes import ExitCode
from tests.agents.transfer.agent import Cube
from tests.hostile.s3.attempt import attempt
from tests.hostile.s3.server import Answer, Request, Server, page


def test_a_huge_page_is_not_read(server: Server, client: RestClient) -> None:
    sent: list[int] = []

    def flood(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n<ListBucketResult>")
        while len(sent) < 3000:
            connection.sendall(b" " * (1 << 20))
            sent.append(1)

    server.rule = lambda _: Answer(raw=flood)
    with pytest.raises(AttemptError, match="16 MiB") as refused:
        list(listing.objects(client, ""))
    assert refused.value.code is ExitCode.TRANSIENT
    assert len(sent) < 100


def test_a_repeated_token(server: Server, client: RestClient) -> None:
    server.rule = lambda _: Answer(body=page([], token="t"))
    with pytest.raises(AttemptError, match="names itself"):
        list(listing.objects(client, ""))
    assert len(server.requests) == 2


def test_pages_without_keys(server: Server, client: RestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "MOST_EMPTY", 20)
    tokens = itertools.count()
    server.rule = lambda _: Answer(body=page([], token=f"t{next(tokens)}"))
    with pytest.raises(AttemptError, match="without a key"):
        list(listing.objects(client, ""))
    assert len(server.requests) == 21


def test_an_endless_listing_ends_at_a_share_of_the_claim(
    cube: Cube, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "LISTING_SHARE", 2e-5)
    numbers = itertools.count()

    def more(request: Request) -> Answer | None:
        if not request.is_listing:
            return None
        begin = next(numbers)
        return Answer(body=page([(f"{begin:012}-{each:04}", "e", 0) for each in range(1000)], token=f"t{begin}"))

    server.rule = more
    done = attempt(cube, cube.remote(), cube.local())
    assert isinstance(done, AttemptError)
    assert (done.code, done.reason) == (5, "NoSpace")
    assert not list(cube.state.glob("listing.*"))


DRIPS_SECONDS = 60
"""After that long a server drips no more; a client that waited for it has no bound."""


def dripping(head: bytes, drop: bytes, seconds: float = 0.05) -> Callable[[socket.socket], None]:
    def drip(connection: socket.socket) -> None:
        connection.sendall(head)
        end = time.monotonic() + DRIPS_SECONDS
        while time.monotonic() < end:
            connection.sendall(drop)
            time.sleep(seconds)

    return drip


HEAD = b"HTTP/1.1 200 OK\r\n"
DRIPS = {
    "head": (b"", b"H"),
    "fields": (HEAD, b"a: b\r\n"),
    "body": (HEAD + b"content-length: 10000000\r\n\r\n", b"x"),
    "body without a length": (HEAD + b"\r\n", b"x"),
    "chunks": (HEAD + b"transfer-encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
    "trailer": (HEAD + b"transfer-encoding: chunked\r\n\r\n0\r\n", b"a: b\r\n"),
    "continue": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
}


@pytest.mark.parametrize("name", DRIPS)
def test_drips_end(server: Server, client: RestClient, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a second instead of a minute."""
    monkeypatch.setattr(pace, "PACE_SECONDS", 1.0)
    server.rule = lambda _: Answer(raw=dripping(*DRIPS[name]))
    began = time.monotonic()
    with pytest.raises(AttemptError) as refused:
        client.call("GET", "a")
    assert refused.value.code is ExitCode.TRANSIENT
    assert 0.5 < time.monotonic() - began < DRIPS_SECONDS / 2


@pytest.mark.parametrize("name", ["continue", "trailer", "fields", "chunks"])
def test_floods_end(server: Server, client: RestClient, name: str) -> None:
    head, drop = DRIPS[name]
    server.rule = lambda _: Answer(raw=dripping(head, drop * 10_000, 0))
    with pytest.raises(AttemptError) as refused:
        client.call("GET", "a")
    assert " more than " in str(refused.value), "nothing but the end of the flood has ended it"


def test_a_slow_disk_is_no_slow_server() -> None:
    """Only the time that is waited for the server counts."""
    came = pace.Pace(1 << 30)
    for _ in range(10):
        came.add(pace.LEAST_BYTES, 59.0)
    for _ in range(11):
        came.add(1, 5.0)
    with pytest.raises(pace.PaceError, match="Only 12 bytes"):
        came.add(1, 5.0)


def test_more_files_than_the_claim_has_room_for(cube: Cube, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.statvfs
    few = SimpleNamespace(f_blocks=1, f_bavail=1 << 40, f_frsize=1, f_files=10, f_favail=2)
    monkeypatch.setattr(os, "statvfs", lambda where: few if isinstance(where, int) else real(where))
    server.objects = {"a": b"a", "b": b"b", "c": b"c"}
    done = attempt(cube, cube.remote(), cube.local())
    assert isinstance(done, AttemptError)
    assert done.reason == "NoSpace"
