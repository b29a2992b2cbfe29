"""What can be pinned: a reference in a spec that may stand for something else tomorrow."""

from dataclasses import dataclass
from enum import StrEnum

from stowplan.compiler.diagnostics.locations import Location
from stowplan.schema.diagnostics import FieldPath


class Section(StrEnum):
    """Sections of the lock file."""

    IMAGES = "images"
    GIT = "git"
    HUGGINGFACE = "huggingface"
    S3 = "s3"


@dataclass(frozen=True, slots=True, order=True)
class Use:
    """Where a reference stands: its position, and the path of the field in its document, such as `spec.image`."""

    location: Location
    field: str


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference, by the section and key of its entry in the lock file; see `stowplan.schema.lock.Lock`.

    The other fields are what a resolver needs, each empty where the section has no use for it: `address` is the name
    of an image without its tag, the URL of a Git repository, the URL of a Hub, or the endpoint of a store; `name` is
    the repository on the Hub, with its type in the plural before it, or the bucket and prefix; `revision` is the tag,
    ref or revision; `region` is that of the bucket, and `path_style` whether its name is in the path of requests.
    """

    section: Section
    key: str
    address: str
    name: str
    revision: str
    region: str
    path_style: bool
    uses: tuple[Use, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """One place of a document that refers to something which can be pinned. The other fields are as in `Reference`.

    `path` is the field that users wrote, and `at` the one that gets the pinned value; it may not exist yet. If it is
    the next item of a DataCube's options, `option` is the name of that option.
    """

    section: Section
    key: str
    path: FieldPath
    at: FieldPath
    address: str = ""
    name: str = ""
    revision: str = ""
    region: str = ""
    option: str = ""
    path_style: bool = False
