"""The dialect of the kind MxJob."""

from collections.abc import Iterator

from stowplan.library.dialects import mounted_claims
from stowplan.library.dialects.mx_job import rules
from stowplan.library.dialects.mx_job.lower import lower
from stowplan.library.dialects.reading import template_fields
from stowplan.library.dialects.reading.api import Reading, RolePod
from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.shared.dialect import Dialect, Pods, Relations
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.kinds.kind import values
from stowplan.schema.kinds.mx_job import MxJob
from stowplan.schema.platform.platform import Platform


def relations(model: MxJob, _: Context) -> Relations:
    """Return the claims in the roles' pod templates."""
    mounted: list[mounted_claims.MountedClaim] = []
    for index, entry in enumerate(model.spec.replica_specs or ()):
        pods = 1 if entry.replicas is None else entry.replicas
        path: FieldPath = ("spec", "replicaSpecs", index, "template")
        mounted += mounted_claims.of_template(entry.template, pods, rules.role_of(entry), path)
    return Relations(mounted=tuple(mounted))


def _field(path: FieldPath, pod: RolePod, document: Json) -> FieldPath | None:
    for entry, at in values(document, "spec", "replicaSpecs", "*"):
        if isinstance(entry, dict) and str(entry.get("mxReplicaType") or "WORKER").lower() == pod.role:
            return template_fields.written(path, pod, entry.get("template"), (*at, "template"))
    return None


def _host_paths(platform: Platform) -> Iterator[str]:
    return (volume.host_path for each in platform.accelerators.values() for volume in each.volumes)


DIALECT = Dialect(lower, relations, rules.findings, Reading(field=_field), pods=Pods(host_paths=_host_paths))
