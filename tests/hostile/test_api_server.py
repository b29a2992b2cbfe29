"""Answers of an API server, output of child processes, and the agents' own faults have bounds."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from fractions import Fraction
from functools import partial
from io import StringIO
from pathlib import Path
from typing import TypeVar

import certifi
import pytest

from stowplan.agents.attempt.outcome import AttemptOutcome
from stowplan.agents.attempt.program import AttemptProgram
from stowplan.agents.attempt.redaction import Redactor
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.await_group import wait_loop
from stowplan.agents.cache.drivers.api import DatasetSize, Pulse
from stowplan.agents.cache.drivers.bounded_subprocess import MOST_BYTES, BoundedRunner
from stowplan.agents.cache.runtime.figures import Figures, LatestFigures
from stowplan.agents.cache.runtime.space import Space
from stowplan.agents.cache.runtime.watch import MountWatch
from stowplan.agents.cluster import client as client_module
from stowplan.agents.cluster import main_loop
from stowplan.agents.cluster.access import Access
from stowplan.agents.cluster.answers import Refused, Unreachable, WatchEvent
from stowplan.agents.cluster.client import Client
from stowplan.agents.cluster.place import job
from stowplan.agents.reporter import command as reporter_command
from stowplan.agents.reporter.objects import workloads
from stowplan.agents.reporter.objects.cache import ObjectCache
from stowplan.agents.reporter.watching import Watching
from stowplan.agents.runtime.log import LONGEST, Log
from stowplan.schema.agents.exit_codes import ExitCode
from tests.recorder import recording

T = TypeVar("T")
PLACE = job("ml", "a")
OBJECT = {"metadata": {"name": "a"}}


class PanicError(BaseException):
    """As libraries raise that are written in Rust: no Exception."""


@asynccontextmanager
async def server(status: int, body: Callable[[], AsyncIterator[bytes]], directory: Path) -> AsyncIterator[Client]:
    """A client of a server that gives one answer to every request, until nobody reads on."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(f"HTTP/1.1 {status} x\r\nConnection: close\r\n\r\n".encode())
            async for chunk in body():
                writer.write(chunk)
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()

    listening = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    (directory / "token").write_text("abc")
    (directory / "ca.crt").write_bytes(Path(certifi.where()).read_bytes())
    access = Access(f"http://127.0.0.1:{port}", directory / "token", directory / "ca.crt")
    async with Client(access, "test") as client:
        yield client
    listening.close()


async def endless(first: bytes = b"", piece: bytes = b"x" * 65536) -> AsyncIterator[bytes]:
    yield first
    while True:
        yield piece


async def once(content: bytes) -> AsyncIterator[bytes]:
    yield content


def got(status: int, body: Callable[[], AsyncIterator[bytes]], directory: Path) -> object:
    async def ask() -> object:
        async with asyncio.timeout(20), server(status, body, directory) as client:
            return await client.get(PLACE)

    return asyncio.run(ask())


def watched(status: int, body: Callable[[], AsyncIterator[bytes]], directory: Path) -> list[object]:
    async def ask() -> list[object]:
        async with asyncio.timeout(20), server(status, body, directory) as client:
            return [each async for each in client.watch(PLACE.collection, PLACE.selector, None)]

    return asyncio.run(ask())


@pytest.mark.parametrize("way", ["redirect", "proxy"])
def test_the_token_of_an_account_goes_to_the_api_server_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    (tmp_path / "token").write_text("CANARY-token")
    (tmp_path / "ca.crt").write_bytes(Path(certifi.where()).read_bytes())
    monkeypatch.delenv("NO_PROXY", raising=False)
    with recording() as asked, recording() as other:
        if way == "redirect":
            asked.location = other.url
        else:
            monkeypatch.setenv("http_proxy", other.url)

        async def ask() -> object:
            async with Client(Access(asked.url, tmp_path / "token", tmp_path / "ca.crt"), "test") as client:
                return await client.get(PLACE)

        assert isinstance(asyncio.run(ask()), Refused | Unreachable)
        assert asked.heard("CANARY-token")
        assert other.seen == []


