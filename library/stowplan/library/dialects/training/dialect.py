"""The dialect of the kind Training."""

from collections.abc import Iterator

from stowplan.library.dialects import mounted_claims
from stowplan.library.dialects.dataset.places.reading import addresses, pins
from stowplan.library.dialects.reading.api import Reading, RolePod
from stowplan.library.dialects.shared import claim_paths
from stowplan.library.dialects.shared.claim_writes import Write
from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.shared.dialect import Dialect, Reference, Relations
from stowplan.library.dialects.training import checkpoints, places, rules
from stowplan.library.dialects.training.job import Job
from stowplan.library.dialects.training.lower import lower
from stowplan.library.ir.reason import Reason
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.forms import LOCKED
from stowplan.schema.kinds.native.training import Training
from stowplan.schema.meta import SpecId

_DATASETS: FieldPath = ("spec", "datasets")


def relations(model: Training, context: Context) -> Relations:
    """Return what the job shares with other specs: datasets, pods that mount them, and claims."""
    job = Job(model, context.platform)
    home, pods = job.id.namespace, model.spec.num_nodes
    named = tuple(
        Reference(SpecId("Dataset", home, each.name), (*at, "name"), (*at, "revision") if each.revision else ())
        for at, each in (((*_DATASETS, index), each) for index, each in enumerate(model.spec.datasets or ()))
    )
    mounted = tuple(mounted_claims.of_template(model.spec.template, pods, "the job", ("spec", "template")))
    copied = tuple(_copied(model, home))
    return Relations(
        named,
        pods=pods,
        mounted=(*mounted, *checkpoints.mounted(job)),
        named=tuple((each.claim, each.at) for each in copied),
        write=checkpoints.write(job),
        outputs=copied,
        lineage=checkpoints.relation(job),
        locked=tuple(
            SpecId("Dataset", home, each.name) for each in model.spec.datasets or () if each.revision == LOCKED
        ),
    )


def _copied(model: Training, namespace: str) -> Iterator[Write]:
    for index, output in enumerate(model.spec.outputs or ()):
        if claim := output.to.claim:
            at = ("spec", "outputs", index, "to", "claim", "name")
            yield Write(namespace, claim.name, claim_paths.canonical(claim.sub_path or ""), mirror=False, at=at)


def _progress(resource: Json) -> str:
    status = resource.get("status") or {}
    ready, restarts = status.get("nodesReady"), status.get("restarts")
    return f"{ready} nodes ready{f', {restarts} restarts' if restarts else ''}" if ready else ""


def _field(path: FieldPath, pod: RolePod, document: Json) -> FieldPath | None:
    ours = path[:2] == ("spec", "initContainers") and len(path) > 2 and int(path[2]) < pod.waits
    names = {"containers": pod.containers, "initContainers": pod.init_containers}
    return None if ours else places.written(path, names, document)


READING = Reading(
    sources=addresses("spec", "code", word="code"),
    sinks=addresses("spec", "outputs", "*", "to"),
    pins=lambda document: pins(document, "spec", "code"),
    progress=_progress,
    field=_field,
)

_REASONS = (
    Reason(
        "training-security",
        'What Pod Security "restricted" asks for is filled in where neither the spec nor its template says anything, '
        "unless `policy.fillSecurityContext` of the platform file is false; without a word pods get no token.",
        "pod/spec/securityContext/** pod/spec/containers/*/securityContext/** pod/spec/automountServiceAccountToken",
    ),
    Reason(
        "training-mounts",
        "Datasets are read-only unless the spec says otherwise, and shared memory is a volume in memory.",
        "pod/spec/containers/*/volumeMounts/** pod/spec/volumes/**",
    ),
    Reason(
        "trainer",
        "The container that trains has one name in every Training, by which a template changes it.",
        "pod/spec/containers/*/name",
    ),
)

DIALECT = Dialect(lower, relations, rules.of_model, READING, reasons=_REASONS)
