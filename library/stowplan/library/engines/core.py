"""Jobs of Kubernetes itself: one Indexed Job for each role, connected by await agents."""

from collections.abc import Mapping

from stowplan.library.builders import gate
from stowplan.library.builders.pods import await_pod
from stowplan.library.engines import indexed
from stowplan.library.engines.api import JobEngine
from stowplan.library.engines.gang.api import GangEngine
from stowplan.library.engines.kinds import JOB, EngineKind
from stowplan.library.ir.data import Site
from stowplan.library.ir.placement import Offer
from stowplan.library.ir.training import Environments, Hosts, TrainingGroup, with_hosts
from stowplan.library.manifest import Json, Manifest
from stowplan.library.values import names


class CoreEngine:
    """Engine that only needs Kubernetes 1.33, with Indexed Jobs and native sidecars."""

    name = "core"
    kinds: tuple[EngineKind, ...] = (JOB,)
    splits = True
    attempts: str | None = None
    offers: frozenset[Offer] = frozenset()

    def hosts(self, group: TrainingGroup, run: str) -> dict[str, Hosts]:
        """Return the DNS names of the pods by role; one Service gives them to all pods."""
        return indexed.hosts(group, group.roles, run)

    def pods(
        self, group: TrainingGroup, environments: Environments, gang: GangEngine, site: Site, run: str
    ) -> Mapping[str, Json]:
        """Return the pod templates by role. In a helper's, await is the main container; see `await_pod.with_await`."""
        return indexed.pods(group, environments, gang, site, run, peers=self.hosts(group, run))

    def run(self, group: TrainingGroup, environments: Environments, gang: GangEngine, site: Site) -> str:
        """Return the hash of the run, over all roles: the variables of each role hold the DNS names of the others."""
        pods = self.pods(group, environments, gang, site, names.BLANK_RUN)
        fixed = [indexed.fixed(group, role, pods[role.name], gang) for role in group.roles]
        marks = gang.workload(group, site).hashed
        return names.content_hash(fixed, marks, await_pod.configurations(group, site), group.run, *gate.mark(group))

    def manifests(
        self, group: TrainingGroup, environments: Environments, gang: GangEngine, site: Site
    ) -> list[Manifest]:
        """Return the Service, the objects of the await agents and of the gang engine, and the Jobs, in this order."""
        run = self.run(group, environments, gang, site)
        own = with_hosts(environments, self.hosts(group, names.BLANK_RUN), self.hosts(group, run))
        pods = self.pods(group, own, gang, site, run)
        marks = gang.workload(group, site)
        return [
            indexed.service(group, run),
            *await_pod.manifests(group, site, run),
            *gang.manifests(group, pods, site, run),
            *(indexed.job(group, role, pods[role.name], marks, run) for role in group.roles),
        ]


ENGINE: JobEngine = CoreEngine()
