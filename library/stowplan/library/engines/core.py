"""Jobs of Kubernetes itself: one Indexed Job for each role, connected by await agents."""

from collections.abc import Mapping

from stowplan.library.builders import gate
from stowplan.library.builders.pods import await_pod
from stowplan.library.engines import indexed
from stowplan.library.engines.api import JobEngine
from stowplan.library.engines.gang.api import GangEngine
from stowplan.library.engines.kinds import JOB
from stowplan.library.ir.data import Site
from stowplan.library.ir.training import Environments, TrainingGroup
from stowplan.library.manifest import Json, Part
from stowplan.library.values import names


class CoreEngine(JobEngine):
    """Engine that only needs Kubernetes 1.33, with Indexed Jobs and native sidecars."""

    kinds = (JOB,)
    splits = True

    def run(self, group: TrainingGroup, environments: Environments, gang: GangEngine, site: Site) -> str:
        """Return the hash of the run, over all roles: the variables of each role hold the DNS names of the others."""
        pods = self.pods(group, environments, gang, site, names.BLANK_RUN)
        fixed = [indexed.fixed(group, role, pods[role.name], gang) for role in group.roles]
        marks = gang.workload(group, site).hashed
        return names.content_hash(fixed, marks, await_pod.configurations(group, site), group.run, *gate.mark(group))

    def objects(self, group: TrainingGroup, pods: Mapping[str, Json], gang: GangEngine, site: Site, run: str) -> Part:
        """Return the Service and the gang engine's objects, with a part for await and for each role."""
        marks = gang.workload(group, site)
        return Part(
            "trainers",
            (indexed.service(group, run), *gang.manifests(group, pods, site, run)),
            (
                *await_pod.parts(group, site, run),
                *(indexed.role(group, role, pods[role.name], marks, run) for role in group.roles),
            ),
        )


ENGINE = CoreEngine()
