"""Comments on pull requests of GitHub: https://docs.github.com/en/rest/issues/comments."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from stowplan.compiler.comments.request import Comment, expect, pages
from stowplan.compiler.comments.rest import Rest

AUTHOR = "github-actions[bot]"
"""The account of the token that a workflow gets."""


@dataclass(frozen=True)
class PullRequest:
    """The `Request` of pull request `number` of `repository`, such as `ml/data`. The token is of the login `author`."""

    rest: Rest
    repository: str
    number: int
    author: str
    limit: ClassVar[int] = 65_000
    """GitHub allows 65,536 characters; some count as two."""

    def head(self) -> str:
        found = expect(self.rest.call("GET", f"/repos/{self.repository}/pulls/{self.number}"), dict)
        return expect(expect(found.get("head"), dict).get("sha"), str) if found.get("state") == "open" else ""

    def comments(self) -> Iterator[Comment]:
        for each in pages(self.rest, f"/repos/{self.repository}/issues/{self.number}/comments?"):
            # The account of a comment may be deleted.
            user = each.get("user") or {}
            own = expect(user, dict).get("login") == self.author
            yield Comment(expect(each.get("id"), int), str(each.get("body") or ""), own)

    def create(self, text: str) -> None:
        self.rest.call("POST", f"/repos/{self.repository}/issues/{self.number}/comments", {"body": text})

    def edit(self, number: int, text: str) -> None:
        self.rest.call("PATCH", f"/repos/{self.repository}/issues/comments/{number}", {"body": text})


def service(url: str, token: str) -> Rest:
    """Return the service at `url`, such as https://api.github.com. Sends nothing. Raises `RestError` as `Rest` does."""
    headers = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
    return Rest(url, headers | {"Authorization": f"Bearer {token}"})
