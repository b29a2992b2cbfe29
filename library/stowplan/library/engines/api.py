"""Interface of a job engine."""

from collections.abc import Mapping
from typing import Protocol

from stowplan.library.engines.gang.api import GangEngine
from stowplan.library.engines.kinds import EngineKind
from stowplan.library.ir.data import Site
from stowplan.library.ir.placement import Offer
from stowplan.library.ir.training import Environments, Hosts, TrainingGroup
from stowplan.library.manifest import Json, Manifest


class JobEngine(Protocol):
    """Turns a training job (`TrainingGroup`) into the objects of a job controller.

    In all methods, `environments` are the framework's variables by role, and `run` is the hash of the run.
    """

    name: str
    kinds: tuple[EngineKind, ...]
    """The kinds of objects that hold the pods. The reporter reads them."""
    splits: bool
    """Whether every role of a fixed size becomes a separate object."""
    attempts: str | None
    """Label of the pods that counts the restarts of a whole job of fixed size; None if the engine restarts none."""
    offers: frozenset[Offer]
    """The wishes of a `Placement` that the engine fulfils."""

    def hosts(self, group: TrainingGroup, run: str) -> dict[str, Hosts]:
        """Return the DNS names of the pods by role."""
        ...

    def pods(
        self, group: TrainingGroup, environments: Environments, gang: GangEngine, site: Site, run: str
    ) -> Mapping[str, Json]:
        """Return the finished pod templates by role. `environments` must hold the DNS names of the run `run`."""
        ...

    def run(self, group: TrainingGroup, environments: Environments, gang: GangEngine, site: Site) -> str:
        """Return the hash of the run: over all fields that cannot change in place, and the user's run marker.

        `environments` must hold the DNS names for `BLANK_RUN`, since those of the run contain the hash.
        """
        ...

    def manifests(
        self, group: TrainingGroup, environments: Environments, gang: GangEngine, site: Site
    ) -> list[Manifest]:
        """Return all objects of one run, including those of the gang engine; their names end in the run's hash.

        `environments` must hold the DNS names for `BLANK_RUN`.
        """
        ...
