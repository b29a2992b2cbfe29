"""The certificates of a DataCube's `caBundle`: a volume of the pod, and variables that name its file."""

from collections.abc import Iterator

from stowplan.library.dialects.data_cube.cube import Cube
from stowplan.library.manifest import ExternalReference, Json
from stowplan.schema.agents.transfer_config import CA_DIRECTORY, CA_ENV, CA_FILE
from stowplan.schema.diagnostics import FieldPath, Finding, finding, without_effect
from stowplan.schema.kinds.data_cube import CaBundle, DataCube, DataReference

_HINT = "Write it as Kubernetes has it."


def names(model: DataCube) -> list[Finding]:
    """Return findings about references in `caBundle` without the name of a ConfigMap or Secret.

    Kubernetes' schema accepts such references.
    """
    return [
        finding("SP213", ("spec", side, "caBundle", key, "name"), "`name` must be given, as a string.", _HINT)
        for side in ("source", "sink")
        for key, reference in _references(getattr(model.spec, side).ca_bundle)
        if not isinstance(reference.get("name"), str)
    ]


def findings(reference: DataReference, path: FieldPath) -> Iterator[Finding]:
    """Yield findings about the `caBundle` of a source or sink. `path` is the path of that field."""
    bundle = reference.ca_bundle
    if bundle is None:
        return
    if reference.type == "pvc":
        yield without_effect(path, "A claim needs no certificates.")
        return
    given = [(key, value) for key, value in _references(bundle) if value]
    if len(given) != 1:
        message = "The certificates come from exactly one place."
        hint = "Give either `configMapKeyRef` or `secretKeyRef`."
        yield finding("SP494", path, message, hint)
    elif given[0][1].get("optional"):
        message = "Without the certificates nothing could be trusted, so the pod waits until they are there."
        yield without_effect((*path, given[0][0], "optional"), message)


def variables(cube: Cube) -> tuple[Json, ...]:
    """Return environment variables that give tools the path of the file with the certificates.

    Without a `caBundle` there are none.
    """
    path = f"{CA_DIRECTORY}/{CA_FILE}"
    return tuple({"name": name, "value": path} for name in CA_ENV) if cube.reference.ca_bundle else ()


def volume(cube: Cube) -> Json | None:
    """Return the source of a pod's volume with the certificates as the file `CA_FILE`; None without a `caBundle`."""
    bundle = cube.reference.ca_bundle
    if bundle is None:
        return None
    config_map, secret = bundle.config_map_key_ref, bundle.secret_key_ref
    if secret:
        return {"secret": {"secretName": secret["name"], "items": [{"key": secret["key"], "path": CA_FILE}]}}
    reference = config_map or {}
    return {"configMap": {"name": reference["name"], "items": [{"key": reference["key"], "path": CA_FILE}]}}


def externals(cube: Cube) -> Iterator[ExternalReference]:
    """Yield the reference to the Secret (with its key) or ConfigMap of the `caBundle`; nothing without a `caBundle`."""
    bundle = cube.reference.ca_bundle
    if bundle and (secret := bundle.secret_key_ref):
        yield ExternalReference("Secret", cube.id.namespace, str(secret["name"]), (str(secret["key"]),))
    if bundle and (config_map := bundle.config_map_key_ref):
        yield ExternalReference("ConfigMap", cube.id.namespace, str(config_map["name"]), ())


def _references(bundle: CaBundle | None) -> list[tuple[str, Json]]:
    """Return (field, reference) pairs, such as `("secretKeyRef", {...})`, for the references in a `caBundle`."""
    if bundle is None:
        return []
    both = (("configMapKeyRef", bundle.config_map_key_ref), ("secretKeyRef", bundle.secret_key_ref))
    return [(key, value) for key, value in both if value is not None]
