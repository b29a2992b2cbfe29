"""What the constructs of a spec are called, and what they render to is."""

from stowplan.library.manifest import Json, Manifest, group_of
from stowplan.schema.meta import ObjectId, SpecId


def chart_id(spec: SpecId) -> str:
    """The id of a spec's chart: `<namespace>.<kind>-<name>`. No two specs share one: a namespace holds no dot."""
    return f"{spec.namespace}.{spec.kind.lower()}-{spec.name}"


def child_id(manifest: Manifest, spec: SpecId) -> str:
    """The id of an object in its spec: `<kind in lower case>-<stem>`, with `@<namespace>` outside the spec's own.

    It holds no content hash, so that the tree stays the same when one changes.
    """
    own = manifest.namespace in ("", spec.namespace)
    return f"{manifest.kind.lower()}-{manifest.stem}{'' if own else f'@{manifest.namespace}'}"


def object_id(body: Json) -> ObjectId:
    """The identity of a rendered object; parts that are absent or no text are empty."""
    metadata = body.get("metadata")
    fields = metadata if isinstance(metadata, dict) else {}
    parts = (body.get("apiVersion"), body.get("kind"), fields.get("namespace"), fields.get("name"))
    version, kind, namespace, name = (part if isinstance(part, str) else "" for part in parts)
    return ObjectId(group_of(version), kind, namespace, name)
