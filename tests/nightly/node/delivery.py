"""A user's repository that Argo CD brings to the place, and what the cluster shows of it."""

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.absent import skip
from tests.cluster.binaries import Missing, obtain
from tests.cluster.client import Manifest, ref, wait_for
from tests.cluster.git_server import serving
from tests.cluster.shared import load_one
from tests.cluster.tools import ARGOCD
from tests.nightly.argocd import argocd
from tests.nightly.argocd.argocd import ArgoCD, Programs
from tests.nightly.argocd.user_repository import UserRepository
from tests.nightly.node.place import Place
from tests.nightly.node.telling import account, masked, table

NAMESPACE = "argocd"
STOWPLAN = "stowplan.dev/v1alpha1"
"""Group and version of Dataset and Training."""
SECONDS = 300
"""What a step may take on a machine that others use too."""
QUIET = 10
"""Seconds in which nothing may change before a step is told: Argo CD looks every 5 s."""

_RUN = re.compile(r"-([a-z2-7]{8})(-\d+)?$")
"""The hash at the end of a Job's name."""
_STORE = re.compile(r"\b198\.1[89]\.0\.1:\d+")
"""What the tests serve to pods; its port is another one each time."""


@dataclass
class Delivery:
    """Specs in Git, Argo CD, and the steps that were told."""

    place: Place
    repository: UserRepository
    url: str
    """Of the repository, as Argo CD reaches it."""
    argocd: ArgoCD
    platform: dict[str, Any]
    """Its next state is that of the next commit."""
    steps: list[str] = field(default_factory=list)
    _named: dict[tuple[str, str], Manifest] = field(default_factory=dict)

    def commit(self, *documents: Manifest) -> None:
        """Compile these specs with those of before, push all, and wait until Argo CD has synced it."""
        self._name(documents)
        self.repository.write("stowplan.yaml", yaml.safe_dump(self.platform))
        self.repository.write("specs/specs.yaml", yaml.safe_dump_all(self._named.values()))
        self.push()

    def push(self, *specs: Manifest) -> None:
        """Compile the repository as its files are, which have these specs too, push all, and wait for Argo CD."""
        done = self.repository.synth()
        assert done.returncode == 0, done.stdout + done.stderr
        self.sync(*specs)

    def sync(self, *specs: Manifest) -> None:
        """Push the repository as its files are, which have these specs too and their output, and wait for Argo CD."""
        self._name(specs)
        revision = self.repository.commit()
        if not self.argocd.applications():
            for name in ("argocd-cm.patch.txt", "argocd/root-project.yaml", "argocd/root.yaml"):
                # Version 0.1.0 wrote no project.
                if (path := self.repository.out / name).exists():
                    self.place.cluster.admin.apply(load_one(path), manager="admin")
        applications = self.repository.manifests("argocd", "Application")
        self.argocd.await_sync(revision, {each["metadata"]["name"] for each in applications})

    def _name(self, specs: Sequence[Manifest]) -> None:
        for each in specs:
            self._named[each["kind"], each["metadata"]["name"]] = each

    def reaches(self, spec: Manifest, seconds: float = SECONDS, **fields: Any) -> None:
        """Wait until the status of a spec has these fields; a condition is given by its reason."""

        self._await(spec, lambda: self._has(spec, fields), seconds, str(fields))

    def tells(self, spec: Manifest, health: str, seconds: float, **fields: Any) -> None:
        """Wait until the status of a spec has these fields, as for `reaches`, and Argo CD holds this health of it."""
        told = f"{health} and {fields}"
        self._await(spec, lambda: self._has(spec, fields) and self.health(spec) == health, seconds, told)

    def _has(self, spec: Manifest, fields: Mapping[str, Any]) -> bool:
        status = self.live(spec).get("status") or {}
        conditions = {each["type"]: each["reason"] for each in status.get("conditions") or ()}
        return all({**status, **conditions}.get(key) == value for key, value in fields.items())

    def _await(self, spec: Manifest, holds: Callable[[], bool], seconds: float, what: str) -> None:
        try:
            wait_for(holds, seconds, what=f"{spec['kind']} {spec['metadata']['name']} with {what}")
        except TimeoutError as error:
            told = self.place.kubectl("get", "events,pods", "-A", "-o", "wide")
            status = self.live(spec).get("status")
            raise AssertionError(f"{error}, but {self.health(spec)} and {status}\n{told}") from None

    def health(self, spec: Manifest) -> str:
        """What Argo CD holds of a spec."""
        named = (spec["kind"], spec["metadata"]["name"])
        resources = [each for app in self.argocd.applications().values() for each in app["status"].get("resources", ())]
        found = [each.get("health", {}) for each in resources if (each["kind"], each["name"]) == named]
        return "".join(str(each.get("status", "")) for each in found)

    def live(self, spec: Manifest) -> Manifest:
        return self.place.cluster.admin.get(spec)

    def settle(self) -> None:
        """Wait until Argo CD holds everything healthy."""
        for name in self.argocd.applications():
            self.argocd.await_health(name, "Healthy")

    def tell(self, title: str, log: str = "", *, healthy: bool = True) -> None:
        """Tables, phases, conditions and health once all is healthy and stays as it is, and those of Argo CD.

        A log comes after them.
        """
        if healthy:
            self.settle()
        since, text = time.monotonic(), ""

        def stays() -> bool:
            nonlocal since, text
            if (now := self._told()) != text:
                since, text = time.monotonic(), now
            return time.monotonic() - since > QUIET

        wait_for(stays, SECONDS, what="a quiet moment")
        blocks = [f"```text\n{each}\n```\n" for each in (text, log) if each]
        self.steps.append("\n".join([f"## {title}\n", *blocks]))

    def _told(self) -> str:
        admin = self.place.cluster.admin
        kinds = {each["kind"]: each for each in self._named.values()}
        lines = []
        for kind, each in kinds.items():
            lines += [f"$ kubectl get {kind.lower()}", *table(admin, each), ""]
        for each in self._named.values():
            lines += account(self.live(each))
        lines += ["", *self._pods(), ""]
        for name, found in sorted(self.argocd.applications().items()):
            status = found["status"]
            lines.append(f"Application {name}: {status['sync']['status']}, {status['health']['status']}")
        return self._masked(lines)

    def _pods(self) -> list[str]:
        """What each pod came to, by the spec and the component that it is of."""
        return sorted(f"pod of {_part(each)}: {each['status']['phase']}{_codes(each)}" for each in self.pods())

    def pods(self, labels: str = "stowplan.dev/name") -> list[Manifest]:
        return self.place.cluster.admin.list("v1", "Pod", self.namespace, labels)

    def log(self, labels: str, container: str) -> list[str]:
        """Sorted lines that a container has printed in all pods with these labels."""
        words = (
            "logs",
            f"--namespace={self.namespace}",
            f"--selector={labels}",
            f"--container={container}",
            "--tail=-1",
            # Of a container that has not started.
            "--ignore-errors",
        )
        return sorted(self.place.kubectl(*words).splitlines())

    @property
    def namespace(self) -> str:
        """Of all specs."""
        (found,) = {each["metadata"]["namespace"] for each in self._named.values()}
        return str(found)

    def _masked(self, lines: list[str]) -> str:
        names = [each["metadata"]["name"] for each in self.pods("")]
        text = _STORE.sub("<address>", masked("\n".join(lines), names, ()))
        for each in self.place.cluster.admin.list("batch/v1", "Job", self.namespace):
            if found := _RUN.search(each["metadata"]["name"]):
                text = text.replace(found[1], "<run>")
        for each in self._named.values():
            if run := (self.live(each).get("status") or {}).get("run"):
                text = text.replace(run, "<run>")
        return text


