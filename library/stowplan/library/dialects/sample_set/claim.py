"""The claim of a dataset without a cache, and fields that have no effect on such a dataset."""

from collections.abc import Iterator

from stowplan.library.dialects.shared import claim_paths, claim_rules
from stowplan.library.dialects.shared.claim_writes import Write
from stowplan.library.ir.data import Claim
from stowplan.schema.diagnostics import FieldPath, Finding, without_effect
from stowplan.schema.kinds.sample_set import Csi, DatasetClaim, SampleSet

_BASE: FieldPath = ("spec", "csi", "claim")
TEMPLATE: FieldPath = (*_BASE, "template")
_OF_CACHES = (("partitions", "partitions"), ("cache", "cache"), ("node_affinity", "nodeAffinity"))
"""Fields of a SampleSet that only concern cached datasets, with their keys in the document."""


def of_set(model: SampleSet) -> Claim:
    """Return the claim of a SampleSet without a cache. By default it has the SampleSet's name."""
    given = _given(model)
    template = given.template
    return Claim(given.name or model.metadata.name, claim_paths.canonical(given.sub_path or ""), template)


def findings(model: SampleSet, namespace: str) -> Iterator[Finding]:
    """Yield findings about a SampleSet without a cache. `namespace` is the SampleSet's namespace."""
    claim, given = of_set(model), _given(model)
    yield from claim_rules.name_findings(claim.name, (*_BASE, "name") if given.name else ("metadata", "name"))
    if given.sub_path:
        yield from claim_paths.sub_path(given.sub_path, (*_BASE, "subPath"))
    if given.template is not None:
        yield from claim_rules.template_findings(given.template, claim.name, namespace, TEMPLATE, owner="dataset")
    yield from _without_effect(model)


def named(model: SampleSet) -> tuple[tuple[str, FieldPath], ...]:
    """Return the claim's name with the path of its field; empty if the SampleSet makes the claim or gives no name."""
    given = _given(model)
    return () if given.template or not given.name else ((given.name, (*_BASE, "name")),)


def write(model: SampleSet, namespace: str) -> Write:
    """Return the directory of the claim in which a SampleSet without a cache has its data."""
    claim, given = of_set(model), _given(model)
    place = next((key for key, value in (("subPath", given.sub_path), ("name", given.name)) if value), "")
    at: FieldPath = (*_BASE, place) if place else ("metadata", "name")
    template: FieldPath = TEMPLATE if given.template else ()
    writes = not model.spec.no_sync
    source = model.spec.source.uri if model.spec.source and writes else None
    return Write(
        namespace,
        claim.name,
        claim.sub_path,
        mirror=False,
        at=at,
        template=template,
        writes=writes,
        dataset=source or "",
    )


def of_another_driver(model: SampleSet) -> Iterator[Finding]:
    """Yield a finding if a SampleSet gives `csi.claim` for a driver that creates the claim itself."""
    if model.spec.csi and model.spec.csi.claim:
        message = "The claim has no effect: only the driver `pvc` takes one."
        yield without_effect(_BASE, message, "Remove it, or choose `driver: pvc`.")


def _without_effect(model: SampleSet) -> Iterator[Finding]:
    for field, key in _OF_CACHES:
        if getattr(model.spec, field) is not None:
            yield without_effect(("spec", key), f"`{key}` has no effect: no node caches a dataset of the driver `pvc`.")
    if model.spec.csi and model.spec.csi.juice_fs_mount_options:
        path = ("spec", "csi", "juiceFSMountOptions")
        yield without_effect(path, "Mount options of JuiceFS have no effect with the driver `pvc`.", "Remove them.")


def _given(model: SampleSet) -> DatasetClaim:
    csi = model.spec.csi or Csi()
    return csi.claim or DatasetClaim()
