"""Places of data outside of a volume: what datasets are copied from, and what tasks copy to."""

from typing import Annotated, Literal

from pydantic import Field

from stowplan.schema.forms import DIGEST, GIT_URL, REPOSITORY, S3_URI, STORE_URL, WORD
from stowplan.schema.meta import Model

Patterns = Annotated[list[Annotated[str, Field(max_length=1024)]], Field(min_length=1, max_length=1024)]

_INCLUDE = "Patterns of the files to copy, as paths below the source. `*` and `?` match `/` too, and `folder/` is everything below it. Without it, all."
_WHOLE = "Not supported: this source is copied as a whole."
_EXCLUDE = "Patterns of the files to leave out, even if `include` matches."


class LocalSecret(Model):
    """A Secret in the namespace of the spec. Only its name is in Git, never its content."""

    name: str = Field(description="Name of the Secret.", min_length=1, max_length=253)


class S3Place(Model):
    """Objects in an S3 store."""

    uri: str = Field(
        description="`s3://bucket/prefix`, without credentials; a bucket of a tenant of Ceph is `tenant:bucket`.",
        pattern=S3_URI,
        max_length=2048,
    )
    endpoint: str | None = Field(
        default=None,
        description="URL of the store, such as `https://minio.example.com`. Without it, that of AWS.",
        pattern=STORE_URL,
        max_length=2048,
    )
    region: str | None = Field(default=None, description="Region of the bucket.", pattern=WORD, max_length=63)
    path_style: bool | None = Field(
        default=None,
        description="Whether the bucket is in the path of requests, or the first part of the host: `false` for stores that refuse the path, as Alibaba OSS and Volcengine TOS. Default: true if `endpoint` is given.",
    )
    secret_ref: LocalSecret | None = Field(
        default=None,
        description="Secret with the keys `access-key` and `secret-key`, and `session-token` for temporary credentials.",
    )


class S3Source(S3Place):
    """Objects in an S3 store, to copy from."""

    anonymous: bool | None = Field(
        default=None, description="True for a public bucket: no credentials are sent. Excludes `secretRef`."
    )
    revision: str | None = Field(
        default=None,
        description="Hash of the listing that the source must have, `sha256:…`; of any other one nothing is copied, and the sync fails. `stowplan pin` finds it, and `stowplan.lock` holds it, unless the Dataset has `refresh`. Without it, what is there is copied.",
        pattern=DIGEST,
        max_length=71,
    )
    accept_unverified: bool | None = Field(
        default=None,
        description="Copy objects too whose ETag looks like an MD5 but is none, as stores with encryption give it, if the store has no other checksum for them. Each is fetched twice, must come with the same bytes, and counts as unverified in the status. Default false: such a sync fails.",
    )
    include: Patterns | None = Field(default=None, description=_INCLUDE)
    exclude: Patterns | None = Field(default=None, description=_EXCLUDE)


class HubPlace(Model):
    """A repository on a Hugging Face Hub."""

    repo: str = Field(description="The repository, `owner/name`.", pattern=REPOSITORY, max_length=200)
    type: Literal["model", "dataset", "space"] = Field(default="dataset", description="Kind of the repository.")
    revision: str | None = Field(
        default=None, description="Branch, tag or commit. Without it, the default branch.", pattern=WORD, max_length=256
    )
    secret_ref: LocalSecret | None = Field(
        default=None, description="Secret with the key `token`. Needed for private and gated repositories."
    )


class HubSource(HubPlace):
    """A repository on a Hugging Face Hub, to copy from."""

    include: Patterns | None = Field(default=None, description=_INCLUDE)
    exclude: Patterns | None = Field(default=None, description=_EXCLUDE)


class GitPlace(Model):
    """A Git repository."""

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


class StorageSource(Model):
    """An object storage that JuiceFS can read."""

    uri: str = Field(
        description="`NAME://BUCKET[.ENDPOINT][/PREFIX]`, with a storage name of `juicefs sync`, such as `oss` or `gs`. The prefix is a directory: everything below it is copied.",
        min_length=10,
        max_length=2048,
    )
    secret_ref: LocalSecret | None = Field(
        default=None,
        description="Secret with the keys `access-key` and `secret-key`. Without it, the storage must be public.",
    )
    include: Patterns | None = Field(default=None, description=_INCLUDE)
    exclude: Patterns | None = Field(default=None, description=_EXCLUDE)
