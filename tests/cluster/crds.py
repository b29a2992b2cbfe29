"""Stowplan's CRDs on a server, and those of the old operator in a separate group."""

from tests.cluster.client import ApiError, Client, Manifest
from tests.cluster.shared import REPOSITORY, legacy_crd
from tests.cluster.sync import establish

CRDS = {path.stem: path for path in sorted((REPOSITORY / "schema" / "crds").glob("*.yaml"))}
"""By `<group>_<plural>`, as the old operator's files are named too."""
LEGACY_GROUP = "legacy.stowplan.test"

_REFUSALS = {400, 422}
"""Malformed, or against the schema."""


def establish_legacy(client: Client, name: str) -> Manifest:
    """Serve a CRD of the old operator in `LEGACY_GROUP`, beside ours; gives it as it was sent."""
    crd = _renamed(legacy_crd(name))
    establish(client, crd)
    return crd


def _renamed(crd: Manifest) -> Manifest:
    names = crd["spec"]["names"]
    metadata = {"name": f"{names['plural']}.{LEGACY_GROUP}"}
    spec = {**crd["spec"], "group": LEGACY_GROUP, "names": {**names, "shortNames": [], "categories": []}}
    return {"apiVersion": crd["apiVersion"], "kind": crd["kind"], "metadata": metadata, "spec": spec}


def refusal(client: Client, path: str, document: Manifest, *, strict: bool) -> ApiError | None:
    """Why the server would not create the document at the URL path of its kind; None if it would.

    When not strict, unknown fields are pruned silently, as the old servers did.
    """
    parameters = {"fieldValidation": "Strict" if strict else "Ignore", "dryRun": "All"}
    try:
        client.request("POST", path, document, parameters=parameters)
    except ApiError as error:
        if error.status in _REFUSALS:
            return error
        raise
    return None
