"""The checkpoints of a Training: their claim, their lineage, and the sidecar that holds it."""

from collections.abc import Iterator, Mapping

from stowplan.library.builders.pods import lineage_container, training_pod
from stowplan.library.builders.volume import claim_from_template
from stowplan.library.dialects.dataset.one_of import exactly_one
from stowplan.library.dialects.mounted_claims import MountedClaim
from stowplan.library.dialects.shared import claim_rules
from stowplan.library.dialects.shared.claim_writes import Write
from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.shared.dialect import Lineage
from stowplan.library.dialects.training_group import pod_template
from stowplan.library.ir.data import Origin
from stowplan.library.ir.training import DatasetMount
from stowplan.library.manifest import ExternalReference, Json, Manifest
from stowplan.library.values.names import (
    HASH_LENGTH,
    LABEL_LIMIT,
    SUBDOMAIN_LIMIT,
    TrainingNames,
    content_hash,
    shorten,
)
from stowplan.schema.agents.lineage import LineageConfig
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, finding
from stowplan.schema.kinds.native.training import Training
from stowplan.schema.platform.platform import Platform

PATH: FieldPath = ("spec", "checkpoints")
CLAIM: FieldPath = (*PATH, "claim")
_TEMPLATE: FieldPath = (*CLAIM, "template")
_MODES: FieldPath = (*_TEMPLATE, "spec", "accessModes")
_SEVERAL = "ReadWriteMany"


def lineage(model: Training, namespace: str) -> str:
    """Return the name of the job's lineage. `namespace` is that of the job; the spec must have `checkpoints`."""
    given = model.spec.checkpoints.lineage if model.spec.checkpoints else None
    return given or f"{namespace}/{model.metadata.name}"


def directory(model: Training, namespace: str) -> str | None:
    """Return the path at which the trainer finds the checkpoints of its lineage; None for a job without checkpoints."""
    given = model.spec.checkpoints
    return f"{given.mount_path.rstrip('/')}/{lineage(model, namespace)}" if given else None


def claim_name(model: Training) -> str:
    """Return the name of the claim of the checkpoints; the spec must have some."""
    given = model.spec.checkpoints.claim.name if model.spec.checkpoints else None
    return given or shorten(f"{model.metadata.name}-checkpoints", SUBDOMAIN_LIMIT)


def mounts(model: Training) -> tuple[DatasetMount, ...]:
    """Return the mount of the whole claim in the trainer; empty for a job without checkpoints."""
    given = model.spec.checkpoints
    return (DatasetMount(claim_name(model), given.mount_path, {}),) if given else ()


def manifests(model: Training, origin: Origin) -> Iterator[Manifest]:
    """Yield the claim if the job writes it. Argo CD never deletes it, so the checkpoints outlive the spec."""
    given = model.spec.checkpoints
    if given and given.claim.template is not None:
        yield claim_from_template(claim_name(model), origin, given.claim.template)


def named(model: Training, namespace: str) -> Iterator[ExternalReference]:
    """Yield a reference to the claim if it must exist already."""
    given = model.spec.checkpoints
    if given and given.claim.name:
        yield ExternalReference("PersistentVolumeClaim", namespace, given.claim.name)


def held(
    template: Json, trainer: Json, model: Training, datasets: Mapping[str, DatasetMount], context: Context
) -> Json:
    """Return the pod template with the sidecar that holds the lineage; unchanged for a job without checkpoints.

    `trainer` is the container of `template` that trains, `datasets` are the mounts of the datasets by name.
    """
    if model.spec.checkpoints is None:
        return template
    places = {name: lineage_container.path_of(name) for name in sorted(datasets)}
    names = TrainingNames(model.metadata.name, model.kind.lower())
    config = LineageConfig(
        path=lineage_container.PATH,
        lineage=lineage(model, context.namespace(model.metadata.namespace)),
        job=shorten(names.base, LABEL_LIMIT - HASH_LENGTH - 1),
        spec=content_hash(training_pod.settled(template), model.spec.framework),
        image=str(trainer.get("image", "")),
        datasets=[f"{name}={path}" for name, path in places.items()],
    )
    (claim,) = mounts(model)
    both = {lineage_container.PATH: claim, **{path: datasets[name] for name, path in places.items()}}
    return lineage_container.with_lineage(template, trainer, config, both, context.site)


