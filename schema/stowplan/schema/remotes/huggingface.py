"""Repositories on a Hugging Face Hub, as sides of a transfer."""

from typing import ClassVar, Literal

from pydantic import Field

from stowplan.schema.forms import REPOSITORY, WORD
from stowplan.schema.meta import Model
from stowplan.schema.remotes.place import EXCLUDE, INCLUDE, InnerPath, LocalSecret, Patterns, Place
from stowplan.schema.remotes.remote import HOSTS, EnvName, Hosts, Pattern, RemoteEndpoint, RemoteModels


class HuggingFaceEndpoint(RemoteEndpoint):
    """A repository on a Hugging Face Hub. The Hub's own address may come as `HF_ENDPOINT`, a user's variable."""

    SECRETS: ClassVar[frozenset[str]] = frozenset({"token_env"})
    OF_SOURCES: ClassVar[frozenset[str]] = frozenset({"files"})
    OF_SINKS: ClassVar[frozenset[str]] = frozenset({"commitMessageEnv", "pathInRepoEnv"})
    UNLESS_EMPTY: ClassVar[frozenset[str]] = frozenset({"hosts"})
    EXTRA: ClassVar[str] = "huggingface"

    type: Literal["huggingface"] = Field(default="huggingface", description="What it is.")
    repo_env: EnvName = Field(description="Variable with the repository, `owner/name`.")
    token_env: EnvName | None = Field(default=None, description="Variable with the token.")
    revision_env: EnvName | None = Field(
        default=None,
        description="Variable with the branch, tag or commit; null for the default branch. Resolved to a commit at the start, and everything is taken from it.",
    )
    repo_type: Literal["model", "dataset", "space"] = Field(default="model", description="Kind of repository.")
    files: list[str] = Field(
        default_factory=list,
        description="Files of a source to take, each one path and no pattern; empty for all. One that is missing fails (4), with all missing names.",
    )
    include: list[str] = Field(default_factory=list, description="Patterns of files to take; empty for all.")
    exclude: list[str] = Field(default_factory=list, description="Patterns of files to leave out; they win.")
    path_in_repo_env: EnvName | None = Field(default=None, description="Variable with a sink's prefix.")
    commit_message_env: EnvName | None = Field(default=None, description="Variable with a sink's commit message.")
    hosts: list[str] = Field(default_factory=list, description=HOSTS)


class HuggingFaceSettings(Model):
    """Which files of a Hugging Face repository are copied."""

    include: list[Pattern] | None = Field(
        default=None, min_length=1, max_length=1024, description="Patterns of files to copy. Without it, all."
    )
    exclude: list[Pattern] | None = Field(
        default=None, min_length=1, max_length=1024, description="Patterns of files to leave out."
    )
    hosts: Hosts | None = Field(default=None, min_length=1, max_length=64, description=HOSTS)


class HubPlace(Place):
    """A repository on a Hugging Face Hub."""

    ABOUT: ClassVar[str] = "A repository on a Hugging Face Hub."
    IDENTITY: ClassVar[tuple[str, ...]] = ("repo", "type", "revision")

    repo: str = Field(description="The repository, `owner/name`.", pattern=REPOSITORY, max_length=200)
    type: Literal["model", "dataset", "space"] = Field(default="dataset", description="Kind of the repository.")
    revision: str | None = Field(
        default=None, description="Branch, tag or commit. Without it, the default branch.", pattern=WORD, max_length=256
    )
    secret_ref: LocalSecret | None = Field(
        default=None, description="Secret with the key `token`. Needed for private and gated repositories."
    )

    @property
    def address(self) -> str:
        return f"hf://{self.type}s/{self.repo}@{self.revision or ''}"

    @property
    def named_revision(self) -> str | None:
        return self.revision


class HubSource(HubPlace):
    """A repository on a Hugging Face Hub, to copy from."""

    include: Patterns | None = Field(default=None, description=INCLUDE)
    exclude: Patterns | None = Field(default=None, description=EXCLUDE)


class HubTarget(HubPlace):
    """A repository on a Hugging Face Hub, to copy to."""

    path: InnerPath | None = Field(default=None, description="Directory in the repository. Without it, the root.")
    message: str | None = Field(default=None, max_length=1024, description="Message of the commit.")


REMOTE = RemoteModels(
    HuggingFaceEndpoint,
    HuggingFaceSettings,
    "Which files, for `huggingface`.",
    source=HubSource,
    target=HubTarget,
)
