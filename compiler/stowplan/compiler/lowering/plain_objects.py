"""Plain objects: Kubernetes objects of users whose kinds the platform file allows in `passThrough`."""

from stowplan.compiler.lowering import output_layout
from stowplan.compiler.model import OutputFile, Program
from stowplan.compiler.specs import kinds
from stowplan.library.manifest import Json, Manifest
from stowplan.library.values import labels
from stowplan.schema.platform.platform import Platform


def plain_objects(program: Program) -> list[OutputFile]:
    """Return the outputs of the plain objects.

    They are unchanged, but a missing namespace is added, and custom resources get the sync option `labels.SKIP_DRY_RUN`
    of Argo CD.
    """
    platform = program.platform
    return [
        output_layout.of_file(_manifest(document.data, platform), "plain", document.file)
        for document in program.passed_through
    ]


def _manifest(body: Json, platform: Platform) -> Manifest:
    version, kind, metadata = body["apiVersion"], body["kind"], body["metadata"]
    if not metadata.get("namespace") and kinds.is_namespaced(platform, version, kind):
        metadata = {**metadata, "namespace": platform.default_namespace}
    if not kinds.is_built_in(platform.kubernetes_version, version, kind):
        metadata = _without_dry_run(metadata)
    return Manifest({**body, "metadata": metadata}, stem=metadata["name"])


def _without_dry_run(metadata: Json) -> Json:
    """Return the metadata with the option, unless the user decided on it or the annotations are no valid ones."""
    notes = metadata.get("annotations") or {}
    options = notes.get(labels.SYNC_OPTIONS, "") if isinstance(notes, dict) else None
    if not isinstance(options, str) or labels.SKIP_DRY_RUN.removesuffix("true") in options:
        return metadata
    merged = labels.with_option(options, labels.SKIP_DRY_RUN)
    return {**metadata, "annotations": {**notes, labels.SYNC_OPTIONS: merged}}