def findings(model: Training, platform: Platform, spec: Json, trainer: Json) -> Iterator[Finding]:
    """Yield findings about the claim. `spec` is that of the compiled pods, `trainer` their container that trains."""
    given = model.spec.checkpoints
    if given is None:
        return
    claim, name = given.claim, claim_name(model)
    yield from exactly_one({"name": claim.name, "template": claim.template}, CLAIM, "Checkpoints are in one claim")
    yield from claim_rules.name_findings(name, (*CLAIM, "name") if claim.name else ("metadata", "name"))
    if claim.template is not None:
        identity = claim_rules.Identity(name, model.metadata.namespace or platform.default_namespace)
        yield from claim_rules.template_findings(claim.template, identity, _TEMPLATE, owner="job")
        yield from _single(model, claim.template)
        yield from _group(spec, trainer)


def taken(template: Json, model: Training) -> Iterator[Finding]:
    """Yield findings about containers of the user, in the compiled template of the pods, with the sidecar's name."""
    if model.spec.checkpoints:
        yield from pod_template.taken(template, lineage_container.CONTAINER, (), ())


def mounted(model: Training) -> Iterator[MountedClaim]:
    """Yield the claim of the checkpoints if it is not written with the job: several nodes must be able to mount it."""
    given = model.spec.checkpoints
    if given and given.claim.name:
        yield MountedClaim(given.claim.name, pods(model), "the job", (*CLAIM, "name"), code="SP722")


def write(model: Training, namespace: str) -> Write | None:
    """Return the directory of the claim that the job writes to; None for a job without checkpoints."""
    given = model.spec.checkpoints
    if given is None:
        return None
    template = _TEMPLATE if given.claim.template is not None else ()
    at = (*PATH, "lineage") if given.lineage else PATH
    own = lineage(model, namespace)
    return Write(namespace, claim_name(model), own, mirror=False, at=at, template=template, lineage=True)


def relation(model: Training, namespace: str) -> Lineage | None:
    """Return the job's lineage; None for a job without checkpoints."""
    given = model.spec.checkpoints
    if given is None:
        return None
    at = (*PATH, "lineage") if given.lineage else PATH
    return Lineage(lineage(model, namespace), at, shared=given.share_lineage)


def pods(model: Training) -> int:
    """Return the largest number of pods that the job may have."""
    elastic = model.spec.elastic
    return max(model.spec.num_nodes, elastic.max if elastic else 1)


def _single(model: Training, template: Json) -> Iterator[Finding]:
    modes = (template.get("spec") or {}).get("accessModes") or []
    if pods(model) > 1 and modes and _SEVERAL not in modes:
        message = f"{pods(model)} pods write to the claim, and {', '.join(map(str, modes))} lets only one node do so."
        hint = f"Write `accessModes: [{_SEVERAL}]`, with a storage class that has it, or use only one node."
        yield finding("SP722", _MODES, message, hint)


def _group(spec: Json, trainer: Json) -> Iterator[Finding]:
    """Yield a finding if nothing gives the pods' user, who is not root, rights to a new claim."""
    own: Json = {**(spec.get("securityContext") or {}), **(trainer.get("securityContext") or {})}
    if own.get("fsGroup") is None and (own.get("runAsUser") or own.get("runAsNonRoot")):
        message = "The pods do not run as root, and many storage classes give a new claim to root."
        hint = (
            "If the job says that it may not write to it, add `template.spec.securityContext.fsGroup`. Kubernetes then"
            " gives all volumes of the pods to that group, which takes its time for large datasets."
        )
        yield finding("SP723", _TEMPLATE, message, hint, anchor=Anchor.KEY)
