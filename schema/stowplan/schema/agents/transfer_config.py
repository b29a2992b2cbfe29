"""Configuration of the transfer agent: written by the compiler, mounted as a file, read in the pod.

A DataCube, the sync of a dataset or a copy of one copies between a claim and one remote side, or between two claims. Options of users are
environment variables, since any of them may come from a Secret. A field whose name ends in `Env` names the variable; it
is null if the option is not given. Trailing newlines of values are removed; a newline inside of a value is an error.
Only options that must be literal (`s3-uri`, `files`, `repo-type`) and values that are never secret are fields
themselves.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from stowplan.schema.agents.agent_config import DEFAULT_MAX_DELETE, AgentConfig
from stowplan.schema.agents.left_out import Links
from stowplan.schema.agents.marker import STATE_DIRECTORY
from stowplan.schema.meta import Model
from stowplan.schema.remotes.registry import AnyEndpoint
from stowplan.schema.remotes.remote import RemoteEndpoint

CLAIM_DIRECTORY = "/mnt/claim"
"""Mount path of the claim's root, so that an agent without root can create directories in it."""

SOURCE_DIRECTORY = "/mnt/source"
"""Mount path, read-only, of the root of the source's claim in a copy from one claim to another."""

SECRETS_DIRECTORY = "/etc/stowplan-secrets"
"""Mount path of secret values. Each file has the name of the variable that it stands for."""

CA_DIRECTORY = "/etc/stowplan-ca"
CA_FILE = "ca.crt"

CA_ENV = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "AWS_CA_BUNDLE", "GIT_SSL_CAINFO")
"""Environment variables that the compiler sets to the path of the certificates; the agent need not set them."""

PROXY_ENV = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY")
"""Variables of a proxy, in capitals or not. They apply to the remote side, never to the API server of Kubernetes."""

LOCK_DIRECTORY = f"{STATE_DIRECTORY}/locks"


class PvcEndpoint(Model):
    """A path in a claim, which is mounted at its root."""

    type: Literal["pvc"] = Field(default="pvc", description="What it is.")
    claim: str = Field(description="Name of the claim.")
    mount_path: str = Field(default=CLAIM_DIRECTORY, description="Where the claim is mounted.")
    path: str = Field(
        default="",
        description="Relative path of the data, without `..`; empty for the root. Links on the way may lead out of the claim at run time, which is a conflict (5).",
    )
    links: Links = Field(
        default="follow",
        description="Of a source: what happens to symbolic links. `follow` copies what they lead to, and one that leads out of the path is a conflict (5).",
    )


Endpoint = Annotated[AnyEndpoint | PvcEndpoint, Field(discriminator="type")]


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
    shared: str | None = Field(
        default=None,
        description="Directory of a dataset in JuiceFS. The transfer then holds the lock that all other tasks on the dataset hold, in place of the lock file, and waits for it. Empty for the root of the claim, null for other claims.",
    )
    dataset: str | None = Field(
        default=None,
        description="Directory of the dataset that this transfer completes: there, and not in its own directory, it removes and writes the markers by which others see that (`COMPLETE_FILE` and `FAILED_FILE` of `stowplan.schema.agents.marker`). Empty for the root of the claim, null for a transfer that completes no dataset.",
    )


class TransferConfig(AgentConfig):
    """Copies between a claim and a remote side, or from a claim to another one: at least one of the sides is a claim."""

    task: Literal["transfer"] = Field(default="transfer", description="What to do.")
    source: Endpoint = Field(description="Where from.")
    sink: Endpoint = Field(description="Where to.")
    mirror: Mirror | None = Field(default=None, description="Delete what the source lacks; only from S3 to a claim.")
    max_delete: int = Field(
        default=DEFAULT_MAX_DELETE,
        description="Most files of an earlier source to delete where the source has moved; more is a conflict (5), and none is deleted.",
        ge=0,
    )
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
    max_bytes_per_second: int | None = Field(
        default=None,
        description="Most bytes that are moved in a second, by all streams together; null for no limit.",
        ge=1,
    )
    state: State | None = Field(
        default=None,
        description="Where state is kept; null for a source that is mounted read-only. Then a run that is made again compares.",
    )
    skip_file: str | None = Field(
        default=None,
        description="File that says, if it exists, why nothing is to be copied: the attempt then succeeds without a copy. Null for none.",
    )
    ca_bundle: str | None = Field(
        default=None, description="File with the certificates to trust for the remote side; `CA_ENV` point at it too."
    )

    @model_serializer(mode="wrap")
    def _read(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Return the fields that are written to the file, without those that this transfer does not read.

        Pull requests are so shorter.
        """
        fields: dict[str, Any] = write(self)
        if self.max_delete == DEFAULT_MAX_DELETE:
            _drop(fields, frozenset({"maxDelete"}))
        if self.max_bytes_per_second is None:
            _drop(fields, frozenset({"maxBytesPerSecond"}))
        if isinstance(self.source, PvcEndpoint) and isinstance(self.sink, PvcEndpoint):
            _drop(fields, frozenset({"partSizeMiB", "requestRetries"}))
        for name, side, unread in (("source", self.source, "OF_SINKS"), ("sink", self.sink, "OF_SOURCES")):
            if not isinstance(side, RemoteEndpoint):
                # Older configurations lack it, and must not start a new run.
                _drop(fields[name], frozenset({"links"} if side.links == "follow" else ()))
                continue
            empty = {key for key in side.UNLESS_EMPTY if not fields[name].get(key)}
            _drop(fields[name], getattr(side, unread) | empty)
            if not side.PARTS:
                _drop(fields, frozenset({"partSizeMiB"}))
        return fields


def _drop(fields: dict[str, Any], names: frozenset[str]) -> None:
    for name in names:
        fields.pop(name, None)
