"""No gang engine: the scheduler of Kubernetes places pod by pod."""

from collections.abc import Mapping

from stowplan.library.engines.gang.api import GangEngine, PodMarks, Shared, WorkloadMarks
from stowplan.library.engines.kinds import EngineKind
from stowplan.library.ir.data import Site
from stowplan.library.ir.placement import Offer
from stowplan.library.ir.training import Role, TrainingGroup
from stowplan.library.manifest import ExternalReference, Json, Manifest
from stowplan.schema.diagnostics import Anchor, Finding, finding
from stowplan.schema.platform.platform import Platform

_POD, _WORKLOAD = PodMarks(), WorkloadMarks()


class NoGang:
    """Gang engine that changes nothing but the PriorityClass of the pods of a Training."""

    name = "none"
    kinds: tuple[EngineKind, ...] = ()
    resizes = False
    suspends = False
    prioritizes = False
    offers: frozenset[Offer] = frozenset()

    def validate(self, group: TrainingGroup, platform: Platform, *, splits: bool) -> list[Finding]:
        """Return a finding about a policy without effect. Of an elastic job, `minAvailable` has an effect."""
        wishes = group.gang._replace(min_member=None) if group.elastic else group.gang
        if wishes.unset:
            return []
        subject = "But for `minAvailable`, the" if group.elastic else "The"
        message = f"{subject} policy has no effect: the platform has no gang engine."
        hint = "Set `engines.gang` in the platform file, or remove the policy."
        return [finding("SP406", ("spec", "schedulingPolicy"), message, hint, anchor=Anchor.KEY)]

    def pod(self, group: TrainingGroup, role: Role, site: Site, run: str) -> PodMarks:
        """Return the PriorityClass of the pods. One in a `schedulingPolicy` has no effect; see `validate`."""
        return PodMarks(priority_class=group.placement.priority) if group.placement.priority else _POD

    def workload(self, group: TrainingGroup, site: Site) -> WorkloadMarks:
        return _WORKLOAD

    def manifests(self, group: TrainingGroup, pods: Mapping[str, Json], site: Site, run: str) -> list[Manifest]:
        return []

    def externals(self, group: TrainingGroup, site: Site) -> list[ExternalReference]:
        """Return a reference to the PriorityClass of the pods, if any."""
        name = group.placement.priority
        return [ExternalReference("PriorityClass", "", name)] if name else []

    def shared_fields(self) -> tuple[Shared, ...]:
        return ()


ENGINE: GangEngine = NoGang()
