"""Configuration of the transfer agent: written by the compiler, mounted as a file, read in the pod.

A DataCube, or the sync of a dataset in a claim, copies between a claim and one remote side. Options of users are
environment variables, since any of them may come from a Secret. A field whose name ends in `Env` names the variable; it
is null if the option is not given. Trailing newlines of values are removed; a newline inside of a value is an error.
Only options that must be literal (`s3-uri`, `files`, `repo-type`) and values that are never secret are fields
themselves.
"""

import re
from typing import Annotated, Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from stowplan.schema.agents.cache_config import AgentConfig
from stowplan.schema.agents.marker import STATE_DIRECTORY
from stowplan.schema.meta import Model

CLAIM_DIRECTORY = "/mnt/claim"
"""Mount path of the claim's root, so that an agent without root can create directories in it."""

CA_DIRECTORY = "/etc/stowplan-ca"
CA_FILE = "ca.crt"

CA_ENV = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "AWS_CA_BUNDLE", "GIT_SSL_CAINFO")
"""Environment variables that the compiler sets to the path of the certificates; the agent need not set them."""

PROXY_ENV = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY")
"""Variables of a proxy, in capitals or not. They apply to the remote side, never to the API server of Kubernetes."""

NO_REF = re.compile(r"^[-/.]|\.\.|@\{|//|/\.|[\s~^:?*\[\\\x00-\x1f\x7f]|(\.lock|/|\.)$")
"""Pattern of strings that cannot be a branch or tag (`git check-ref-format`), some of which Git would take for an
option.
"""

LOCK_DIRECTORY = f"{STATE_DIRECTORY}/locks"

HOST_PATTERN = r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?$"
HOSTS = "Further hosts, as `host` or `host:port`, to which a server's answers and redirects may lead for content. The stores of huggingface.co, github.com, gitlab.com and bitbucket.org are always allowed."

EnvName = Annotated[str, Field(pattern=r"^[A-Za-z_.-][A-Za-z0-9_.-]*$")]


def option_env(option: str) -> str:
    """Return the environment variable of an option: `S3_ENDPOINT` for `s3-endpoint`."""
    return option.upper().replace("-", "_")


def repository_directory(url: str) -> str:
    """Return the name of a Git repository's directory in the claim: the last segment of the URL without `.git`."""
    return url.partition("?")[0].partition("#")[0].rstrip("/").rpartition("/")[2].removesuffix(".git")


class S3Endpoint(Model):
    """Objects below a URI. Trailing `/` or a bare bucket is a prefix whatever `kind` says."""

    type: Literal["s3"] = Field(default="s3", description="What it is.")
    uri: str = Field(description="`s3://bucket/key`, without credentials.")
    kind: Literal["auto", "file", "prefix"] = Field(
        default="auto",
        description="Whether the URI names one object or all below it. `auto` looks, and fails (5) where both are there. Of a sink: `file` only where the claim's path is a file.",
    )
    endpoint_env: EnvName | None = Field(default=None, description="Variable with the endpoint; null for AWS.")
    access_key_id_env: EnvName | None = Field(default=None, description="Variable with the access key.")
    secret_access_key_env: EnvName | None = Field(default=None, description="Variable with the secret key.")
    session_token_env: EnvName | None = Field(default=None, description="Variable with the session token.")
    region_env: EnvName | None = Field(default=None, description="Variable with the region.")
    path_style: bool | None = Field(
        default=None,
        description="Bucket in the path of the request rather than in the host name; null for true with an endpoint, false without.",
    )
    anonymous: bool = Field(default=False, description="Send no credentials.")
    no_check_bucket_env: EnvName | None = Field(
        default=None,
        description="Variable that says `true` to leave out the look at the bucket before an upload.",
    )
    create_bucket: bool = Field(default=False, description="Make the bucket of a sink where there is none.")
    verify_parts: bool = Field(
        default=False,
        description="Hold objects that were uploaded in parts against their ETag too, where the store keeps no checksum of them that is cheap to compute.",
    )


class HuggingFaceEndpoint(Model):
    """A repository on a Hugging Face Hub. The Hub's own address may come as `HF_ENDPOINT`, a user's variable."""

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


class GitEndpoint(Model):
    """A Git repository over HTTP.

    In the claim it lies in `<path>/<repository>`, the last segment of its URL without `.git`.
    """

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


