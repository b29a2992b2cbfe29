"""Interface of a job engine."""

from collections.abc import Mapping
from typing import Protocol

from stowplan.library.engines.gang.api import GangEngine
from stowplan.library.engines.kinds import EngineKind
from stowplan.library.ir.data import Site
from stowplan.library.ir.training import Environments, Hosts, TrainingGroup
from stowplan.library.manifest import Json, Manifest


class JobEngine(Protocol):
    """Turns a training group into the objects of a job controller."""

    name: str
    kinds: tuple[EngineKind, ...]
    """The kinds of objects that hold the pods. The reporter reads them."""
    splits: bool
    """Whether every role of a fixed size is a separate object."""

    def hosts(self, group: TrainingGroup, run: str) -> dict[str, Hosts]:
        """DNS names of the pods, by role."""
        ...

    def pods(
        self, group: TrainingGroup, environments: Environments, gang: GangEngine, site: Site, run: str
    ) -> Mapping[str, Json]:
        """The finished pod templates, by role. `environments` hold the pod names of this run."""
        ...

    def run(self, group: TrainingGroup, environments: Environments, gang: GangEngine, site: Site) -> str:
        """The hash of the run: over everything that cannot change in place, and the user's run annotation.

        `environments` hold the pod names of `BLANK_RUN`.
        """
        ...

    def manifests(
        self, group: TrainingGroup, environments: Environments, gang: GangEngine, site: Site
    ) -> list[Manifest]:
        """All objects of one run, including the gang's; their names end in the run's hash.

        `environments` hold the pod names of `BLANK_RUN`.
        """
        ...
