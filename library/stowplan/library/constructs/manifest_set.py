"""The construct that holds the manifests of one spec."""

from collections.abc import Iterator, Mapping
from typing import Any

from cdk8s import ApiObject, JsonPatch
from constructs import Construct

from stowplan.library.composition.crossing import check_crossing
from stowplan.library.composition.tree import child_id
from stowplan.library.manifest import Json, Manifest, Unit
from stowplan.schema.diagnostics import did_you_mean
from stowplan.schema.meta import SpecId

ObjectKey = tuple[str, str]
"""Kind and name of an object in its set; outside the spec's namespace, the name is `namespace/name`."""


class ManifestSet(Construct):
    """One `ApiObject` for each manifest of a unit, with the manifest's own name, never a generated one.

    Construct ids come from `child_id`. cdk8s adds the labels of the chart to the objects; the chart's namespace never
    replaces that of a manifest. Raises `CrossingError` for a manifest that cdk8s would not render unchanged, and
    `RuntimeError` when `construct_id` is taken.
    """

    def __init__(self, scope: Construct, construct_id: str, *, unit: Unit) -> None:
        super().__init__(scope, construct_id)
        self._spec_id = unit.spec
        self._objects = {self._key(manifest): self._add(manifest) for manifest in unit.manifests}

    @property
    def spec_id(self) -> SpecId:
        """The spec that these objects were compiled from."""
        return self._spec_id

    @property
    def objects(self) -> Mapping[ObjectKey, ApiObject]:
        """The objects by (kind, name), or by (kind, `namespace/name`) for objects outside the spec's namespace."""
        return self._objects

    def object(self, kind: str, name: str) -> ApiObject:
        """Return the object of that kind and name, to patch it or to depend on it. `name` is as in `objects`.

        Raises `LookupError` with the nearest names if no object matches.
        """
        found = self._objects.get((kind, name))
        if found is None:
            hint = did_you_mean(f"{kind} {name}", (" ".join(key) for key in self._objects))
            raise LookupError(f"{self._spec_id} has no {kind} {name}. {hint}")
        return found

    def _key(self, manifest: Manifest) -> ObjectKey:
        if manifest.namespace in ("", self._spec_id.namespace):
            return manifest.kind, manifest.name
        return manifest.kind, f"{manifest.namespace}/{manifest.name}"

    def _add(self, manifest: Manifest) -> ApiObject:
        """Add the object of a manifest to the set and return it.

        This takes one call of jsii for the object, one for each field, and one to apply the fields.
        """
        check_crossing(manifest.body)
        metadata = manifest.body["metadata"]
        api_object = ApiObject(
            self,
            child_id(manifest, self._spec_id),
            api_version=manifest.api_version,
            kind=manifest.kind,
            # An empty namespace prevents the chart's namespace; the patch below removes it again.
            metadata={"namespace": "", **{key: metadata[key] for key in metadata if _plain(key, metadata[key])}},
        )
        patches = list(_patches(manifest.body))
        if patches:
            api_object.add_json_patch(*patches)
        return api_object


def _plain(key: str, value: Any) -> bool:
    """Return whether cdk8s gets the field `key` of the metadata as an argument, not as a patch.

    `metadata.add_label` and the chart's labels extend only arguments. But cdk8s drops empty maps and lists, and takes a
    map with the key `constructor` for a class.
    """
    return key in ("name", "namespace") or (
        key in ("labels", "annotations") and bool(value) and "constructor" not in value
    )


def _patches(body: Json) -> Iterator[JsonPatch]:
    """Yield a patch for each field of a manifest's body that is not an argument of `ApiObject`."""
    metadata = body["metadata"]
    if not metadata.get("namespace"):
        yield JsonPatch.remove("/metadata/namespace")
    for key, value in metadata.items():
        if not _plain(key, value):
            yield JsonPatch.add(f"/metadata/{_escape(key)}", value)
    for key, value in body.items():
        if key not in ("apiVersion", "kind", "metadata"):
            yield JsonPatch.add(f"/{_escape(key)}", value)


def _escape(key: str) -> str:
    """Return a dictionary key as a part of a JSON pointer (RFC 6901), with `~` and `/` escaped."""
    return key.replace("~", "~0").replace("/", "~1")
