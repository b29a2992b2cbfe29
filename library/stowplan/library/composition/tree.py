"""The construct tree: ids of charts and objects, and the input of a chart."""

from dataclasses import dataclass

from stowplan.library.manifest import Json, Manifest, Unit, group_of
from stowplan.schema.meta import ObjectId, SpecId


@dataclass(frozen=True, slots=True)
class ChartSource:
    """The input of a chart: its id, the name of the one construct in it, and the manifests in that construct.

    `child_ids` are the construct ids of the manifests, in the same order.
    """

    id: str
    name: str
    child_ids: tuple[str, ...]
    manifests: tuple[Manifest, ...]


def chart_id(spec: SpecId) -> str:
    """Return the id of a spec's chart, `<namespace>.<kind>-<name>`. It is unique, since a namespace holds no dot."""
    return f"{spec.namespace}.{spec.kind.lower()}-{spec.name}"


def child_id(manifest: Manifest, spec: SpecId) -> str:
    """Return the construct id of a manifest in the chart of `spec`: `<kind in lower case>-<stem>`.

    `@<namespace>` follows if the manifest has another namespace than the spec. The id holds no content hash, so that
    the construct tree does not change with a hash.
    """
    own = manifest.namespace in ("", spec.namespace)
    return f"{manifest.kind.lower()}-{manifest.stem}{'' if own else f'@{manifest.namespace}'}"


def object_id(body: Json) -> ObjectId:
    """Return API group, kind, namespace and name of a rendered object. A missing or invalid part is empty."""
    metadata = body.get("metadata")
    fields = metadata if isinstance(metadata, dict) else {}
    parts = (body.get("apiVersion"), body.get("kind"), fields.get("namespace"), fields.get("name"))
    version, kind, namespace, name = (part if isinstance(part, str) else "" for part in parts)
    return ObjectId(group_of(version), kind, namespace, name)


def chart_of(unit: Unit) -> ChartSource:
    """Return the input of the chart for one compiled spec."""
    ids = tuple(child_id(manifest, unit.spec) for manifest in unit.manifests)
    return ChartSource(chart_id(unit.spec), unit.spec.name, ids, unit.manifests)
