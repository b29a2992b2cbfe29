"""Lua scripts by which Argo CD judges the health of objects: one for each kind of Stowplan.

They have the file layout of Argo CD's own customizations, but that a line `-- part: <name>` stands for the file
`parts/<name>.lua`, which several scripts share. There is also one for Jobs: the check in Argo CD is wrong for Jobs that
a queue suspends, or a gate.
"""

import re
from pathlib import Path

from stowplan.library.manifest import Manifest

FOLDER = Path(__file__).parent
_PART = re.compile(r"^-- part: (\w+)\n", re.MULTILINE)


def scripts() -> dict[str, str]:
    """Return all Lua scripts, with their parts, by `<group>_<Kind>`, the form of a kind in the keys of `argocd-cm`."""
    found = sorted(FOLDER.glob("*/*/health.lua"))
    return {f"{path.parent.parent.name}_{path.parent.name}": _whole(path.read_text(encoding="utf-8")) for path in found}


def settings_patch() -> Manifest:
    """Return the part of Argo CD's own ConfigMap `argocd-cm` that holds the scripts. An admin merges it by hand.

    Its namespace, that of Argo CD, comes from its chart. The part is never synced, since Argo CD's settings belong to
    its admins. The check of Jobs also applies to Jobs that are not Stowplan's.
    """
    data = {f"resource.customizations.health.{kind}": script for kind, script in scripts().items()}
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "argocd-cm"}, "data": data}
    return Manifest(body, stem="argocd-cm")


def _whole(script: str) -> str:
    """Return a script with its parts."""
    return _PART.sub(lambda found: (FOLDER / f"parts/{found[1]}.lua").read_text(encoding="utf-8"), script)
