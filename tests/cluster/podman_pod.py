"""One pod as a kubelet runs its live object: volumes, variables, and containers by Podman."""

import base64
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from stowplan.agents.reporter.objects.workloads import PEERS
from stowplan.schema.agents.peers import parse
from tests.agents.podman import LIMITS
from tests.agents.pods import bytes_of
from tests.cluster.client import Manifest, ref
from tests.cluster.control_plane import Cluster

REFERENCE = re.compile(r"\$\(([A-Za-z_][A-Za-z0-9_]*)\)")
ENTRY = re.compile(r"metadata\.(labels|annotations)\['(.+)'\]")
ADDRESS = "127.0.0.1"
LAST_WORDS = "/dev/termination-log"

Claim = Callable[[str, str], Path]
"""Where the claim of a namespace, by its name, is mounted on the node."""


@dataclass
class PodmanPod:
    """The folder is for what the pod writes; `edit` changes the text of files from ConfigMaps."""

    cluster: Cluster
    pod: Manifest
    folder: Path
    claim: Claim
    edit: Callable[[str], str]
    _volumes: dict[str, Path] = field(default_factory=dict)

    @property
    def namespace(self) -> str:
        return str(self.pod["metadata"]["namespace"])

    @property
    def spec(self) -> Mapping[str, Any]:
        spec: Mapping[str, Any] = self.pod["spec"]
        return spec

    def arguments(self, container: Mapping[str, Any]) -> list[str]:
        """Options of `podman run`: user, rights, limits, variables and volumes of a container."""
        security = {**self.spec.get("securityContext", {}), **container.get("securityContext", {})}
        limits = container.get("resources", {}).get("limits", {})
        found = ["--network=host", *LIMITS]
        if "runAsUser" in security:
            found.append(f"--user={security['runAsUser']}:{security.get('runAsGroup', 0)}")
        if security.get("readOnlyRootFilesystem"):
            found += ["--read-only", "--read-only-tmpfs=false"]
        if security.get("allowPrivilegeEscalation") is False:
            found.append("--security-opt=no-new-privileges")
        found += [f"--cap-drop={each}" for each in security.get("capabilities", {}).get("drop", ())]
        if "memory" in limits:
            found.append(f"--memory={bytes_of(limits['memory'])}b")
        found += [f"--add-host={name}:{ADDRESS}" for name in _peers(container)]
        found += [f"--env={name}={value}" for name, value in self._variables(container).items()]
        return [*found, *self._mounts(container)]

    def last_words(self, container: str) -> Path:
        """What a container leaves to its kubelet."""
        path = self.folder / f"{container}.last"
        if not path.exists():
            path.touch()
            path.chmod(0o666)
        return path

    def _variables(self, container: Mapping[str, Any]) -> dict[str, str]:
        address = urlsplit(self.cluster.trust.server)
        found = {"KUBERNETES_SERVICE_HOST": str(address.hostname), "KUBERNETES_SERVICE_PORT": str(address.port)}
        for each in container.get("env", ()):
            value = self._value(each)
            if value is not None:
                found[each["name"]] = REFERENCE.sub(lambda match: found.get(match[1], match[0]), value)
        return found

    def _value(self, variable: Mapping[str, Any]) -> str | None:
        source = variable.get("valueFrom")
        if source is None:
            return str(variable.get("value", ""))
        if "fieldRef" in source:
            return self._field(source["fieldRef"]["fieldPath"])
        wanted = source["secretKeyRef"]
        secret = self.cluster.admin.find(ref("v1", "Secret", wanted["name"], self.namespace))
        data = secret_data(secret) if secret else {}
        if wanted["key"] in data:
            return data[wanted["key"]]
        assert wanted.get("optional"), f"{wanted['name']} has no {wanted['key']}"
        return None

    def _field(self, path: str) -> str:
        metadata = self.pod["metadata"]
        if entry := ENTRY.fullmatch(path):
            return str(metadata[entry[1]][entry[2]])
        found: dict[str, str] = {
            "metadata.name": metadata["name"],
            "metadata.namespace": self.namespace,
            "spec.nodeName": self.spec["nodeName"],
            "status.podIP": ADDRESS,
        }
        return found[path]

    def _mounts(self, container: Mapping[str, Any]) -> Iterator[str]:
        for mount in container.get("volumeMounts", ()):
            options = ["ro" if mount.get("readOnly") else "rw"]
            if mount.get("mountPropagation") == "HostToContainer":
                options.append("rslave")
            yield f"--volume={self._volume(mount['name'])}:{mount['mountPath']}:{','.join(options)}"
        place = container.get("terminationMessagePath", LAST_WORDS)
        yield f"--volume={self.last_words(container['name'])}:{place}:rw"

    def _volume(self, name: str) -> Path:
        """The directory of a volume, made when a container wants it first."""
        if name not in self._volumes:
            (volume,) = [each for each in self.spec["volumes"] if each["name"] == name]
            self._volumes[name] = self._made(volume)
        return self._volumes[name]

    def _made(self, volume: Mapping[str, Any]) -> Path:
        if "persistentVolumeClaim" in volume:
            return self.claim(self.namespace, volume["persistentVolumeClaim"]["claimName"])
        path = self.folder / "volumes" / str(volume["name"])
        path.mkdir(parents=True)
        path.chmod(0o777 if "emptyDir" in volume else 0o755)
        if "configMap" in volume:
            self._write(path, self._config(volume["configMap"]["name"]))
        for source in volume.get("projected", {}).get("sources", ()):
            self._write(path, self._projected(source))
        return path

    def _write(self, folder: Path, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")

    def _config(self, name: str, items: Sequence[Mapping[str, str]] = ()) -> dict[str, str]:
        data = self.cluster.admin.get(ref("v1", "ConfigMap", name, self.namespace))["data"]
        paths = {each["key"]: each["path"] for each in items} or {key: key for key in data}
        return {path: self.edit(data[key]) for key, path in paths.items()}

    def _projected(self, source: Mapping[str, Any]) -> dict[str, str]:
        if "configMap" in source:
            return self._config(source["configMap"]["name"], source["configMap"].get("items", ()))
        if "downwardAPI" in source:
            return {each["path"]: self._field(each["fieldRef"]["fieldPath"]) for each in source["downwardAPI"]["items"]}
        return {source["serviceAccountToken"]["path"]: self._token()}

    def _token(self) -> str:
        """Of the pod's ServiceAccount, for this pod alone."""
        metadata = self.pod["metadata"]
        bound = {"apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "uid": metadata["uid"]}
        request = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": 3600, "boundObjectRef": bound},
        }
        account = ref("v1", "ServiceAccount", self.spec["serviceAccountName"], self.namespace)
        path = self.cluster.admin.path(account, "token")
        token: str = self.cluster.admin.request("POST", path, request)["status"]["token"]
        return token


def secret_data(secret: Manifest) -> dict[str, str]:
    """The values of a Secret as text."""
    return {key: base64.b64decode(value).decode() for key, value in (secret.get("data") or {}).items()}


def _peers(container: Mapping[str, Any]) -> list[str]:
    """The names for which the container waits. On this node all pods have one address."""
    words = container["args"][2:] if container["name"] == PEERS else []
    return [host for word in words for host in parse(word).hosts()]
