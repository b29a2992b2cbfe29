"""Containers of pods as processes of this machine, in place of a kubelet.

Such a process finds the volumes of its container at other paths, so all references to these paths are replaced.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from stowplan.schema.agents.agent_config import CONFIG_DIRECTORY, CONFIG_FILE
from tests.cluster.client import Manifest, ref
from tests.cluster.control_plane import Cluster

ACCOUNT_DIRECTORY = "/var/run/secrets/kubernetes.io/serviceaccount"
LABEL = re.compile(r"metadata\.labels\['(.+)'\]")


@dataclass(frozen=True)
class Program:
    """One container of a pod."""

    cluster: Cluster
    pod: Manifest
    """As the server has it."""
    container: Mapping[str, Any]
    folder: Path
    """For its files and its log."""
    address: str
    """Of the pod."""

    def start(self) -> "subprocess.Popen[str]":
        """Runs the command of the container, with its configuration, variables and ServiceAccount."""
        given: list[str] = [*self.container["command"], *self.container.get("args", [])]
        python, *rest = given
        assert python == "python"
        command = [sys.executable, *map(self._here, rest)]
        config = self._places[CONFIG_DIRECTORY] / CONFIG_FILE
        config.write_text(self._here(config.read_text(encoding="utf-8")), encoding="utf-8")
        command += [f"--config={config}", f"--service-account={self._places[ACCOUNT_DIRECTORY]}"]
        with (self.folder / "log").open("a", encoding="utf-8") as log:
            return subprocess.Popen(command, env=self._environment(), stderr=log, stdout=log, text=True)

    def _environment(self) -> dict[str, str]:
        server = urlsplit(self.cluster.trust.server)
        return {
            "PATH": os.environ["PATH"],
            "TMPDIR": str(self._places.get("/tmp", self.folder)),
            "KUBERNETES_SERVICE_HOST": str(server.hostname),
            "KUBERNETES_SERVICE_PORT": str(server.port),
            **{each["name"]: self._here(self._value(each)) for each in self.container.get("env", ())},
        }

    def _here(self, text: str) -> str:
        """With the paths of this machine."""
        known = "|".join(map(re.escape, self._places))
        pattern = rf"(?<![\w./-])({known})(?=[/\"]|$)"
        return re.sub(pattern, lambda found: str(self._places[found[1]]), text) if known else text

    @cached_property
    def _places(self) -> dict[str, Path]:
        """Where the volumes are, by the paths that the container knows, longest first."""
        mounts = sorted(self.container.get("volumeMounts", ()), key=lambda each: -len(each["mountPath"]))
        volumes = {each["name"]: each for each in self.pod["spec"]["volumes"]}
        return {each["mountPath"]: self._place(volumes[each["name"]]) / each.get("subPath", "") for each in mounts}

    def _place(self, volume: Manifest) -> Path:
        place = self.folder / str(volume["name"])
        place.mkdir()
        for source in volume.get("projected", {}).get("sources", [volume]):
            for path, text in self._files(source):
                (place / path).write_text(text, encoding="utf-8")
        return place

    def _files(self, source: Manifest) -> Iterator[tuple[str, str]]:
        if token := source.get("serviceAccountToken"):
            yield token["path"], self._token(token["expirationSeconds"])
        elif wanted := source.get("configMap"):
            data = self.cluster.admin.get(self._beside("ConfigMap", wanted["name"]))["data"]
            items = {item["key"]: item["path"] for item in wanted.get("items", [])} or {key: key for key in data}
            yield from ((path, data[key]) for key, path in items.items())

    def _token(self, seconds: int) -> str:
        """Bound to the pod, as the kubelet asks for it."""
        metadata = self.pod["metadata"]
        bound = {"apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "uid": metadata["uid"]}
        request: Manifest = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": seconds, "boundObjectRef": bound},
        }
        account = self._beside("ServiceAccount", self.pod["spec"]["serviceAccountName"])
        path = self.cluster.admin.path(account, "token")
        token: str = self.cluster.admin.request("POST", path, request)["status"]["token"]
        return token

    def _value(self, variable: Manifest) -> str:
        source = variable.get("valueFrom")
        if source is None:
            return str(variable.get("value", ""))
        path = source["fieldRef"]["fieldPath"]
        if found := LABEL.fullmatch(path):
            return str(self.pod["metadata"]["labels"][found[1]])
        metadata, spec = self.pod["metadata"], self.pod["spec"]
        told = {"metadata.name": metadata["name"], "spec.nodeName": spec.get("nodeName"), "status.podIP": self.address}
        return str(told[path])

    def _beside(self, kind: str, name: str) -> Manifest:
        return ref("v1", kind, name, self.pod["metadata"]["namespace"])
