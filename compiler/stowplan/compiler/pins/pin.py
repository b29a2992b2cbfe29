"""What can be pinned: a reference in a spec that may stand for something else tomorrow."""

from dataclasses import dataclass
from enum import StrEnum

from stowplan.compiler.diagnostics.document import Document
from stowplan.schema.diagnostics import FieldPath


class Section(StrEnum):
    """Sections of the lock file."""

    IMAGES = "images"
    GIT = "git"
    HUGGINGFACE = "huggingface"
    S3 = "s3"


@dataclass(frozen=True, slots=True)
class Use:
    """Where a reference stands: a field of a document."""

    document: Document
    path: FieldPath


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference, by the section and key of its entry in the lock file; see `stowplan.schema.lock.Lock`.

    The other fields are what a resolver needs, each empty where the section has no use for it: `address` is the name
    of an image without its tag, the URL of a Git repository, the URL of a Hub, or the endpoint of a store; `name` is
    the repository on the Hub, with its type in the plural before it, or the bucket and prefix; `revision` is the tag,
    ref or revision; `region` is that of the bucket.
    """

    section: Section
    key: str
    address: str
    name: str
    revision: str
    region: str
    uses: tuple[Use, ...]
