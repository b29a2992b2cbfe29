"""What services have in common: a pull or merge request with comments, of which one is kept up to date."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, Protocol, TypeVar

from stowplan.compiler.comments.body import body, is_review
from stowplan.compiler.comments.rest import Rest, RestError

PAGE = 100
"""Number of comments in one answer: the most that both services give."""
MOST_PAGES = 50

T = TypeVar("T")


class Outcome(StrEnum):
    """What `keep` did, as the command says it. `OUTDATED`: nothing, since the commit is not the tip of the branch."""

    CREATED = "created"
    EDITED = "edited"
    SAME = "unchanged"
    OUTDATED = "outdated"


@dataclass(frozen=True)
class Comment:
    """A comment of the request; `number` is that by which the service knows it."""

    number: int
    text: str
    own: bool
    """Whether the account of the token wrote it."""


class Request(Protocol):
    """An open or closed pull or merge request of a service. All methods raise `RestError`."""

    limit: ClassVar[int]
    """Maximum number of characters of a comment."""

    def head(self) -> str:
        """Return the whole SHA of the commit at the tip of the request's branch; empty if the request is closed."""

    def comments(self) -> Iterator[Comment]:
        """Yield the comments of everybody, the oldest first, and ask for the next page when it is wanted."""

    def create(self, text: str) -> None:
        """Add a comment."""

    def edit(self, number: int, text: str) -> None:
        """Replace the text of the comment with this `Comment.number`."""


def keep(request: Request, markdown: str, *, commit: str, link: str) -> Outcome:
    """Edit the comment of this program, or add it if there is none; return what was done.

    Does nothing if `commit`, a whole SHA, is not the tip of the request's branch: then a newer one has its own comment,
    or somebody gave the number of another request. `markdown` and `link` are as in `body`. Raises `RestError`.
    """
    if request.head() != commit:
        return Outcome.OUTDATED
    text = body(markdown, commit=commit, link=link, limit=request.limit)
    found = next((each for each in request.comments() if each.own and is_review(each.text)), None)
    if found is None:
        request.create(text)
        return Outcome.CREATED
    if found.text.strip() == text.strip():
        return Outcome.SAME
    request.edit(found.number, text)
    return Outcome.EDITED


def pages(rest: Rest, path: str) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a list that comes in pages. Raises `RestError`, also if there are more than `MOST_PAGES`.

    `path` has a `?`; `&per_page=…` and the number of the page are appended. A page is asked for when it is wanted.
    """
    for page in range(1, MOST_PAGES + 1):
        found = expect(rest.call("GET", f"{path}&per_page={PAGE}&page={page}"), list)
        yield from (expect(each, dict) for each in found)
        if len(found) < PAGE:
            return
    raise RestError(
        f"GET {path}: there are more than {MOST_PAGES * PAGE} comments, and none of the first ones is ours."
    )


def expect(value: Any, kind: type[T]) -> T:
    """Return `value`, a part of an answer. Raises `RestError` if it is no `kind`; a boolean never is."""
    if not isinstance(value, kind) or isinstance(value, bool):
        raise RestError("The service answers with something else than its documentation says.")
    return value
