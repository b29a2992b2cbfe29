"""Interface for what others read in documents: each answer is optional, and a kind without one says nothing."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from stowplan.library.dialects.reading.floating import FloatingReference
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.kinds.kind import values


class Address(NamedTuple):
    """Where data is, outside of all specs, as people write it. `word` says what it is if it is no data, as `code`."""

    text: str
    word: str = ""


class DataLoss(NamedTuple):
    """A deletion of data by a run.

    `text` is a sentence for people, empty if only copies in caches are deleted. `rerun` is true if it is the purpose of
    the run, or an option of a task: such a run must not start again unasked.
    """

    text: str
    rerun: bool = False


class RolePod(NamedTuple):
    """What must be known of a role's compiled pod to find its fields in the user's document.

    `path` is the path of the pod template in the object. The containers are given by their names.
    """

    path: FieldPath
    role: str
    init_containers: tuple[str, ...]
    containers: tuple[str, ...]
    waits: int
    """Number of init containers that wait, for a dataset or for peers. They are the first ones."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What others ask of a document of one kind.

    A document is plain data: a custom resource, as this version or an older one wrote it, or a user's file, which may
    have errors. What has another form than it should have is passed over. A kind that copies from `spec.from`, and
    deletes there when it is told to, would have:

        Reading(
            sources=addresses("spec", "from"),
            loss=loss_if("It empties the source.", "spec", "move"),
        )
    """

    sources: Callable[[Json], Iterable[Address]] = lambda _: ()
    """Yields what a spec copies from; the review draws an edge from each."""

    sinks: Callable[[Json], Iterable[Address]] = lambda _: ()
    """Yields what a spec copies to; the review draws an edge to each."""

    pins: Callable[[Json], Iterable[FloatingReference]] = lambda _: ()
    """Yields the branches and prefixes that a spec copies once. Images are found without it."""

    loss: Callable[[Json], DataLoss | None] = lambda _: None
    """Returns what a run of the spec deletes, also one that is held back; None if it deletes nothing."""

    progress: Callable[[Json], str] | None = None
    """Returns how far a run is, in words, from the custom resource of a cluster; without it, a field of its status."""

    field: Callable[[FieldPath, RolePod, Json], FieldPath | None] = lambda *_: None
    """Returns the path in the document for a path in a compiled pod that users describe; None if it has no such field.

    Findings about the pod land there, otherwise at the name of the spec.
    """


NOTHING = Reading()
"""What others read in documents of a kind that has nothing to say."""


def addresses(*path: str) -> Callable[[Json], Iterator[Address]]:
    """Return a function that yields the addresses at `path` of a document; `*` in it is every entry of a list."""
    return lambda document: (Address(str(each)) for each, _ in values(document, *path) if each)


def loss_if(text: str, *path: str) -> Callable[[Json], DataLoss | None]:
    """Return a function that returns a loss with this `text` if the switch at `path` of a document is on, else None."""
    return lambda document: DataLoss(text) if any(each for each, _ in values(document, *path)) else None