def test_an_answer_has_a_largest_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "LARGEST_ANSWER", 1 << 20)
    assert isinstance(got(200, endless, tmp_path), Unreachable)
    assert isinstance(got(500, endless, tmp_path), Refused)
    assert got(200, lambda: once(json.dumps(OBJECT).encode()), tmp_path) == OBJECT


def test_an_answer_has_a_longest_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def slow() -> AsyncIterator[bytes]:
        while True:
            yield b" "
            await asyncio.sleep(0.05)

    monkeypatch.setattr(client_module, "CALL_SECONDS", 0.5)
    assert isinstance(got(200, slow, tmp_path), Unreachable)
    monkeypatch.setattr(client_module, "WATCH_SECONDS", 0.5)
    monkeypatch.setattr(client_module, "SILENCE_SECONDS", 0.5)
    assert watched(200, slow, tmp_path) == []


@pytest.mark.parametrize(
    "body", [b"[" * 100_000, b'{"metadata":' + b"[" * 100_000, b"null", b"\xff", b"[]", b'{"a":1}']
)
def test_an_answer_that_is_no_object_is_no_fault(tmp_path: Path, body: bytes) -> None:
    assert isinstance(got(200, lambda: once(body), tmp_path), Unreachable)
    assert isinstance(got(403, lambda: once(body), tmp_path), Refused)


def test_what_a_server_says_is_cut(tmp_path: Path) -> None:
    said = {"reason": "x" * 50_000, "message": "y" * 10_000}
    refused = got(403, lambda: once(json.dumps(said).encode()), tmp_path)
    assert isinstance(refused, Refused)
    assert len(str(refused)) < 2_100


def test_an_event_has_a_largest_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "LARGEST_EVENT", 1 << 20)
    good = json.dumps({"type": "ADDED", "object": OBJECT}).encode() + b"\n"
    event, last = watched(200, lambda: endless(good), tmp_path)
    assert event == WatchEvent("ADDED", OBJECT)
    assert isinstance(last, Unreachable)
    assert [type(each) for each in watched(403, endless, tmp_path)] == [Refused]


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 100_000,
        b"[]",
        b"1",
        b"{}",
        b'{"type":"ADDED"}',
        b'{"type":"ADDED","object":[]}',
        b'{"type":"ADDED","object":{}}',
        b'{"type":"ADDED","object":{"metadata":[]}}',
        b'{"type":"ERROR","object":[]}',
    ],
)
def test_an_event_of_any_form_is_no_fault(tmp_path: Path, line: bytes) -> None:
    assert [type(each) for each in watched(200, lambda: once(line + b"\n"), tmp_path)] == [Unreachable]


@pytest.mark.parametrize("code", ["null", '"x"', "1e999", "[]"])
def test_an_error_event_of_any_code_is_a_refusal(tmp_path: Path, code: str) -> None:
    line = f'{{"type":"ERROR","object":{{"code":{code}}}}}\n'.encode()
    assert watched(200, lambda: once(line), tmp_path) == [Refused(500, "", "")]


# What the reporter makes of it.


def reported(body: bytes, directory: Path, method: str) -> tuple[object, ObjectCache[workloads.Job]]:
    """What one list or watch of Jobs gives, and the cache after it."""
    cache = ObjectCache(partial(workloads.job, namespace="ml"), lambda _: None)

    async def run() -> object:
        async with asyncio.timeout(20), server(200, lambda: once(body), directory) as client:
            watching = Watching(client, PLACE.collection, cache, Log(stream=StringIO()))
            return await (watching._list() if method == "list" else watching._watch("7"))

    return asyncio.run(run()), cache


def test_the_same_page_again_and_again_ends_the_list(tmp_path: Path) -> None:
    page = {"metadata": {"continue": "token", "resourceVersion": "1"}, "items": []}
    assert reported(json.dumps(page).encode(), tmp_path, "list")[0] is None


