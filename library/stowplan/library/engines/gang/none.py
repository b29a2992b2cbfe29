"""No gang engine: the scheduler of Kubernetes places pod by pod."""

from stowplan.library.engines.gang.api import GangEngine, PodMarks
from stowplan.library.ir.data import Site
from stowplan.library.ir.training import Role, TrainingGroup
from stowplan.library.manifest import ExternalReference
from stowplan.schema.diagnostics import Finding, without_effect
from stowplan.schema.platform.platform import Platform


class NoGang(GangEngine):
    """Gang engine that changes nothing but the PriorityClass of the pods of a Training."""

    def validate(self, group: TrainingGroup, platform: Platform, *, splits: bool) -> list[Finding]:
        """Return a finding about a policy without effect. Of an elastic job, `minAvailable` has an effect."""
        wishes = group.gang._replace(min_member=None) if group.elastic else group.gang
        if wishes.unset:
            return []
        subject = "But for `minAvailable`, the" if group.elastic else "The"
        message = f"{subject} policy has no effect: the platform has no gang engine."
        hint = "Set `engines.gang` in the platform file, or remove the policy."
        return [without_effect(("spec", "schedulingPolicy"), message, hint)]

    def pod(self, group: TrainingGroup, role: Role, site: Site, run: str) -> PodMarks:
        """Return the PriorityClass of the pods. One in a `schedulingPolicy` has no effect; see `validate`."""
        return PodMarks(priority_class=group.placement.priority)

    def externals(self, group: TrainingGroup, site: Site) -> list[ExternalReference]:
        """Return a reference to the PriorityClass of the pods, if any."""
        name = group.placement.priority
        return [ExternalReference("PriorityClass", "", name)] if name else []


ENGINE = NoGang()
