"""Custom resource of a spec. The agents write their reports into its status."""

from stowplan.library.ir.data import Origin
from stowplan.library.manifest import Json, Manifest, Part
from stowplan.library.values import labels
from stowplan.schema.meta import Model


def resource(model: Model, origin: Origin) -> Part:
    """Return the part that holds the spec itself."""
    return Part("resource", (custom_resource(model, origin),))


def custom_resource(model: Model, origin: Origin) -> Manifest:
    """Return the spec itself as a manifest: the user's values under canonical field names, without Stowplan's defaults.

    It has no finalizers: nothing of Stowplan removes them, so the resource would never go. Another Application may
    install the CRD, so a dry run must not fail while the CRD is missing.
    """
    body: Json = model.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude_none=True)
    meta = body["metadata"]
    meta.pop("finalizers", None)
    meta.pop("namespace", None)
    given, ours = meta.get("labels", {}), labels.of_spec(origin.spec)
    meta["labels"] = {**{key: value for key, value in given.items() if key not in ours}, labels.COMPONENT: "spec"}
    notes = dict(meta.get("annotations", {}))
    notes[labels.SYNC_OPTIONS] = labels.with_option(notes.get(labels.SYNC_OPTIONS, ""), labels.SKIP_DRY_RUN)
    if origin.source:
        notes[labels.SOURCE] = origin.source
    meta["annotations"] = notes
    return Manifest(body, stem=origin.spec.name)