@pytest.mark.parametrize(
    "items", ["text", [1, "x", None, [], {}, {"metadata": []}, {"metadata": {"uid": []}}], {"a": 1}]
)
def test_a_list_of_any_form_is_no_fault(tmp_path: Path, items: object) -> None:
    page = {"metadata": {"resourceVersion": "1"}, "items": items}
    version, cache = reported(json.dumps(page).encode(), tmp_path, "list")
    assert version == "1"
    assert cache.complete


@pytest.mark.parametrize("kind", ["ADDED", "DELETED", "BOOKMARK", "x"])
@pytest.mark.parametrize("metadata", [{}, {"uid": []}, {"uid": "a", "labels": []}])
def test_a_watch_of_any_form_is_no_fault(tmp_path: Path, kind: str, metadata: object) -> None:
    event = {"type": kind, "object": {"metadata": metadata, "spec": [], "status": 1}}
    assert reported(json.dumps(event).encode() + b"\n", tmp_path, "watch")[0] == "7"


# Faults that are no Exception.


@pytest.mark.parametrize(("module", "work"), [(wait_loop, "wait_for_end"), (reporter_command, "_run")])
def test_a_panic_does_not_end_with_a_code_that_means_something_else(
    module: object, work: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def fail(*_: object) -> int:
        raise PanicError

    monkeypatch.setattr(main_loop, "Client", lambda *_: nullcontext())
    monkeypatch.setattr(module, work, fail)
    monkeypatch.setattr(module, "settings", lambda *_: None)
    monkeypatch.setattr("stowplan.agents.cluster.access.from_pod", lambda *_: None)
    monkeypatch.setattr(sys, "argv", ["x"])
    main: Callable[[], int] = module.main  # type: ignore[attr-defined]
    assert main() == ExitCode.TRANSIENT
    assert "PanicError" in capsys.readouterr().err


def test_a_panic_of_the_work_ends_the_attempt_in_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # A program takes the signals of its process, which here is that of the tests.
    monkeypatch.setattr("stowplan.agents.attempt.program._watch_signals", lambda _: None)

    def work() -> str:
        raise PanicError("x" * 100_000)

    outcome = AttemptOutcome(None, None)
    program = AttemptProgram("transfer", outcome, Stop(), Log(stream=StringIO()), Redactor(()), None)
    assert program.run(work, None) == ExitCode.TRANSIENT
    assert "PanicError" in outcome.message
    assert len(outcome.message) <= LONGEST
    assert len(capsys.readouterr().err) < 20_000


def test_a_panic_of_the_driver_ends_the_cache_agent(tmp_path: Path) -> None:
    class Driver:
        def pulse(self, mount: Path) -> Pulse:  # noqa: ARG002
            raise PanicError

        def extent(self, mount: Path) -> DatasetSize:  # noqa: ARG002
            raise PanicError

    stop = Stop()
    record, space = LatestFigures(Figures(0, None, 1)), Space(1, Fraction(0), expires=False)
    MountWatch(Driver(), tmp_path, record, space, stop, Log(stream=StringIO()), 1.0).start()
    assert stop._event.wait(5)
    assert stop.why == "failure"


# What is said.


@pytest.mark.parametrize("form", ["json", "text"])
def test_a_line_of_the_log_is_short(form: str) -> None:
    stream = StringIO()
    Log("json" if form == "json" else "text", stream=stream).error("x" * 1_000_000, said="y" * 1_000_000, code=3)
    assert len(stream.getvalue()) < 2 * LONGEST + 200
    assert stream.getvalue().count("\n") == 1


def test_a_program_that_says_much_is_cut() -> None:
    words = [sys.executable, "-c", "import sys; sys.stdout.write('x' * 5_000_000); sys.stderr.write('y' * 5_000_000)"]
    answer = BoundedRunner().ask(words, {}, 20)
    assert answer.code is not None
    assert len(answer.output) == MOST_BYTES
    assert len(answer.error) <= 4096
