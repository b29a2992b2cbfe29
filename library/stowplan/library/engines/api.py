"""Interface of a job engine."""

from abc import ABC, abstractmethod
from collections.abc import Mapping

from stowplan.library.engines import indexed
from stowplan.library.engines.gang.api import GangEngine
from stowplan.library.engines.kinds import EngineKind
from stowplan.library.ir.data import Site
from stowplan.library.ir.placement import Offer
from stowplan.library.ir.training import Environments, Hosts, TrainingGroup, with_hosts
from stowplan.library.manifest import Json, Part
from stowplan.library.values.names import BLANK_RUN


class JobEngine(ABC):
    """Turns a training job (`TrainingGroup`) into the objects of a job controller.

    In all methods, `environments` are the framework's variables by role, and `run` is the hash of the run. The compiler
    calls `hosts`, for the DNS names in the variables, and then `trainers`, which calls the other methods.

    An example is `stowplan.library.engines.toy`::

        '''One object of a toy controller for each job.'''

        from stowplan.library.builders.metadata import Head, metadata
        from stowplan.library.engines.api import JobEngine
        from stowplan.library.engines.gang.pod_group import SKIP_DRY_RUN
        from stowplan.library.engines.kinds import EngineKind
        from stowplan.library.manifest import Manifest, Part

        PODS = ("spec", "roles", "*", "template")
        TOY = EngineKind("toy.example.com", "v1", "ToyRun", "toyruns", pods=PODS, starts=True)


        class ToyEngine(JobEngine):
            kinds = (TOY,)

            def run(self, group, environments, gang, site):
                return "abcdefgh"

            def objects(self, group, pods, gang, site, run):
                name = f"{group.names.base}-{run}"
                meta = metadata(TOY.kind, name, Head(group.origin, "group", annotations=SKIP_DRY_RUN))
                roles = [{"name": role, "template": template} for role, template in pods.items()]
                body = {"apiVersion": TOY.api_version, "kind": TOY.kind, "metadata": meta, "spec": {"roles": roles}}
                return Part("trainers", (Manifest(body, stem=group.names.base, run=True),))


        ENGINE = ToyEngine()
    """

    kinds: tuple[EngineKind, ...]
    """The kinds of objects that hold the pods. The reporter reads them."""
    splits: bool = False
    """Whether every role of a fixed size becomes a separate object."""
    attempts: str | None = None
    """Label of the pods that counts the restarts of a whole job of fixed size; None if the engine restarts none."""
    offers: frozenset[Offer] = frozenset()
    """The wishes of a `Placement` that the engine fulfils."""

    def hosts(self, group: TrainingGroup, run: str) -> dict[str, Hosts]:
        """Return the DNS names of the pods by role; by default one Service gives them to all pods."""
        return indexed.hosts(group, group.roles, run)

    def pods(
        self, group: TrainingGroup, environments: Environments, gang: GangEngine, site: Site, run: str
    ) -> Mapping[str, Json]:
        """Return the finished pod templates by role. `environments` must hold the DNS names of the run `run`.

        By default, await is the main container of a helper's pod; see `await_pod.with_await`.
        """
        return indexed.pods(group, environments, gang, site, run, peers=self.hosts(group, run))

    @abstractmethod
    def run(self, group: TrainingGroup, environments: Environments, gang: GangEngine, site: Site) -> str:
        """Return the hash of the run: over all fields that cannot change in place, and the user's run marker.

        `environments` must hold the DNS names for `BLANK_RUN`, since those of the run contain the hash.
        """

    @abstractmethod
    def objects(self, group: TrainingGroup, pods: Mapping[str, Json], gang: GangEngine, site: Site, run: str) -> Part:
        """Return the part `trainers` of one run, with the objects of the gang engine. `pods` are finished templates.

        It holds a part for each role that has an object of its own.
        """

    def trainers(self, group: TrainingGroup, environments: Environments, gang: GangEngine, site: Site) -> Part:
        """Return the part `trainers`: all objects of one run, whose names end in its hash.

        `environments` must hold the DNS names for `BLANK_RUN`.
        """
        run = self.run(group, environments, gang, site)
        own = with_hosts(environments, self.hosts(group, BLANK_RUN), self.hosts(group, run))
        return self.objects(group, self.pods(group, own, gang, site, run), gang, site, run)
