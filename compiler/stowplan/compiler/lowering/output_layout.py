"""Layout of the output: the path of each manifest."""

from collections.abc import Iterator, Sequence

from stowplan.compiler.model import OutputFile, Spec
from stowplan.compiler.output.paths import CLUSTER, spec_folder
from stowplan.library.dialects.training.outputs import following
from stowplan.library.manifest import Manifest, Unit
from stowplan.library.values.names import FILE_LIMIT, shorten


def of_specs(units: Sequence[Unit], specs: Sequence[Spec], marks: Sequence[str] = ()) -> list[OutputFile]:
    """Return the outputs of specs, at `<namespace>/<spec kind>-<spec name>/<object kind>-<object name>.yaml`.

    Objects without a namespace are in `_cluster/`. `units` and `marks` have the order of `specs`. `marks` are compiler
    marks (see `compiler_mark`); without them, the mark of each output is empty.
    """
    parts = zip(units, specs, marks or [""] * len(specs), strict=True)
    return [output for unit, spec, mark in parts for output in _of_spec(unit, spec, mark)]


_COPIES = "+outputs"


def is_of_copies(digest: str) -> bool:
    """Return whether a `spec_digest` is that of an object that copies outputs of a training job.

    It covers the whole spec. The `spec_digest` of the run itself leaves the outputs out, so an edit of them starts
    other copies and not another run.
    """
    return digest.endswith(_COPIES)


def of_file(manifest: Manifest, folder: str, source: str) -> OutputFile:
    """Return the output of an object that the file `source` has or makes, at `<namespace>/<folder>/` or `_cluster/`."""
    return OutputFile(path=_path(manifest, folder), manifest=manifest, spec=None, source=source)


def in_folder(folder: str, manifest: Manifest) -> str:
    """Return the path of an object that comes from the platform file and no spec, at `<folder>/…`."""
    return f"{folder}/{_file(manifest)}"


def _of_spec(unit: Unit, spec: Spec, mark: str) -> Iterator[OutputFile]:
    own = spec_folder(spec.id)
    for manifest in unit.manifests:
        copies = following.copies(manifest)
        yield OutputFile(
            path=_path(manifest, own),
            manifest=manifest,
            spec=spec.id,
            source=spec.document.file,
            spec_digest=f"{spec.digest}{_COPIES}" if copies else spec.run_digest,
            content_digest="" if copies else spec.digest,
            externals=unit.externals,
            compiled=mark,
        )


def _path(manifest: Manifest, folder: str) -> str:
    home = f"{manifest.namespace}/{folder}" if manifest.namespace else CLUSTER
    return f"{home}/{_file(manifest)}"


def _file(manifest: Manifest) -> str:
    return f"{manifest.kind.lower()}-{shorten(manifest.stem, FILE_LIMIT)}.yaml"
