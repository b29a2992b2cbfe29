"""S3 stores, as sides of a transfer."""

from typing import ClassVar, Literal

from pydantic import Field

from stowplan.schema.forms import DIGEST, S3_URI, STORE_URL, WORD
from stowplan.schema.meta import Model
from stowplan.schema.remotes.place import EXCLUDE, INCLUDE, LocalSecret, Patterns, Place
from stowplan.schema.remotes.remote import EnvName, Pattern, RemoteEndpoint, RemoteModels


class S3Endpoint(RemoteEndpoint):
    """Objects below a URI. Trailing `/` or a bare bucket is a prefix whatever `kind` says."""

    MIRRORS: ClassVar[bool] = True
    SECRETS: ClassVar[frozenset[str]] = frozenset({"access_key_id_env", "secret_access_key_env", "session_token_env"})
    OF_SOURCES: ClassVar[frozenset[str]] = frozenset({"acceptUnverified", "verifyParts", "revision"})
    OF_SINKS: ClassVar[frozenset[str]] = frozenset({"createBucket", "noCheckBucketEnv"})
    UNLESS_EMPTY: ClassVar[frozenset[str]] = frozenset({"acceptUnverified", "include", "exclude", "revision"})

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
    accept_unverified: bool = Field(
        default=False,
        description="Copy objects of a source too whose ETag has the form of a digest and is none of the bytes, if no other checksum decides and the bytes come twice alike. Without it the attempt fails (11).",
    )
    revision: str = Field(
        default="",
        description="Hash of the listing that a source must have, as `ListingHash` has it; empty for any. Of another one nothing is copied (5).",
    )
    include: list[str] = Field(default_factory=list, description="Patterns of keys to take; empty for all.")
    exclude: list[str] = Field(default_factory=list, description="Patterns of keys to leave out; they win.")


class S3Settings(Model):
    """How an S3 store is used."""

    kind: Literal["auto", "file", "prefix"] | None = Field(
        default=None,
        description="Whether `s3-uri` names one object or all objects below it. Without it, the agent checks; if both exist, the field is required.",
    )
    path_style: bool | None = Field(
        default=None, description="Put the bucket into the path of requests. Default: true if `s3-endpoint` is given."
    )
    anonymous: bool | None = Field(default=None, description="Use no credentials, for public buckets.")
    create_bucket: bool | None = Field(default=None, description="Create the bucket of a sink if it is missing.")
    verify_parts: bool | None = Field(
        default=None,
        description="Verify the ETags of objects of a source that were uploaded in parts, if the store has no checksum for them. A core verifies about 500 MB per second. Without it, only the length and an unchanged ETag are checked.",
    )
    accept_unverified: bool | None = Field(
        default=None,
        description="Copy objects of a source whose ETag looks like an MD5 but is none, as stores with encryption give it, if the store has no other checksum for them. Each is fetched twice, must come with the same bytes, and counts as unverified in the status. Without it, such a transfer fails.",
    )
    include: list[Pattern] | None = Field(
        default=None,
        min_length=1,
        max_length=1024,
        description="Patterns of files to copy, as paths below `s3-uri` or the path in the claim. `*` and `?` match `/` too, and `folder/` is everything below it. Without it, all.",
    )
    exclude: list[Pattern] | None = Field(
        default=None,
        min_length=1,
        max_length=1024,
        description="Patterns of files to leave out, even if `include` matches. With `sync` they are not deleted either.",
    )


class S3Place(Place):
    """Objects in an S3 store."""

    ABOUT: ClassVar[str] = "A prefix in an S3 store."
    IDENTITY: ClassVar[tuple[str, ...]] = ("uri", "endpoint", "revision")
    LISTED: ClassVar[bool] = True

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

    @property
    def address(self) -> str:
        return f"{self.uri}@{self.endpoint}" if self.endpoint else self.uri


class S3Source(S3Place):
    """Objects in an S3 store, to copy from."""

    ABOUT: ClassVar[str] = "Objects in an S3 store."

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
    include: Patterns | None = Field(default=None, description=INCLUDE)
    exclude: Patterns | None = Field(default=None, description=EXCLUDE)

    @property
    def named_revision(self) -> str | None:
        return self.revision


REMOTE = RemoteModels(
    S3Endpoint,
    S3Settings,
    "How the store is used, for `s3`.",
    source=S3Source,
    target=S3Place,
)
