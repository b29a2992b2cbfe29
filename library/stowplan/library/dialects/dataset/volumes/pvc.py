"""Claims of Datasets."""

from collections.abc import Iterator

from stowplan.library.dialects.dataset.one_of import exactly_one
from stowplan.library.dialects.dataset.volumes.volume import PATH, Held, Volume, directory, sub_path
from stowplan.library.dialects.shared import claim_rules
from stowplan.library.dialects.shared.context import Context
from stowplan.library.ir.data import CachedDataset, Claim, SecretName
from stowplan.schema.diagnostics import FieldPath, Finding, finding, without_effect
from stowplan.schema.drivers.pvc import ClaimVolume
from stowplan.schema.kinds.native.dataset import Dataset

_PATH: FieldPath = (*PATH, "claim")


def _held(volume: ClaimVolume, model: Dataset, namespace: str) -> Held:
    """Return the claim that is named, or the one from the template, which has the name of the Dataset by default."""
    named = volume.name or ((volume.template or {}).get("metadata") or {}).get("name") or model.metadata.name
    claim = Claim(str(named), directory(volume, model, namespace), volume.template)
    return Held(claim, SecretName(namespace, ""))


def _findings(volume: ClaimVolume, model: Dataset, dataset: CachedDataset, context: Context) -> Iterator[Finding]:  # noqa: ARG001
    yield from exactly_one({"name": volume.name, "template": volume.template}, _PATH, "A dataset is in one claim")
    yield from claim_rules.name_findings(dataset.claim.name, (*_PATH, "name") if volume.name else ("metadata", "name"))
    yield from sub_path(volume.sub_path, (*_PATH, "subPath"), "claim")
    if volume.template is not None:
        name, home = dataset.claim.name, dataset.names.namespace
        yield from claim_rules.template_findings(volume.template, name, home, (*_PATH, "template"), owner="dataset")
    yield from _retained(model, volume)


def _retained(model: Dataset, volume: ClaimVolume) -> Iterator[Finding]:
    if model.spec.retain is not False:
        return
    path: FieldPath = ("spec", "retain")
    if volume.template is None:
        yield without_effect(path, "`retain: false` has no effect: the claim is not written with the dataset.")
    else:
        message = "Argo CD deletes the claim with the dataset; its storage class may then delete the data."
        hint = "Use a storage class with `reclaimPolicy: Retain`, or remove `retain: false`."
        yield finding("SP465", path, message, hint)


VOLUME = Volume(_held, _findings)
