"""Compiled pods on the real node, which run this project's programs.

The interpreter and the packages of the tests are mounted into containers, in place of the programs of their images.
"""

import sys
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from tests.cluster import container_image, kubelet
from tests.cluster.client import Manifest
from tests.repositories import REPOSITORY

_PROGRAMS = [Path(sys.prefix), Path(sys.base_prefix), REPOSITORY, *map(Path, ("/lib", "/lib64", "/usr/lib"))]
"""The environment, the interpreter that it is made of, our packages, and the libraries of all three."""


def on_real_node(job: Manifest, namespace: str, claims: Mapping[str, Path], ours: str) -> Manifest:
    """A compiled Job as the real node can run it; nothing else of it is changed.

    Folders stand for claims, by their names, and the host's network for one of its own. `ours` is the container whose
    image is ours; users' images must be `container_image.NAME`.
    """
    changed = deepcopy(job)
    changed["metadata"]["namespace"] = namespace
    spec = changed["spec"]["template"]["spec"]
    spec |= {
        "nodeSelector": {"kubernetes.io/hostname": kubelet.NAME},
        "tolerations": [{"key": kubelet.TAINT, "operator": "Exists"}],
        "hostNetwork": True,
    }
    spec["volumes"] = [_volume(each, claims) for each in spec["volumes"]]
    spec["volumes"] += [_folder(name, path) for name, path in _programs()]
    for container in [*spec["initContainers"], *spec["containers"]]:
        container["imagePullPolicy"] = "Never"
        if container["name"] == ours:
            container["image"] = container_image.NAME
            container["env"].append({"name": "PATH", "value": f"{sys.prefix}/bin:/bin"})
            mounts = [{"name": name, "mountPath": str(path), "readOnly": True} for name, path in _programs()]
            container["volumeMounts"] += mounts
    return changed


def _programs() -> list[tuple[str, Path]]:
    there = [path for path in _PROGRAMS if path.is_dir()]
    return [(f"programs-{number}", path) for number, path in enumerate(dict.fromkeys(there))]


def _volume(volume: dict[str, Any], claims: Mapping[str, Path]) -> dict[str, Any]:
    claim = volume.get("persistentVolumeClaim")
    return _folder(volume["name"], claims[claim["claimName"]]) if claim else volume


def _folder(name: str, path: Path) -> dict[str, Any]:
    return {"name": name, "hostPath": {"path": str(path.resolve())}}
