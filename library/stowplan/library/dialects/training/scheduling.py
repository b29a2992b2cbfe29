"""`spec.scheduling` of a Training: its form, what of it the platform's engines fulfil, and the values for them."""

from collections.abc import Iterator, Mapping

from stowplan.library.dialects.training_group.label_form import is_label_key
from stowplan.library.engines.gang.registry import GANG_ENGINES
from stowplan.library.engines.registry import JOB_ENGINES
from stowplan.library.ir.placement import Offer, Placement, Topology
from stowplan.library.ir.training import GangRequest
from stowplan.library.values.names import LABEL_LIMIT, is_dns_label, is_dns_subdomain
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, finding, without_effect
from stowplan.schema.kinds.native.training import TrainingSpec
from stowplan.schema.kinds.native.training_parts import Scheduling
from stowplan.schema.platform.platform import Platform

WISHES = "scheduling"
"""The field of the spec, which is also the group's `wishes`."""

_PATH: FieldPath = ("spec", WISHES)
_OFFERED: Mapping[Offer, str] = {
    "queue": "queues",
    "topology": "topology",
    "exclusive": "nodes for one job alone",
}


def request(spec: TrainingSpec) -> GangRequest:
    """Return what a job asks of a gang scheduler: its queue. All its pods start together."""
    return GangRequest(queue=spec.scheduling.queue if spec.scheduling else None)


def placement(spec: TrainingSpec) -> Placement:
    """Return the `placement` of the training group; call it only for a spec without errors."""
    given = spec.scheduling or Scheduling()
    topology = None
    if given.topology and (label := given.topology.required or given.topology.preferred):
        topology = Topology(label, required=given.topology.required is not None)
    return Placement(given.priority, topology, given.exclusive, spec.active_deadline_seconds)


def findings(spec: TrainingSpec, platform: Platform) -> Iterator[Finding]:
    """Yield findings about names, about wishes that no engine of the platform fulfils, and about clashes of wishes."""
    given = spec.scheduling
    if given is None:
        return
    yield from _names(given, platform)
    yield from _lacking(given, platform)
    if given.topology and (given.topology.required is None) == (given.topology.preferred is None):
        message = "The pods are near to each other by exactly one label."
        yield finding("SP461", (*_PATH, "topology"), message, "Give either `required` or `preferred`.")
    if given.exclusive and spec.elastic:
        message = "A job that changes its size is a Job, not a JobSet, which alone gets nodes of its own."
        hint = "Remove `exclusive`, or `elastic`."
        yield finding("SP467", (*_PATH, "exclusive"), message, hint, anchor=Anchor.KEY)
    own = ((spec.template or {}).get("spec") or {}).get("priorityClassName")
    if given.priority and own and own != given.priority and platform.engines.gang != "kueue":
        message = f"The pods have the PriorityClass {own} of the template, so this one has no effect."
        yield without_effect((*_PATH, "priority"), message, "Remove one of the two.")


def _names(given: Scheduling, platform: Platform) -> Iterator[Finding]:
    if given.queue is not None and not is_dns_label(given.queue):
        yield _misnamed("queue", given.queue, "Use lower-case letters, digits and `-`, at most 63.")
    if given.priority is not None and not is_dns_subdomain(given.priority):
        yield _misnamed("priority", given.priority, "Use lower-case letters, digits, `-` and `.`.")
    elif given.priority is not None and platform.engines.gang == "kueue" and len(given.priority) > LABEL_LIMIT:
        message = f"Kueue reads the priority from a label, which has at most {LABEL_LIMIT} characters."
        yield finding("SP210", (*_PATH, "priority"), message, "Use a WorkloadPriorityClass with a shorter name.")
    topology = given.topology
    labels: dict[FieldPath, str | None] = {("exclusive",): given.exclusive}
    if topology:
        labels |= {("topology", "required"): topology.required, ("topology", "preferred"): topology.preferred}
    for path, label in labels.items():
        if label is not None and not is_label_key(label):
            message = f'"{label}" cannot name a label of nodes.'
            hint = "Use a name such as `topology.kubernetes.io/zone`, at most 63 characters after the slash."
            yield finding("SP210", (*_PATH, *path), message, hint)


def _misnamed(field: str, name: str, hint: str) -> Finding:
    return finding("SP210", (*_PATH, field), f'"{name}" is not a name that Kubernetes allows here.', hint)


def _lacking(given: Scheduling, platform: Platform) -> Iterator[Finding]:
    """Yield a finding about each wish that the platform's engine does not fulfil but another one does."""
    gangs = {name: engine.offers for name, engine in GANG_ENGINES.items()}
    jobs = {name: engine.offers for name, engine in JOB_ENGINES.items()}
    for field, chosen, engines in (("gang", platform.engines.gang, gangs), ("jobs", platform.engines.jobs, jobs)):
        for wish, words in _OFFERED.items():
            able = " or ".join(f"`engines.{field}: {name}`" for name in sorted(engines) if wish in engines[name])
            if able and getattr(given, wish) and wish not in engines[chosen]:
                message = f"`{wish}` cannot work with `engines.{field}: {chosen}`, which has no {words}."
                hint = f"Set {able} in the platform file, or remove `{wish}`."
                yield finding("SP467", (*_PATH, wish), message, hint, anchor=Anchor.KEY)
