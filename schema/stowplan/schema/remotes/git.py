"""Git repositories, as sides of a transfer."""

import re
from typing import ClassVar, Literal

from pydantic import Field

from stowplan.schema.forms import GIT_URL
from stowplan.schema.meta import Int32, Model
from stowplan.schema.remotes.place import LocalSecret, Patterns, Place
from stowplan.schema.remotes.remote import HOSTS, EnvName, Hosts, RemoteEndpoint, RemoteModels

NO_REF = re.compile(r"^[-/.]|\.\.|@\{|//|/\.|[\s~^:?*\[\\\x00-\x1f\x7f]|(\.lock|/|\.)$")
"""Pattern of strings that cannot be a branch or tag (`git check-ref-format`), some of which Git would take for an
option.
"""

_WHOLE = "Not supported: this source is copied as a whole."


def repository_directory(url: str) -> str:
    """Return the name of a Git repository's directory in the claim: the last segment of the URL without `.git`."""
    return url.partition("?")[0].partition("#")[0].rstrip("/").rpartition("/")[2].removesuffix(".git")


class GitEndpoint(RemoteEndpoint):
    """A Git repository over HTTP.

    In the claim it lies in `<path>/<repository>`, the last segment of its URL without `.git`.
    """

    PARTS: ClassVar[bool] = False
    SECRETS: ClassVar[frozenset[str]] = frozenset({"token_env"})
    ADDRESSES: ClassVar[frozenset[str]] = frozenset({"url_env"})
    OF_SOURCES: ClassVar[frozenset[str]] = frozenset({"depth", "submodules"})
    UNLESS_EMPTY: ClassVar[frozenset[str]] = frozenset({"hosts"})

    type: Literal["git"] = Field(default="git", description="What it is.")
    url_env: EnvName = Field(
        description="Variable with the URL. The compiler takes credentials out of literal URLs; one from a Secret may hold some, which the agent takes out before anything is stored or logged."
    )
    token_env: EnvName | None = Field(
        default=None,
        description="Variable with the password; sent to the URL's own host only. Empty values count as not given.",
    )
    username: str | None = Field(default=None, description="User name for the token; null for `oauth2`.")
    username_env: EnvName | None = Field(default=None, description="Variable with the user name; replaces `username`.")
    ref_env: EnvName | None = Field(
        default=None, description="Variable with the branch, tag or commit; null for the remote's HEAD."
    )
    depth: int | None = Field(default=None, description="Number of commits of history; null for all.", ge=1)
    lfs: bool = Field(default=True, description="Fetch and push the content of Git LFS, and check that it is there.")
    submodules: bool = Field(default=False, description="Check out submodules of the same host, at any depth.")
    hosts: list[str] = Field(default_factory=list, description=HOSTS)


class GitSettings(Model):
    """How much of a Git repository is copied."""

    depth: Int32 | None = Field(
        default=None, ge=1, description="Number of commits of history to fetch. Without it, all."
    )
    lfs: bool | None = Field(
        default=None, description="Copy the content of Git LFS, and check that it came. Default true."
    )
    submodules: bool | None = Field(default=None, description="Fetch submodules too. Default false.")
    hosts: Hosts | None = Field(default=None, min_length=1, max_length=64, description=HOSTS)


class GitPlace(Place):
    """A Git repository."""

    ABOUT: ClassVar[str] = "A Git repository."
    IDENTITY: ClassVar[tuple[str, ...]] = ("url", "ref")

    url: str = Field(
        description="Address of the repository, `https://host/path.git`, without credentials.",
        pattern=GIT_URL,
        max_length=2048,
    )
    ref: str | None = Field(
        default=None, description="Branch, tag or commit. Without it, the remote's HEAD.", max_length=256
    )
    lfs: bool | None = Field(
        default=None, description="Copy the content of Git LFS, and check that it came. Default true."
    )
    secret_ref: LocalSecret | None = Field(
        default=None, description="Secret with the key `token`, and `username` if it is not `oauth2`."
    )

    @property
    def address(self) -> str:
        return f"{self.url}@{self.ref or ''}"

    @property
    def named_revision(self) -> str | None:
        return self.ref


class GitCheckout(GitPlace):
    """A Git repository, to copy from as a whole."""

    submodules: bool | None = Field(
        default=None,
        description="Fetch submodules too, at any depth: those on the same host. Default false; the status then names them as left out.",
    )


class GitSource(GitCheckout):
    """A Git repository, to copy from. Its files lie in a directory with its name, as `git clone` makes it."""

    include: Patterns | None = Field(default=None, description=_WHOLE)
    exclude: Patterns | None = Field(default=None, description=_WHOLE)


class GitTarget(GitPlace):
    """A Git repository, to push to. The copied directory holds a clone in a directory with the repository's name.

    Its checked-out branch is pushed; no commit is made.
    """

    ABOUT: ClassVar[str] = "A Git repository, to which the branch of a clone in the dataset is pushed."
    PUSHED: ClassVar[bool] = True

    ref: str | None = Field(
        default=None, description="Not supported: the branch is the one that is checked out.", max_length=256
    )


REMOTE = RemoteModels(
    GitEndpoint,
    GitSettings,
    "How much of the repository, for `git`.",
    source=GitSource,
    target=GitTarget,
)
