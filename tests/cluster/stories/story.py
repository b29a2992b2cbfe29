"""A story: compiled objects on a cluster, its steps, and the visible state after each step."""

import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.cluster import sync
from tests.cluster.attendants import end
from tests.cluster.client import Manifest, ref, wait_for
from tests.cluster.control_plane import Cluster
from tests.cluster.stories.playing import Playing, held, playing
from tests.cluster.stories.telling import account, masked, table

QUIET = 1.0
"""Seconds in which nothing may change before a step is told."""

_STAYS = {"CustomResourceDefinition", "Namespace"}
_RUN = re.compile(r"-([a-z2-7]{8})(-\d+)?$")
_OURS = {"SampleSet", "SampleJob", "PaddleJob", "TrainingJob", "MxJob", "DataCube"}


@dataclass
class Story:
    """One namespace from the first sync on."""

    cluster: Cluster
    namespace: str
    pods: Playing
    steps: list[str] = field(default_factory=list)
    manifests: list[Manifest] = field(default_factory=list)
    """All that was ever applied, once each."""
    _told_before: dict[tuple[str, str], str] = field(default_factory=dict)

    def apply(self, manifests: Iterable[Manifest]) -> None:
        """Sync; what the pods mount is there."""
        wanted = [held(each) for each in manifests]
        self._claims(wanted)
        known = {_key(each) for each in self.manifests}
        applied = sync.apply(self.cluster.admin, wanted)
        new = [each for each in applied if _key(each) not in known]
        # The sync goes by names, and so by hashes that differ each time: `-warmup-0` may come before or after one.
        self.manifests += sorted(new, key=lambda each: _RUN.sub("", each["metadata"]["name"]) if _is_run(each) else "")

    def _claims(self, wanted: list[Manifest]) -> None:
        """A volume for each claim that has none, and a claim for each that somebody else should have made."""
        made = {each["metadata"]["name"]: each for each in wanted if each["kind"] == "PersistentVolumeClaim"}
        named = set(_claims(wanted))
        for name in sorted(named | set(made)):
            if name not in made:
                spec = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}}
                claim = ref("v1", "PersistentVolumeClaim", name, self.namespace)
                self._make({**claim, "spec": {**spec, "storageClassName": ""}})
            elif not made[name]["spec"].get("volumeName"):
                self._make(volume(made[name], self.namespace))
            if name not in made:
                self._make(volume({**claim, "spec": {**spec, "storageClassName": ""}}, self.namespace))
            self.pods.claims.setdefault(name, _folder(self.pods.folder / f"claim-{name}"))

    def _make(self, manifest: Manifest) -> None:
        self.cluster.admin.apply(manifest)
        if _key(manifest) not in {_key(each) for each in self.manifests}:
            self.manifests.append(manifest)

    def until(self, holds: Callable[[], Any], timeout: float = 60, *, what: str = "condition") -> Any:
        """Let everything go on until something holds."""

        def asked() -> Any:
            self.pods.turn()
            return holds()

        try:
            return wait_for(asked, timeout, what=what)
        except TimeoutError as error:
            raise TimeoutError(f"{error}\n{self.told()}\n{self.pods.said()}") from None

    def status(self, kind: str, name: str) -> dict[str, Any]:
        """The present status."""
        found: dict[str, Any] = self.live(kind, name).get("status") or {}
        return found

    def live(self, kind: str, name: str) -> Manifest:
        """A resource as the server has it."""
        (body,) = (each for each in self.manifests if (each["kind"], each["metadata"]["name"]) == (kind, name))
        return self.cluster.admin.get(body)

    def reaches(self, kind: str, name: str, seconds: float, **fields: Any) -> None:
        """Wait until a status has these fields; a condition is given by its reason."""

        def holds() -> bool:
            status = self.status(kind, name)
            told = {each["type"]: each["reason"] for each in status.get("conditions") or ()}
            return all({**status, **told}.get(key) == value for key, value in fields.items())

        self.until(holds, seconds, what=f"{kind} {name} with {fields}")

    def step(self, title: str, kind: str, name: str, **fields: Any) -> None:
        """Wait until a status has these fields, and tell how all looks then; a condition is given by its reason."""
        self.reaches(kind, name, 90, **fields)
        self.steps.append(f"## {title}\n\n{self._quiet()}")
        self._told_before = self._accounts()

    def _quiet(self) -> str:
        """What there is to tell, once it stays as it is."""
        since, text = time.monotonic(), ""

        def stays() -> bool:
            nonlocal since, text
            if (now := self.told()) != text:
                since, text = time.monotonic(), now
            return time.monotonic() - since > QUIET

        self.until(stays, what="a quiet moment")
        return text

    def told(self) -> str:
        """Tables of all kinds of ours, and accounts of all resources that were not told of in these words before."""
        tables, accounts = self._tables(), self._accounts()
        news = [text for key, text in accounts.items() if self._told_before.get(key) != text]
        return "\n".join([*tables, *news])

    def _ours(self) -> list[Manifest]:
        found = [each for each in self.manifests if each["kind"] in _OURS]
        return sorted(found, key=_key)

    def _tables(self) -> list[str]:
        kinds = {each["kind"]: each for each in self._ours()}
        admin = self.cluster.admin
        return [self._text(f"$ kubectl get {kind.lower()}", *table(admin, each)) for kind, each in kinds.items()]

    def _accounts(self) -> dict[tuple[str, str], str]:
        return {_key(each): self._text(*account(self.cluster.admin.get(each))) for each in self._ours()}

    def _text(self, *lines: str) -> str:
        return masked("\n".join(lines) + "\n", self.pods.names, self.runs())

    def runs(self) -> list[str]:
        """The hashes at the ends of the names of Jobs, oldest first."""
        found = [_RUN.search(each["metadata"]["name"]) for each in self.manifests if _is_run(each)]
        return list(dict.fromkeys(each[1] for each in found if each))

    def told_by_now(self) -> str:
        """The whole story."""
        return "\n".join(self.steps)

    def users_pods(self, name: str, role: str = "worker", run: str = "") -> list[Manifest]:
        """Of one role of a training job, by index."""
        labels = f"stowplan.dev/name={name},stowplan.dev/role={role}" + (f",stowplan.dev/run-hash={run}" if run else "")
        found = self.cluster.admin.list("v1", "Pod", self.namespace, labels)
        return sorted(found, key=lambda each: str(each["metadata"]["name"]))

    def end(self, pods: Iterable[Manifest], exit_code: int = 0) -> None:
        """Let pods of users end."""
        for pod in pods:
            end(self.cluster, pod, exit_code)

    def patch_status(self, pod: Manifest, status: Manifest) -> None:
        """As a kubelet or the node controller."""
        self.cluster.admin.patch(pod, {"status": status}, subresource="status")


