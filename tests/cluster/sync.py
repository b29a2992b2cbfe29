"""Applies manifests in the order of the model of a sync, and prunes them in reverse."""

from collections.abc import Iterable

from tests.cluster.client import ApiError, Client, Manifest, true_conditions, wait_for
from tests.sync_model import plan, sync_options


def apply(client: Client, manifests: Iterable[Manifest]) -> list[Manifest]:
    """Apply all, each CRD to the point where it is served; gives what was applied, in that order."""
    applied = [task.body for task in plan(manifests).tasks]
    for manifest in applied:
        if manifest["kind"] == "CustomResourceDefinition":
            establish(client, manifest)
        else:
            client.apply(manifest)
    return applied


def establish(client: Client, crd: Manifest) -> Manifest:
    """Apply a CRD and wait until the server serves its kind; gives it as the server has it."""
    client.apply(crd)

    def established() -> Manifest | None:
        live = client.get(crd)
        return live if "Established" in true_conditions(live) and _is_discovered(client, crd) else None

    return wait_for(established, what=f"Established of {crd['metadata']['name']}")


def _is_discovered(client: Client, crd: Manifest) -> bool:
    """The server answers discovery a moment after the condition; the client finds the paths of kinds by it."""
    spec = crd["spec"]
    try:
        groups = [client.request("GET", f"/apis/{spec['group']}/{each['name']}") for each in spec["versions"]]
    except ApiError as error:
        if error.status == 404:
            return False
        raise
    return all(spec["names"]["plural"] in {each["name"] for each in group["resources"]} for group in groups)


def prune(client: Client, applied: Iterable[Manifest]) -> list[Manifest]:
    """Delete in reverse order, in the foreground as Argo CD does, and wait until all are gone.

    Gives what stays because its live object says `Prune=false`, in the order in which it was applied.
    """
    kept: list[Manifest] = []
    going: list[Manifest] = []
    for manifest in applied:
        (kept if "Prune=false" in sync_options(client.get(manifest)) else going).append(manifest)
    remove(client, going)
    return kept


def remove(client: Client, manifests: Iterable[Manifest]) -> None:
    """Delete in reverse order what is still there, whatever its options say, and wait until all are gone.

    Finalizers that a manifest brings belong to controllers that do not run here, so they are taken off first.
    """
    present = [manifest for manifest in reversed(list(manifests)) if client.find(manifest)]
    for manifest in present:
        if "finalizers" in manifest["metadata"]:
            client.patch(manifest, {"metadata": {"finalizers": None}})
        client.delete(manifest, propagation="Foreground")
    for manifest in present:
        _await_end(client, manifest)


def _await_end(client: Client, manifest: Manifest) -> None:
    """The garbage collector looks for new kinds every 30 s, so a new CRD's object may stay that long."""
    what = f"end of {manifest['kind']} {manifest['metadata']['name']}"
    wait_for(lambda: client.find(manifest) is None, 120, what=what)
