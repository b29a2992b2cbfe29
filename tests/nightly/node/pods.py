"""Pods of shell scripts, and of Python's."""

import sys
from pathlib import Path
from typing import Any

from tests.cluster import container_image
from tests.cluster.client import Client, Manifest, ref, wait_for

SECONDS = 60
"""What a pod may take to do something on a machine that others use too."""


def pod(name: str, script: str, node: str = "", **container: Any) -> Manifest:
    """A pod that runs once; on any node if none is named."""
    main = {"name": "main", "image": container_image.NAME, "command": ["/bin/sh", "-c", script], **container}
    spec: Manifest = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "containers": [main]}
    if node:
        spec["nodeSelector"] = {"kubernetes.io/hostname": node}
    return {**ref("v1", "Pod", name, "default"), "spec": spec}


def python_pod(name: str, script: str, node: str = "") -> Manifest:
    """A pod that runs Python once: that of the tests, with the libraries that it loads."""
    found = pod(name, "", node)
    folders = [Path(sys.base_prefix), *map(Path, ("/lib", "/lib64", "/usr/lib"))]
    volumes = {f"programs-{number}": str(each.resolve()) for number, each in enumerate(folders)}
    mounts = [{"name": f"programs-{number}", "mountPath": str(each)} for number, each in enumerate(folders)]
    (container,) = found["spec"]["containers"]
    container["command"] = [f"{sys.base_prefix}/bin/python3", "-c", script]
    container["volumeMounts"] = [{**each, "readOnly": True} for each in mounts]
    found["spec"]["volumes"] = [{"name": each, "hostPath": {"path": path}} for each, path in volumes.items()]
    return found


def await_phase(client: Client, pod: Manifest, phase: str) -> Manifest:
    """The pod once it is in this phase; its status is told if it never is."""

    def reached() -> bool:
        return bool(client.get(pod)["status"].get("phase") == phase)

    try:
        wait_for(reached, SECONDS, what=f"{phase} of {pod['metadata']['name']}")
    except TimeoutError as error:
        raise TimeoutError(f"{error}: {client.get(pod)['status']}") from None
    return client.get(pod)