def _part(pod: Manifest) -> str:
    labels = pod["metadata"]["labels"]
    return f"{labels['stowplan.dev/name']} {labels['app.kubernetes.io/component']}"


def _codes(pod: Manifest) -> str:
    lists = ("initContainerStatuses", "containerStatuses")
    found = [each for kind in lists for each in pod["status"].get(kind, ())]
    ended = [
        f"{each['name']} {each['state']['terminated']['exitCode']}" for each in found if "terminated" in each["state"]
    ]
    return f" ({', '.join(ended)})" if ended else ""


@contextmanager
def delivering(place: Place, programs: Programs, platform: Mapping[str, Any], folder: Path) -> Iterator[Delivery]:
    """Argo CD beside the place, and an empty repository, whose commits have this platform and where it is."""
    folder.mkdir()
    repository = UserRepository.create(folder, folder / "user.git")
    with serving(folder) as base, argocd.running(place.cluster, NAMESPACE, programs, folder) as running:
        url = f"{base}/user.git"
        own = {"repoURL": url, "targetRevision": "main", "path": "out", "namespace": NAMESPACE}
        settings = {**platform, "argocd": {**platform.get("argocd", {}), **own}}
        yield Delivery(place, repository, url, running, settings)


def needed() -> Programs:
    """What Argo CD consists of; the test is skipped where it cannot be had."""
    controllers, redis = obtain(ARGOCD), argocd.redis_server()
    if isinstance(controllers, Missing):
        skip(str(controllers))
    if redis is None:
        skip("no redis-server on this machine")
    return Programs(controllers.paths["argocd-controllers"], redis)


def secret(namespace: str, name: str, values: Mapping[str, str]) -> Manifest:
    return {**ref("v1", "Secret", name, namespace), "stringData": dict(values)}
