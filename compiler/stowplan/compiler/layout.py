"""The tree of the output: which file holds which manifest."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from stowplan.compiler.extensions import Addition
from stowplan.compiler.model import Output, Spec
from stowplan.compiler.paths import CLUSTER
from stowplan.compiler.source import PLATFORM_FILE
from stowplan.library.manifest import Manifest, Unit
from stowplan.library.names import FILE_LIMIT, shorten


def of_specs(units: Sequence[Unit], specs: Sequence[Spec]) -> list[Output]:
    """`<namespace>/<spec kind>-<spec name>/<object kind>-<object name>.yaml`, and `_cluster/` for what has none.

    `units` are those of `specs`, in the same order.
    """
    return [output for unit, spec in zip(units, specs, strict=True) for output in _of_spec(unit, spec)]


def of_extensions(additions: Iterable[Addition]) -> list[Output]:
    """`<namespace>/extension-<file>/…`."""
    return [
        Output(
            path=_path(each.manifest, f"extension-{PurePosixPath(each.extension).stem}"),
            manifest=each.manifest,
            spec=None,
            source=each.extension,
        )
        for each in additions
    ]


def of_plain_objects(objects: Iterable[tuple[Manifest, str]]) -> list[Output]:
    """`<namespace>/plain/…` for each plain object and its file."""
    return [
        Output(path=_path(manifest, "plain"), manifest=manifest, spec=None, source=source)
        for manifest, source in objects
    ]


def of_platform(manifests: Iterable[Manifest], folder: str) -> list[Output]:
    """`<folder>/…` for what the platform file alone decides."""
    return [
        Output(path=f"{folder}/{_file(manifest)}", manifest=manifest, spec=None, source=PLATFORM_FILE)
        for manifest in manifests
    ]


def _of_spec(unit: Unit, spec: Spec) -> Iterator[Output]:
    folder = f"{spec.id.kind.lower()}-{shorten(spec.id.name, FILE_LIMIT)}"
    for manifest in unit.manifests:
        yield Output(
            path=_path(manifest, folder),
            manifest=manifest,
            spec=spec.id,
            source=spec.document.file,
            spec_digest=spec.digest,
            externals=unit.externals,
        )


def _path(manifest: Manifest, folder: str) -> str:
    home = f"{manifest.namespace}/{folder}" if manifest.namespace else CLUSTER
    return f"{home}/{_file(manifest)}"


def _file(manifest: Manifest) -> str:
    return f"{manifest.kind.lower()}-{shorten(manifest.stem, FILE_LIMIT)}.yaml"
