"""How Argo CD judges the health of our kinds: one Lua script each, in the layout of its own customizations.

Beside them stands one for Jobs, whose own check in Argo CD is wrong for those that a queue suspends.
"""

from pathlib import Path

from stowplan.library.manifest import Manifest

FOLDER = Path(__file__).parent

_JOB = "batch_Job"


def scripts() -> dict[str, str]:
    """The scripts by `<group>_<Kind>`, as the keys of `argocd-cm` name a kind."""
    found = sorted(FOLDER.glob("*/*/health.lua"))
    return {f"{path.parent.parent.name}_{path.parent.name}": path.read_text(encoding="utf-8") for path in found}


def settings_patch(namespace: str, *, suspends: bool = False) -> Manifest:
    """The part of Argo CD's own ConfigMap that holds the scripts, for an admin to merge into it by hand.

    Argo CD's settings belong to whoever runs it, so this is never synced. The check of Jobs, which are everybody's, is
    replaced only where the gang engine `suspends` them.
    """
    data = {
        f"resource.customizations.health.{kind}": script
        for kind, script in scripts().items()
        if suspends or kind != _JOB
    }
    metadata = {"name": "argocd-cm", "namespace": namespace}
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
    return Manifest(body, stem="argocd-cm")
