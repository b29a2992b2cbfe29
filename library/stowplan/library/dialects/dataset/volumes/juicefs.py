"""JuiceFS volumes of Datasets."""

from collections.abc import Iterator

from stowplan.library.dialects.dataset.volumes.volume import PATH, Held, Volume, directory, sub_path
from stowplan.library.dialects.shared import secrets
from stowplan.library.dialects.shared.context import Context
from stowplan.library.ir.data import CachedDataset, Claim, SecretName
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, finding
from stowplan.schema.drivers.juicefs import JuiceFSVolume
from stowplan.schema.juicefs.mount_options import MountOptions
from stowplan.schema.juicefs.option_forms import PATH as PATH_FORM
from stowplan.schema.kinds.native.dataset import Dataset

_PATH: FieldPath = (*PATH, "juicefs")

_ELSEWHERE = {
    "sub_dir": "`subPath` of the volume",
    "cache_dir": "`path` of a tier in `cache.tiers`",
    "cache_size": "`size` of a tier in `cache.tiers`",
}
"""The fields that replace a mount option."""

_NO_OPTIONS = MountOptions()


def _held(volume: JuiceFSVolume, model: Dataset, namespace: str) -> Held:
    """Return the claim with the name of the Dataset. The directory of the data is the mount option `sub-dir`."""
    own = {"sub_dir": directory(volume, model, namespace), "cache_dir": None, "cache_size": None}
    options = (volume.options or _NO_OPTIONS).model_copy(update=own)
    secret = secrets.resolve(volume.secret_ref, SecretName(namespace, ""))
    return Held(Claim(model.metadata.name), secret, options)


def _findings(volume: JuiceFSVolume, model: Dataset, dataset: CachedDataset, context: Context) -> Iterator[Finding]:  # noqa: ARG001
    at = (*_PATH, "subPath")
    yield from sub_path(volume.sub_path, at, "volume")
    if volume.sub_path and not PATH_FORM.fits(volume.sub_path):
        message = f"Found {volume.sub_path!a}; allowed is {PATH_FORM.words}."
        yield finding("SP206", at, message, f"Give {PATH_FORM.words}.")
    yield from _options(volume.options or _NO_OPTIONS, dataset)
    yield from _secret(volume, dataset, context)


def _options(options: MountOptions, dataset: CachedDataset) -> Iterator[Finding]:
    base = dataset.fields.options
    for name, instead in _ELSEWHERE.items():
        if getattr(options, name) is not None:
            key = str(MountOptions.model_fields[name].alias)
            message = f"`{key}` is not an option of a Dataset's volume: it has a field of its own."
            yield finding("SP463", (*base, key), message, f"Give it as {instead}.", anchor=Anchor.KEY)
    if dataset.options.read_only and dataset.source and dataset.source.remote:
        message = "The source is copied through a mount of the volume, which is mounted read-only."
        hint = "Remove `read-only`; jobs mount datasets read-only unless they say otherwise."
        yield finding("SP462", (*base, "read-only"), message, hint)


def _secret(volume: JuiceFSVolume, dataset: CachedDataset, context: Context) -> Iterator[Finding]:
    path: FieldPath = (*_PATH, "secretRef")
    yield from secrets.name_findings(volume.secret_ref, path)
    if not volume.secret_ref.name:
        message = "`secretRef.name` is missing; it names the Secret of the JuiceFS volume."
        hint = "Name a Secret with the keys name, metaurl, storage and bucket."
        yield finding("SP401", (*path, "name"), message, hint)
    home = dataset.names.namespace
    yield from secrets.elsewhere(home, dataset.volume_secret, context.platform, (*path, "namespace"))


VOLUME = Volume(_held, _findings)