@contextmanager
def telling(cluster: Cluster, namespace: str, folder: Path, **how: Any) -> Iterator[Story]:
    """A story in this namespace, of which nothing stays; `how` are fields of `Playing`."""
    cluster.namespace(namespace, "privileged")
    with playing(cluster, namespace, folder / "pods", **how) as pods:
        story = Story(cluster, namespace, pods)
        try:
            yield story
        finally:
            going = [each for each in story.manifests if each["kind"] not in _STAYS]
            sync.remove(cluster.admin, going)
            cluster.release_namespace(namespace)


def _is_run(manifest: Manifest) -> bool:
    return manifest["kind"] in {"Job", "JobSet"}


def _key(manifest: Manifest) -> tuple[str, str]:
    return manifest["kind"], manifest["metadata"]["name"]


def _claims(value: Any) -> Iterator[str]:
    """The names of all claims that pods mount."""
    if isinstance(value, list):
        for each in value:
            yield from _claims(each)
    elif isinstance(value, dict):
        if name := (value.get("persistentVolumeClaim") or {}).get("claimName"):
            yield name
        for each in value.values():
            yield from _claims(each)


def volume(claim: Manifest, namespace: str) -> Manifest:
    """A PersistentVolume for a claim."""
    name = claim["metadata"]["name"]
    spec = {
        "accessModes": claim["spec"]["accessModes"],
        "capacity": {"storage": claim["spec"]["resources"]["requests"]["storage"]},
        "storageClassName": claim["spec"].get("storageClassName", ""),
        "hostPath": {"path": "/nowhere"},
        "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": namespace, "name": name},
    }
    return {**ref("v1", "PersistentVolume", f"{namespace}-{name}"), "spec": spec}


def _folder(path: Path) -> Path:
    path.mkdir(exist_ok=True)
    return path
