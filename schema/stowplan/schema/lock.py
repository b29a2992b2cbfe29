"""The lock file `stowplan.lock`: which digest, commit or listing each tag, branch and prefix of the specs stands for.

`stowplan pin` writes it, people review it, and `stowplan synth` reads it without a network.
"""

from typing import Annotated, Literal

from pydantic import Field

from stowplan.schema.forms import COMMIT, DATE
from stowplan.schema.meta import Digest, Model
from stowplan.schema.wording import counted

Key = Annotated[str, Field(min_length=1, max_length=4096)]
Commit = Annotated[str, Field(pattern=COMMIT, max_length=64)]
Date = Annotated[str, Field(pattern=DATE, max_length=20)]


class ImagePin(Model):
    """The image that a tag stands for."""

    digest: Digest = Field(
        description="Digest of the image; of an image for several platforms, that of the index of all of them."
    )
    platforms: list[Annotated[str, Field(max_length=100)]] | None = Field(
        default=None,
        description="Platforms that the index has an image for, such as `linux/amd64`. For readers only.",
        max_length=64,
    )

    @property
    def revision(self) -> str:
        """What the entry stands for, as each kind of pin has it."""
        return self.digest

    @property
    def known(self) -> tuple[str, ...]:
        """What the entry says for readers, as each kind of pin has it."""
        return tuple(self.platforms or ())


class GitPin(Model):
    """The commit that a branch or tag of a Git repository stands for."""

    commit: Commit = Field(description="The whole commit.")
    subject: str | None = Field(
        default=None, description="First line of the commit's message. For readers only.", max_length=1024
    )
    date: Date | None = Field(
        default=None, description="When it was committed, such as `2026-11-20T09:30:00Z`. For readers only."
    )

    @property
    def revision(self) -> str:
        return self.commit

    @property
    def known(self) -> tuple[str, ...]:
        return tuple(each for each in (self.subject, _day(self.date)) if each)


class HubPin(Model):
    """The commit that a branch or tag of a repository on a Hugging Face Hub stands for."""

    commit: Commit = Field(description="The whole commit.")
    date: Date | None = Field(
        default=None, description="When it was committed, such as `2026-11-20T09:30:00Z`. For readers only."
    )

    @property
    def revision(self) -> str:
        return self.commit

    @property
    def known(self) -> tuple[str, ...]:
        return (_day(self.date),) if self.date else ()


class ListingPin(Model):
    """The objects below a prefix of an S3 store."""

    listing: Digest = Field(
        description="Hash of the listing: of the key, size and ETag of each object, in ascending order of keys."
    )
    objects: int | None = Field(default=None, description="Number of objects. For readers only.", ge=0)
    size: int | None = Field(default=None, description="Their size in bytes. For readers only.", ge=0)

    @property
    def revision(self) -> str:
        return self.listing

    @property
    def known(self) -> tuple[str, ...]:
        objects = () if self.objects is None else (counted(self.objects, "object"),)
        return objects if self.size is None else (*objects, f"{self.size:,} bytes")


Pin = ImagePin | GitPin | HubPin | ListingPin


class Lock(Model):
    """The digests, commits and listings that `stowplan pin` has found for the specs."""

    api_version: Literal["stowplan.dev/v1alpha1"] = Field(description="Version of the format of the lock file.")
    kind: Literal["Lock"] = Field(description="Always `Lock`.")
    images: dict[Key, ImagePin] = Field(
        default_factory=dict,
        description="Images by their names with tags as specs have them, such as `ghcr.io/acme/train:1.9`.",
        max_length=100_000,
    )
    git: dict[Key, GitPin] = Field(
        default_factory=dict,
        description="Commits by `URL#REF`, such as `https://git.example.com/ml/train.git#main`; `#HEAD` where the spec names no ref.",
        max_length=100_000,
    )
    huggingface: dict[Key, HubPin] = Field(
        default_factory=dict,
        description="Commits by `TYPEs/REPO@REVISION`, such as `datasets/allenai/c4@main`; `@HEAD` where the spec names no revision. A Hub that is not huggingface.co comes first: `https://hub.example.com/datasets/…`.",
        max_length=100_000,
    )
    s3: dict[Key, ListingPin] = Field(
        default_factory=dict,
        description="Listings by URI, such as `s3://samples/imagenet/`. A store that is not AWS follows after a blank: `s3://samples/imagenet/ https://minio.example.com`.",
        max_length=100_000,
    )


def _day(date: str | None) -> str:
    return (date or "").partition("T")[0]
