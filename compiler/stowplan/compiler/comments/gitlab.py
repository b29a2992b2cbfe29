"""Notes on merge requests of GitLab: https://docs.gitlab.com/api/notes/."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from stowplan.compiler.comments.request import Comment, expect, pages
from stowplan.compiler.comments.rest import Rest


@dataclass(frozen=True)
class MergeRequest:
    """The `Request` of merge request `number`, its number in the project with the id `project`."""

    rest: Rest
    project: int
    number: int
    limit: ClassVar[int] = 900_000
    """GitLab allows a million characters."""

    @property
    def _path(self) -> str:
        return f"/projects/{self.project}/merge_requests/{self.number}"

    def head(self) -> str:
        found = expect(self.rest.call("GET", self._path), dict)
        return expect(found.get("sha"), str) if found.get("state") == "opened" else ""

    def comments(self) -> Iterator[Comment]:
        author = expect(expect(self.rest.call("GET", "/user"), dict).get("id"), int)
        for each in pages(self.rest, f"{self._path}/notes?sort=asc&order_by=created_at"):
            own = expect(each.get("author"), dict).get("id") == author and each.get("system") is not True
            yield Comment(expect(each.get("id"), int), str(each.get("body") or ""), own)

    def create(self, text: str) -> None:
        self.rest.call("POST", f"{self._path}/notes", {"body": text})

    def edit(self, number: int, text: str) -> None:
        self.rest.call("PUT", f"{self._path}/notes/{number}", {"body": text})


def service(url: str, token: str) -> Rest:
    """Return the service at `url`, such as https://gitlab.example.com/api/v4. Raises `RestError` as `Rest` does."""
    return Rest(url, {"PRIVATE-TOKEN": token})
