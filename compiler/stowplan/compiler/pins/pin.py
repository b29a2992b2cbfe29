"""What can be pinned: a reference in a spec that may stand for something else tomorrow."""

from dataclasses import dataclass

from stowplan.compiler.diagnostics.locations import Location
from stowplan.library.dialects.reading.pinnable import Section


@dataclass(frozen=True, slots=True, order=True)
class Use:
    """Where a reference stands: its position, and the path of the field in its document, such as `spec.image`."""

    location: Location
    field: str


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference, by the section and key of its entry in the lock file; the other fields are as in `Pinnable`."""

    section: Section
    key: str
    address: str
    name: str
    revision: str
    region: str
    path_style: bool
    uses: tuple[Use, ...]
