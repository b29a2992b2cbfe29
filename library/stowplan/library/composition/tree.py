"""Names of a spec's constructs, and identity of the rendered objects."""

from stowplan.library.manifest import Json, Manifest, group_of
from stowplan.schema.meta import ObjectId, SpecId


def chart_id(spec: SpecId) -> str:
    """Return the id of a spec's chart: `<namespace>.<kind>-<name>`. It is unique, since a namespace holds no dot."""
    return f"{spec.namespace}.{spec.kind.lower()}-{spec.name}"


def child_id(manifest: Manifest, spec: SpecId) -> str:
    """Return an object's id in its spec: `<kind in lower case>-<stem>`, with `@<namespace>` outside of the spec's own.

    It holds no content hash, so the tree does not change with the content.
    """
    own = manifest.namespace in ("", spec.namespace)
    return f"{manifest.kind.lower()}-{manifest.stem}{'' if own else f'@{manifest.namespace}'}"


def object_id(body: Json) -> ObjectId:
    """Return the identity of a rendered object. Parts that are missing or no strings are empty."""
    metadata = body.get("metadata")
    fields = metadata if isinstance(metadata, dict) else {}
    parts = (body.get("apiVersion"), body.get("kind"), fields.get("namespace"), fields.get("name"))
    version, kind, namespace, name = (part if isinstance(part, str) else "" for part in parts)
    return ObjectId(group_of(version), kind, namespace, name)
