"""Servers that keep comments as GitHub and GitLab do, in memory.

They answer the documented routes that `stowplan comment` uses, with their documented codes, pages and errors, and
nothing else:

- GitHub (https://docs.github.com/en/rest): `GET /repos/{owner}/{repo}/pulls/{number}`,
  `GET` and `POST /repos/{owner}/{repo}/issues/{number}/comments`, `PATCH /repos/{owner}/{repo}/issues/comments/{id}`.
  The token of a workflow writes as `github-actions[bot]`, and a body above 65,536 characters is refused with 422.
- GitLab (https://docs.gitlab.com/api): `GET /user`, `GET /projects/{id}/merge_requests/{iid}`,
  `GET` and `POST /projects/{id}/merge_requests/{iid}/notes`, `PUT …/notes/{id}`. A body above a million characters is
  refused with 400.

Both give 20 or 30 comments of a list unless `per_page` asks for up to 100, and refuse a foreign token with 401.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

from tests.http_server import QuietHandler, serving

TOKEN = "token-of-the-job"
HEAD = "a1" * 20


@dataclass
class Service:
    """The state of one request, number 7, and what was asked of the server."""

    head: str = HEAD
    open: bool = True
    comments: list[dict[str, Any]] = field(default_factory=list)
    """Each has `id`, `body`, the name of its `author`, and whether it is of the `system`."""
    asked: list[str] = field(default_factory=list)
    """Methods and paths, in their order."""
    busy: int = 0
    """How many of the next requests are refused because the service is busy."""
    url: str = ""

    def say(self, author: str, body: str, *, system: bool = False) -> dict[str, Any]:
        """Add a comment."""
        added = {"id": 100 + len(self.comments), "body": body, "author": author, "system": system}
        self.comments.append(added)
        return added

    def bodies(self, author: str) -> list[str]:
        """The comments of an author."""
        return [each["body"] for each in self.comments if each["author"] == author]

    @property
    def writes(self) -> list[str]:
        return [each for each in self.asked if not each.startswith("GET ")]


class _Handler(QuietHandler):
    state: Service
    token_header: ClassVar[tuple[str, str]]
    usual_page: ClassVar[int]
    most: ClassVar[int]
    too_long: ClassVar[int]
    protocol_version = "HTTP/1.1"

    def _serve(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        content = json.loads(self.rfile.read(length)) if length else {}
        path, query = urlsplit(self.path).path, parse_qs(urlsplit(self.path).query)
        self.state.asked.append(f"{self.command} {path}")
        name, value = self.token_header
        if self.state.busy:
            self.state.busy -= 1
            self._answer(429, {"message": "slow down"}, {"Retry-After": "0"})
        elif self.headers.get(name) != value:
            self._answer(401, {"message": "Bad credentials"})
        elif len(content.get("body", "")) > self.most:
            self._answer(self.too_long, {"message": "body is too long"})
        else:
            self._answer(*self.route(self.command, path, query, content))

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _serve

    def route(self, method: str, path: str, query: dict[str, list[str]], content: dict[str, Any]) -> tuple[int, Any]:
        raise NotImplementedError

    def page(self, query: dict[str, list[str]]) -> list[dict[str, Any]]:
        size = min(int(query.get("per_page", [str(self.usual_page)])[0]), 100)
        start = (int(query.get("page", ["1"])[0]) - 1) * size
        return self.state.comments[start : start + size]

    def change(self, number: str, body: str) -> dict[str, Any] | None:
        found = next((each for each in self.state.comments if each["id"] == int(number)), None)
        if found:
            found["body"] = body
        return found

    def _answer(self, code: int, content: Any, headers: dict[str, str] | None = None) -> None:
        data = json.dumps(content).encode()
        self.send_response(code)
        for name, value in {
            "Content-Type": "application/json",
            "Content-Length": str(len(data)),
            **(headers or {}),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


class _GitHub(_Handler):
    token_header = ("Authorization", f"Bearer {TOKEN}")
    usual_page = 30
    most = 65_536
    too_long = 422

    def route(self, method: str, path: str, query: dict[str, list[str]], content: dict[str, Any]) -> tuple[int, Any]:
        repository = "/repos/ml/data"
        edited = re.fullmatch(rf"{repository}/issues/comments/(\d+)", path)
        match method, path:
            case "GET", "/repos/ml/data/pulls/7":
                return 200, {
                    "number": 7,
                    "state": "open" if self.state.open else "closed",
                    "head": {"sha": self.state.head},
                }
            case "GET", "/repos/ml/data/issues/7/comments":
                return 200, [self._shown(each) for each in self.page(query)]
            case "POST", "/repos/ml/data/issues/7/comments":
                return 201, self._shown(self.state.say("github-actions[bot]", content["body"]))
            case "PATCH", _ if edited and (found := self.change(edited[1], content["body"])):
                return 200, self._shown(found)
        return 404, {"message": "Not Found"}

    @staticmethod
    def _shown(comment: dict[str, Any]) -> dict[str, Any]:
        # The account of a comment may be gone.
        author = comment["author"]
        return {"id": comment["id"], "body": comment["body"], "user": {"login": author} if author else None}


_USERS = {"project_1_bot": 41, "mallory": 42}


class _GitLab(_Handler):
    token_header = ("PRIVATE-TOKEN", TOKEN)
    usual_page = 20
    most = 1_000_000
    too_long = 400

    def route(self, method: str, path: str, query: dict[str, list[str]], content: dict[str, Any]) -> tuple[int, Any]:
        request = "/projects/3/merge_requests/7"
        edited = re.fullmatch(rf"{request}/notes/(\d+)", path)
        match method, path:
            case "GET", "/user":
                return 200, {"id": _USERS["project_1_bot"], "username": "project_1_bot"}
            case "GET", "/projects/3/merge_requests/7":
                return 200, {"iid": 7, "state": "opened" if self.state.open else "merged", "sha": self.state.head}
            case "GET", "/projects/3/merge_requests/7/notes":
                assert query["sort"] == ["asc"], "by default the newest are first"
                return 200, [self._shown(each) for each in self.page(query)]
            case "POST", "/projects/3/merge_requests/7/notes":
                return 201, self._shown(self.state.say("project_1_bot", content["body"]))
            case "PUT", _ if edited and (found := self.change(edited[1], content["body"])):
                return 200, self._shown(found)
        return 404, {"message": "404 Not found"}

    @staticmethod
    def _shown(comment: dict[str, Any]) -> dict[str, Any]:
        author = {"id": _USERS.get(comment["author"], 43), "username": comment["author"]}
        return {"id": comment["id"], "body": comment["body"], "author": author, "system": comment["system"]}


@contextmanager
def service(provider: str) -> Iterator[Service]:
    """Run the server of `github` or `gitlab`."""
    state = Service()
    kind = {"github": _GitHub, "gitlab": _GitLab}[provider]
    with serving(type("Handler", (kind,), {"state": state})) as url:
        state.url = url
        yield state


OWN = {"github": "github-actions[bot]", "gitlab": "project_1_bot"}
"""The account of the token."""


def variables(provider: str, state: Service) -> dict[str, str]:
    """What the service tells its CI jobs, with the token."""
    if provider == "github":
        return {"GITHUB_API_URL": state.url, "GITHUB_REPOSITORY": "ml/data", "GITHUB_TOKEN": TOKEN}
    return {"CI_API_V4_URL": state.url, "CI_PROJECT_ID": "3", "GITLAB_TOKEN": TOKEN}
