"""The dialect of the kind PaddleJob."""

from stowplan.library.dialects import mounted_claims
from stowplan.library.dialects.paddle_job import rules
from stowplan.library.dialects.paddle_job.lower import lower, ports_of
from stowplan.library.dialects.reading import template_fields
from stowplan.library.dialects.reading.api import Reading, RolePod
from stowplan.library.dialects.sample_set.reference import references
from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.shared.dialect import Dialect, Pods, Ports, Relations
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.kinds.kind import values
from stowplan.schema.kinds.paddle_job import HOST_PORT_ANNOTATION, ROLES, PaddleJob


def relations(model: PaddleJob, context: Context) -> Relations:
    """Return what the job shares with other specs: dataset, host ports and claims."""
    pods = 0
    mounted: list[mounted_claims.MountedClaim] = []
    for name, role in rules.roles(model):
        pods += max(role.replicas, 0)
        mounted += mounted_claims.of_template(role.template, role.replicas, name, ("spec", name, "template"))
    namespace = context.namespace(model.metadata.namespace)
    named = references(model.spec.sample_set_ref, namespace)
    return Relations(named, pods, _ports(model, context), tuple(mounted))


def _progress(resource: Json) -> str:
    status = resource.get("status") or {}
    roles = ((role, _pods(status.get(role) or {})) for role in ROLES)
    return "; ".join(f"{role}: {pods}" for role, pods in roles if pods)


def _pods(counts: Json) -> str:
    """Return counts such as `2 running, 1 failed`. A finished or deleted pod does not count as running."""
    words = ("pending", "starting", "running", "succeeded", "failed", "unknown")
    return ", ".join(f"{counts[word]} {word}" for word in words if counts.get(word))


def _ports(model: PaddleJob, context: Context) -> Ports | None:
    if model.spec.intranet != "Host":
        return None
    taken = [block for block in ports_of(model, context)[0].values() if block]
    return Ports(taken[0].start, taken[-1].stop, ("spec", "intranet"), HOST_PORT_ANNOTATION) if taken else None


def _field(path: FieldPath, pod: RolePod, document: Json) -> FieldPath | None:
    home = ("spec", pod.role, "template")
    (template, _), *_ = [*values(document, *home), ({}, ())]
    return template_fields.written(path, pod, template, home)


READING = Reading(progress=_progress, field=_field)

_PODS = Pods(hints={"hostNetwork": "Remove `hostNetwork` or `intranet: Host`"})

DIALECT = Dialect(lower, relations, rules.findings, READING, pods=_PODS)
