"""Repositories on a Hugging Face Hub, as sides of a transfer."""

from typing import ClassVar, Literal

from pydantic import Field

from stowplan.schema.meta import Model
from stowplan.schema.remotes.remote import HOSTS, EnvName, Hosts, Pattern, RemoteEndpoint, RemoteModels


class HuggingFaceEndpoint(RemoteEndpoint):
    """A repository on a Hugging Face Hub. The Hub's own address may come as `HF_ENDPOINT`, a user's variable."""

    SECRETS: ClassVar[frozenset[str]] = frozenset({"token_env"})
    OF_SOURCES: ClassVar[frozenset[str]] = frozenset({"files"})
    OF_SINKS: ClassVar[frozenset[str]] = frozenset({"commitMessageEnv", "pathInRepoEnv"})
    UNLESS_EMPTY: ClassVar[frozenset[str]] = frozenset({"hosts"})

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


REMOTE = RemoteModels(HuggingFaceEndpoint, HuggingFaceSettings, "Which files, for `huggingface`.")
