"""Rare answers of an API server, over real HTTP. Each test plays them in order."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from stowplan.agents.cluster.access import Access
from stowplan.agents.cluster.answers import Refused, Unreachable
from stowplan.agents.cluster.client import Client
from stowplan.agents.cluster.following import Deleted, Live, Missing, News, follow
from stowplan.agents.cluster.place import job
from tests.agents.accounts import account_directory
from tests.http_server import QuietHandler, serving

PLACE = job("ml", "worker-abcdefgh")


def version(number: int) -> dict[str, Any]:
    return {"kind": "Job", "metadata": {"uid": "u", "resourceVersion": str(number)}}


def event(kind: str, number: int) -> str:
    return json.dumps({"type": kind, "object": version(number)}) + "\n"


def failure(code: int, reason: str) -> dict[str, Any]:
    return {"kind": "Status", "code": code, "reason": reason, "message": "said by the server"}


EXPIRED = json.dumps({"type": "ERROR", "object": failure(410, "Expired")}) + "\n"


@contextmanager
def playing(answers: list[tuple[int, object]]) -> Iterator[tuple[str, list[str]]]:
    """Answers one request after the other, each with a status and JSON or text; gives the URL and what was asked."""
    asked: list[str] = []
    left = iter(answers)

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            code, body = next(left, (503, failure(503, "ServiceUnavailable")))
            self.send_response(code)
            self.end_headers()
            self.wfile.write((body if isinstance(body, str) else json.dumps(body)).encode())

    with serving(Handler) as url:
        yield url, asked


def followed(folder: Path, answers: list[tuple[int, object]], count: int) -> tuple[list[News], list[str]]:
    """The first `count` items of news, and what was asked for."""
    account = account_directory(folder / "account", token="token")

    async def take(url: str) -> list[News]:
        taken: list[News] = []
        async with Client(Access(url, account / "token", account / "ca.crt"), "test") as client:
            async for news in follow(client, PLACE):
                taken.append(news)
                if len(taken) == count:
                    break
        return taken

    with playing(answers) as (url, asked):
        return asyncio.run(take(url)), asked


@pytest.mark.parametrize("gone", [(200, event("MODIFIED", 8) + EXPIRED), (410, failure(410, "Expired"))])
def test_expired_version_is_read_again_silently(tmp_path: Path, gone: tuple[int, object]) -> None:
    answers = [(200, version(7)), gone, (200, version(9)), (200, event("DELETED", 10))]
    seen = [Live(version(7)), *([Live(version(8))] if gone[0] == 200 else []), Live(version(9)), Deleted(version(10))]
    news, asked = followed(tmp_path, answers, len(seen))
    assert news == seen
    assert [path.partition("resourceVersion=")[2] for path in asked] == ["", "7", "", "9"]


def test_bookmarks_are_ignored(tmp_path: Path) -> None:
    watch = event("BOOKMARK", 8) + "\n" + event("MODIFIED", 9)
    assert followed(tmp_path, [(200, version(7)), (200, watch)], 2)[0] == [Live(version(7)), Live(version(9))]


def test_missing_object_is_watched(tmp_path: Path) -> None:
    answers: list[tuple[int, object]] = [(404, failure(404, "NotFound")), (200, event("ADDED", 7))]
    news, asked = followed(tmp_path, answers, 2)
    assert news == [Missing(), Live(version(7))]
    assert asked[1].startswith(f"{PLACE.collection}?")
    assert "resourceVersion" not in asked[1]
    assert "fieldSelector=metadata.name%3Dworker-abcdefgh" in asked[1]


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ((404, "404 page not found\n"), 404),
        ((429, failure(429, "TooManyRequests")), 429),
        ((502, "<html>Bad Gateway</html>"), 502),
        ((200, "<html>Welcome</html>"), None),
        ((200, []), None),
        ((200, failure(500, "InternalError")), None),
    ],
)
def test_errors_are_reported_and_retried(tmp_path: Path, answer: tuple[int, object], status: int | None) -> None:
    """A missing page is not a missing object."""
    trouble, news = followed(tmp_path, [answer, (200, version(7))], 2)[0]
    assert news == Live(version(7))
    assert trouble.status == status if isinstance(trouble, Refused) else isinstance(trouble, Unreachable)


def test_line_separators_of_unicode_end_no_event(tmp_path: Path) -> None:
    noted = version(8) | {"note": "a\u2028b\x85c"}
    line = json.dumps({"type": "MODIFIED", "object": noted}, ensure_ascii=False) + "\n"
    assert followed(tmp_path, [(200, version(7)), (200, line)], 2)[0] == [Live(version(7)), Live(noted)]


@pytest.mark.parametrize("line", ["{", "[]", "{}", '{"type": "MODIFIED"'])
def test_invalid_line_of_a_watch(tmp_path: Path, line: str) -> None:
    answers: list[tuple[int, object]] = [(200, version(7)), (200, f"{line}\n"), (200, version(8))]
    news = followed(tmp_path, answers, 3)[0]
    assert [type(each) for each in news] == [Live, Unreachable, Live]


def test_messages_do_not_contain_the_token(tmp_path: Path) -> None:
    news = followed(tmp_path, [(200, "token"), (401, "token")], 2)[0]
    assert "Bearer" not in str(news)
