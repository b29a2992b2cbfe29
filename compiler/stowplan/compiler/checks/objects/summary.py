"""The summary of one object: all that the checks across specs ask of every object."""

from typing import NamedTuple

from stowplan.schema.meta import ObjectId, SpecId


class ObjectSummary(NamedTuple):
    """One object of the output, without its body.

    `spec` is the spec that it was compiled from, None for other objects. `source` is the user's file. `authored` is
    True for objects that Stowplan writes, False for those of users and extensions. `sound` is True if the object fits
    its schema; `awaited` and `size` are False and 0 for other objects.
    """

    id: ObjectId
    path: str
    """The file in the output, relative to its folder."""
    spec: SpecId | None
    source: str
    authored: bool
    sound: bool
    phase: int
    """Index of the sync phase in `sync_phases.PHASES`; -1 for a hook that belongs to none of them."""
    wave: int
    awaited: bool
    """Whether a sync waits for the object before it starts the next wave."""
    size: int
    """Bytes of the body as JSON; the YAML in the output is somewhat larger."""

    @property
    def kind(self) -> tuple[str, str]:
        """Group and kind of the object."""
        return self.id[:2]

    @property
    def application(self) -> str:
        """The first folder of the path; one Application of Argo CD syncs all objects in it."""
        return self.path.partition("/")[0]

    @property
    def order(self) -> tuple[bool, tuple[str, ...], str]:
        """Sort key: if two objects clash, the finding is about the later one. Objects of no spec come last."""
        return self.spec is None, self.spec or (), self.path
