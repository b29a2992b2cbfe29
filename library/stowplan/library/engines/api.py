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

    An example is `stowplan.library.engines.toy`::

        '''One object of a toy controller for each job.'''

        from stowplan.library.builders.metadata import Part, metadata
        from stowplan.library.engines import indexed
        from stowplan.library.engines.api import JobEngine
        from stowplan.library.engines.gang.pod_group import SKIP_DRY_RUN
        from stowplan.library.engines.kinds import EngineKind
        from stowplan.library.ir.training import with_hosts
        from stowplan.library.manifest import Manifest
        from stowplan.library.values.names import BLANK_RUN

        PODS = ("spec", "roles", "*", "template")
        TOY = EngineKind("toy.example.com", "v1", "ToyRun", "toyruns", pods=PODS, starts=True)


        class ToyEngine:
            name = "toy"
            kinds = (TOY,)
            splits = False
            attempts = None
            offers = frozenset()

            def hosts(self, group, run):
                return indexed.hosts(group, group.roles, run)

            def pods(self, group, environments, gang, site, run):
                return indexed.pods(group, environments, gang, site, run, peers=self.hosts(group, run))

            def run(self, group, environments, gang, site):
                return "abcdefgh"

            def manifests(self, group, environments, gang, site):
                run = self.run(group, environments, gang, site)
                own = with_hosts(environments, self.hosts(group, BLANK_RUN), self.hosts(group, run))
                pods = self.pods(group, own, gang, site, run)
                name = f"{group.names.base}-{run}"
                meta = metadata(TOY.kind, name, Part(group.origin, "group", annotations=SKIP_DRY_RUN))
                roles = [{"name": role, "template": template} for role, template in pods.items()]
                body = {"apiVersion": TOY.api_version, "kind": TOY.kind, "metadata": meta, "spec": {"roles": roles}}
                return [Manifest(body, stem=group.names.base, run=True)]


        ENGINE: JobEngine = ToyEngine()
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
