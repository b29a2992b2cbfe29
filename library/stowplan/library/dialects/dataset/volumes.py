"""Rules of a Dataset's volume."""

from collections.abc import Iterator

from stowplan.library.dialects.dataset.cached import OPTIONS
from stowplan.library.dialects.dataset.one_of import exactly_one
from stowplan.library.dialects.shared import claim_paths, claim_rules
from stowplan.library.ir.data import CachedDataset
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, finding
from stowplan.schema.juicefs.mount_options import MountOptions
from stowplan.schema.juicefs.option_forms import PATH as PATH_FORM
from stowplan.schema.kinds.native.dataset import ClaimVolume, Dataset, JuiceFSVolume

PATH: FieldPath = ("spec", "volume")
CLAIM: FieldPath = (*PATH, "claim")
JUICEFS: FieldPath = (*PATH, "juicefs")

_ELSEWHERE = {
    "sub_dir": "`subPath` of the volume",
    "cache_dir": "`path` of a tier in `cache.tiers`",
    "cache_size": "`size` of a tier in `cache.tiers`",
}
"""The fields that replace a mount option."""


def findings(model: Dataset, dataset: CachedDataset) -> Iterator[Finding]:
    """Yield findings about the volume of a Dataset. `dataset` is what the Dataset describes."""
    volume = model.spec.volume
    yield from exactly_one({"juicefs": volume.juicefs, "claim": volume.claim}, PATH, "A dataset is in one volume")
    if volume.juicefs:
        yield from _juicefs(volume.juicefs, dataset)
    elif volume.claim:
        yield from _claim(volume.claim, dataset)
        yield from _retained(model, volume.claim)


def _juicefs(volume: JuiceFSVolume, dataset: CachedDataset) -> Iterator[Finding]:
    at = (*JUICEFS, "subPath")
    yield from _sub_path(volume.sub_path, at, "volume")
    if volume.sub_path and not PATH_FORM.fits(volume.sub_path):
        message = f"Found {volume.sub_path!a}; allowed is {PATH_FORM.words}."
        yield finding("SP206", at, message, f"Give {PATH_FORM.words}.")
    for name, instead in _ELSEWHERE.items():
        if volume.options and getattr(volume.options, name) is not None:
            key = str(MountOptions.model_fields[name].alias)
            message = f"`{key}` is not an option of a Dataset's volume: it has a field of its own."
            yield finding("SP463", (*OPTIONS, key), message, f"Give it as {instead}.", anchor=Anchor.KEY)
    if dataset.options.read_only and dataset.source and dataset.source.remote:
        message = "The source is copied through a mount of the volume, which is mounted read-only."
        hint = "Remove `read-only`; jobs mount datasets read-only unless they say otherwise."
        yield finding("SP462", (*OPTIONS, "read-only"), message, hint)


def _claim(claim: ClaimVolume, dataset: CachedDataset) -> Iterator[Finding]:
    yield from exactly_one({"name": claim.name, "template": claim.template}, CLAIM, "A dataset is in one claim")
    yield from claim_rules.name_findings(dataset.claim.name, (*CLAIM, "name") if claim.name else ("metadata", "name"))
    yield from _sub_path(claim.sub_path, (*CLAIM, "subPath"), "claim")
    if claim.template is not None:
        identity = claim_rules.Identity(dataset.claim.name, dataset.names.namespace)
        yield from claim_rules.template_findings(claim.template, identity, (*CLAIM, "template"), owner="dataset")


def _sub_path(path: str | None, at: FieldPath, whole: str) -> list[Finding]:
    """Return findings about a directory in a volume or claim; `/` is all of it. `whole` is the word for it."""
    return claim_paths.sub_path(path, at, whole) if path and path != "/" else []


def _retained(model: Dataset, claim: ClaimVolume) -> Iterator[Finding]:
    if model.spec.retain is not False:
        return
    path: FieldPath = ("spec", "retain")
    if claim.template is None:
        message = "`retain: false` has no effect: the claim is not written with the dataset."
        yield finding("SP406", path, message, "Remove it.", anchor=Anchor.KEY)
    else:
        message = "Argo CD deletes the claim with the dataset; its storage class may then delete the data."
        hint = "Use a storage class with `reclaimPolicy: Retain`, or remove `retain: false`."
        yield finding("SP465", path, message, hint)
