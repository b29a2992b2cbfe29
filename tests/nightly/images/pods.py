"""Containers of the agents in compiled pods, and their start as by a kubelet."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from stowplan.schema.agents.agent_config import CONFIG_DIRECTORY
from tests.nightly.images.podman import LIMITS
from tests.repositories import REPOSITORY

OUT = REPOSITORY / "out"
IMAGE = re.compile(r"/stowplan-(\w+)[:@]")
FIELDS = {
    "metadata.annotations['batch.kubernetes.io/job-completion-index']": "0",
    "metadata.name": "pod-0",
    "spec.nodeName": "node",
    "status.podIP": "127.0.0.1",
}
"""Fields of the pod that agents are told, other than its labels."""
LABEL = re.compile(r"metadata\.labels\['(.+)'\]")
UNITS = {"Mi": 2**20, "Gi": 2**30}


@dataclass(frozen=True)
class AgentContainer:
    """A container of one of our agents, in its pod."""

    path: Path
    """The file of the object that has the pod."""
    labels: Mapping[str, str]
    """Of the pod, as written; Kubernetes adds others."""
    spec: Mapping[str, Any]
    """Of the pod."""
    container: Mapping[str, Any]

    @property
    def image(self) -> str:
        """The part of the name that is ours, which is a target of the Containerfile."""
        found = IMAGE.search(self.container["image"])
        assert found is not None
        return found[1]

    @property
    def command(self) -> list[str]:
        return [*self.container["command"], *self.container.get("args", ())]

    @property
    def config_volume(self) -> str | None:
        """The name of the volume with the configuration, if the program has one."""
        mounts = self.container.get("volumeMounts", ())
        names = [each["name"] for each in mounts if each["mountPath"] == CONFIG_DIRECTORY]
        return names[0] if names else None

    def config(self) -> str:
        """The text of the configuration that the pod mounts."""
        (volume,) = [each for each in self.spec["volumes"] if each["name"] == self.config_volume]
        documents = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in self.path.parent.glob("configmap-*")]
        (data,) = [each["data"] for each in documents if each["metadata"]["name"] == volume["configMap"]["name"]]
        return str(data["config.json"])

    def arguments(self, folders: Mapping[str, Path], variables: Mapping[str, str]) -> list[str]:
        """Options of `podman run`: user, rights, limits, variables and volumes of the container.

        `folders` stand for the volumes of these names; `variables` take the place of those that the pod has.
        """
        security = {**self.spec.get("securityContext", {}), **self.container["securityContext"]}
        limits = self.container["resources"]["limits"]
        assert security["readOnlyRootFilesystem"]
        assert not security["allowPrivilegeEscalation"]
        assert security["seccompProfile"] == {"type": "RuntimeDefault"}, "what podman has by default"
        return [
            f"--user={security['runAsUser']}:{security['runAsGroup']}",
            "--read-only",
            "--read-only-tmpfs=false",
            "--security-opt=no-new-privileges",
            *(f"--cap-drop={each}" for each in security["capabilities"]["drop"]),
            *([f"--group-add={security['fsGroup']}"] if "fsGroup" in security else []),
            f"--memory={bytes_of(limits['memory'])}b",
            f"--cpus={_cpus(limits['cpu'])}",
            "--network=host",
            *LIMITS,
            *(f"--env={name}={value}" for name, value in {**dict(self._variables()), **variables}.items()),
            *self._volumes(folders),
        ]

    def _variables(self) -> Iterator[tuple[str, str]]:
        """Those that the pod's Secret may lack are not there."""
        for each in self.container["env"]:
            source = each.get("valueFrom", {})
            if "fieldRef" in source:
                yield each["name"], self._field(source["fieldRef"]["fieldPath"])
            elif not source.get("secretKeyRef", {}).get("optional"):
                yield each["name"], each.get("value", "")

    def _field(self, path: str) -> str:
        """Labels that Kubernetes adds name the object."""
        label = LABEL.fullmatch(path)
        return self.labels.get(label[1], self.path.stem) if label else FIELDS[path]

    def _volumes(self, folders: Mapping[str, Path]) -> Iterator[str]:
        for mount in self.container.get("volumeMounts", ()):
            path, name = mount["mountPath"], mount["name"]
            volume = self._volume(mount)
            if "emptyDir" in volume:
                # A directory on the node's disk, which everybody may write to.
                limit = volume["emptyDir"].get("sizeLimit")
                yield f"--tmpfs={path}:rw,exec,mode=0777{f',size={bytes_of(limit)}' if limit else ''}"
            else:
                access = "ro" if mount.get("readOnly") else "rw"
                yield f"--volume={folders[name]}:{path}:{access}"

    def _volume(self, mount: Mapping[str, Any]) -> Mapping[str, Any]:
        (volume,) = [each for each in self.spec["volumes"] if each["name"] == mount["name"]]
        return volume  # type: ignore[no-any-return]


def agent_containers(folder: Path = OUT) -> list[AgentContainer]:
    """All of a compiled repository, or of all examples."""
    return [each for path in sorted(folder.rglob("*.yaml")) if "crds" not in path.parts for each in _of_file(path)]


def _of_file(path: Path) -> Iterator[AgentContainer]:
    text = path.read_text(encoding="utf-8")
    if IMAGE.search(text) is None:
        return
    for template in _templates(yaml.load(text, Loader=yaml.CSafeLoader)):
        spec = template["spec"]
        for container in (*spec.get("initContainers", ()), *spec["containers"]):
            if IMAGE.search(container["image"]):
                yield AgentContainer(path, template.get("metadata", {}).get("labels", {}), spec, container)


def _templates(value: Any) -> Iterator[Mapping[str, Any]]:
    """Those of pods, wherever they are: in Jobs, CronJobs, JobSets, StatefulSets."""
    if isinstance(value, dict):
        if isinstance(value.get("spec"), dict) and "containers" in value["spec"]:
            yield value
        for each in value.values():
            yield from _templates(each)
    elif isinstance(value, list):
        for each in value:
            yield from _templates(each)


def bytes_of(quantity: str) -> int:
    """Of an amount of memory."""
    return int(quantity[:-2]) * UNITS[quantity[-2:]]


def _cpus(quantity: str) -> float:
    return int(quantity[:-1]) / 1000 if quantity.endswith("m") else float(quantity)
