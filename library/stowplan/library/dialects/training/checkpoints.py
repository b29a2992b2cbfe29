"""The checkpoints of a Training: their claim, their lineage, and the sidecar that holds it."""

from collections.abc import Iterator, Sequence

from stowplan.library.builders.pods import lineage_container, training_pod, wait_container
from stowplan.library.dialects.dataset.one_of import exactly_one
from stowplan.library.dialects.mounted_claims import MountedClaim
from stowplan.library.dialects.shared import claim_rules
from stowplan.library.dialects.shared.claim_writes import Write
from stowplan.library.dialects.shared.dialect import Lineage
from stowplan.library.dialects.training.datasets import MountedDataset
from stowplan.library.dialects.training.job import CHECKPOINTS, Job
from stowplan.library.dialects.training.pod import TrainingPod
from stowplan.library.ir.data import Site
from stowplan.library.manifest import Json
from stowplan.library.values.names import HASH_LENGTH, LABEL_LIMIT, content_hash, shorten
from stowplan.schema.agents.lineage import LineageConfig
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, finding

CLAIM: FieldPath = (*CHECKPOINTS, "claim")
_NAME: FieldPath = (*CLAIM, "name")
_TEMPLATE: FieldPath = (*CLAIM, "template")
_MODES: FieldPath = (*_TEMPLATE, "spec", "accessModes")
_SEVERAL = "ReadWriteMany"


def held(job: Job, pod: TrainingPod, datasets: Sequence[MountedDataset], site: Site) -> Json:
    """Return the pod template with the sidecar that holds the lineage; unchanged for a job without checkpoints."""
    kept = job.checkpoints
    if kept is None:
        return pod.template
    places = {each.given.name: wait_container.path(each.given.name) for each in datasets}
    config = LineageConfig(
        path=lineage_container.PATH,
        lineage=kept.lineage,
        job=shorten(job.names.base, LABEL_LIMIT - HASH_LENGTH - 1),
        spec=content_hash(training_pod.settled(pod.template), job.spec.framework),
        image=str(pod.trainer.get("image", "")),
        datasets=[f"{name}={path}" for name, path in sorted(places.items())],
    )
    mounts = {lineage_container.PATH: kept.mount, **{places[each.given.name]: each.mount for each in datasets}}
    return lineage_container.with_lineage(pod.template, pod.trainer, config, mounts, site)


def findings(job: Job, pod: TrainingPod) -> Iterator[Finding]:
    """Yield findings about the claim: its name and template, and whether all pods of the job can write to it."""
    kept = job.checkpoints
    if kept is None:
        return
    claim = kept.given.claim
    yield from exactly_one({"name": claim.name, "template": claim.template}, CLAIM, "Checkpoints are in one claim")
    yield from claim_rules.name_findings(kept.name, _NAME if claim.name else ("metadata", "name"))
    if claim.template is not None:
        yield from claim_rules.template_findings(claim.template, kept.name, job.id.namespace, _TEMPLATE, owner="job")
        yield from _single(job.most_pods, claim.template)
        yield from _group(pod.spec, pod.trainer)


def mounted(job: Job) -> Iterator[MountedClaim]:
    """Yield the claim of the checkpoints if it is not written with the job: several nodes must be able to mount it."""
    if job.checkpoints and job.checkpoints.given.claim.name:
        yield MountedClaim(job.checkpoints.name, job.most_pods, "the job", _NAME, code="SP722")


def write(job: Job) -> Write | None:
    """Return the directory of the claim that the job writes to; None for a job without checkpoints."""
    kept = job.checkpoints
    if kept is None:
        return None
    template = _TEMPLATE if kept.template is not None else ()
    at, own = kept.lineage_path, kept.lineage
    return Write(job.id.namespace, kept.name, own, mirror=False, at=at, template=template, lineage=True)


def relation(job: Job) -> Lineage | None:
    """Return the job's lineage; None for a job without checkpoints."""
    kept = job.checkpoints
    return Lineage(kept.lineage, kept.lineage_path, shared=kept.given.share_lineage) if kept else None


def _single(pods: int, template: Json) -> Iterator[Finding]:
    modes = (template.get("spec") or {}).get("accessModes") or []
    if pods > 1 and modes and _SEVERAL not in modes:
        message = f"{pods} pods write to the claim, and {', '.join(map(str, modes))} lets only one node do so."
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