class PvcEndpoint(Model):
    """A path in a claim, which is mounted at its root."""

    type: Literal["pvc"] = Field(default="pvc", description="What it is.")
    claim: str = Field(description="Name of the claim.")
    mount_path: str = Field(default=CLAIM_DIRECTORY, description="Where the claim is mounted.")
    path: str = Field(
        default="",
        description="Relative path of the data, without `..`; empty for the root. Links on the way may lead out of the claim at run time, which is a conflict (5).",
    )


RemoteEndpoint = Annotated[S3Endpoint | HuggingFaceEndpoint | GitEndpoint, Field(discriminator="type")]
Endpoint = Annotated[S3Endpoint | HuggingFaceEndpoint | GitEndpoint | PvcEndpoint, Field(discriminator="type")]


class Mirror(Model):
    """Makes the destination equal to the source: deletes what the source lacks, after all else went well."""

    allow_empty: bool = Field(default=False, description="Go on where the source lists nothing.")
    max_delete: int | None = Field(
        default=None,
        description="Most files to delete; more is a conflict (5), and none is deleted. Null for no limit.",
        ge=0,
    )


class State(Model):
    """Where the agent keeps what it must remember: paths relative to the root of the claim.

    The completion marker of a run is `marker_path(run)` there (`stowplan.schema.agents.marker`), the run's name is in
    `RUN_ENV` (`stowplan.schema.agents.cache_config`). Nothing below the state directory is copied or deleted.
    """

    directory: str = Field(
        description="Directory of this transfer, such as `.stowplan/datacubes/my-cube`. A file `complete.json` is there while the destination is complete."
    )
    lock: str = Field(description="Lock file of the destination: the same for all that write to one path of the claim.")
    dataset: str | None = Field(
        default=None,
        description="Directory of the dataset that this transfer completes: there, and not in its own directory, it removes and writes the markers by which others see that (`COMPLETE_FILE` and `FAILED_FILE` of `stowplan.schema.agents.marker`). Empty for the root of the claim, null for a transfer that completes no dataset.",
    )


_OF_SOURCES = frozenset({"depth", "files", "submodules", "verifyParts"})
_OF_SINKS = frozenset({"commitMessageEnv", "createBucket", "noCheckBucketEnv", "pathInRepoEnv"})
"""Fields that an endpoint reads only if it is the sink."""

_NOT_OF_GIT = frozenset({"partSizeMiB"})


class TransferConfig(AgentConfig):
    """Copies between a claim and a remote side: exactly one of `source` and `sink` is a claim."""

    task: Literal["transfer"] = Field(default="transfer", description="What to do.")
    source: Endpoint = Field(description="Where from.")
    sink: Endpoint = Field(description="Where to.")
    mirror: Mirror | None = Field(default=None, description="Delete what the source lacks; only from S3 to a claim.")
    soft_deadline_seconds: int | None = Field(
        default=None,
        description="Seconds after which the attempt keeps what it has and ends with exit code 12; null for none.",
        ge=1,
    )
    request_retries: int = Field(default=5, description="Times that one request is sent again.", ge=0)
    parallelism: int = Field(default=8, description="Requests at one time.", ge=1)
    part_size_mib: int = Field(
        default=16,
        alias="partSizeMiB",
        description="Size of a part of a large file in MiB; the agent takes larger ones where an object would have too many.",
        ge=5,
    )
    memory_mib: int = Field(
        alias="memoryMiB", description="Memory limit of the pod in MiB: what is in flight stays well below.", ge=64
    )
    state: State | None = Field(
        default=None,
        description="Where state is kept; null for a source that is mounted read-only. Then a run that is made again compares.",
    )
    ca_bundle: str | None = Field(
        default=None, description="File with the certificates to trust for the remote side; `CA_ENV` point at it too."
    )

    @model_serializer(mode="wrap")
    def _read(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Return the fields that are written to the file, without those that this transfer does not read.

        Pull requests are so shorter.
        """
        told: dict[str, Any] = write(self)
        _drop(told["source"], _OF_SINKS)
        _drop(told["sink"], _OF_SOURCES)
        for side in (told["source"], told["sink"]):
            # Configurations of earlier versions lack this field, and an empty one must not start a new run.
            if not side.get("hosts"):
                side.pop("hosts", None)
        if "git" in (self.source.type, self.sink.type):
            _drop(told, _NOT_OF_GIT)
        return told


def _drop(told: dict[str, Any], names: frozenset[str]) -> None:
    for name in names:
        told.pop(name, None)
