"""The agents of a namespace as processes, on nodes that KWOK plays.

Other containers are played: they succeed at once. So does the wait for peers, since these pods have no addresses. Every
pod of the namespace is held (`stages.yaml`) until its agents' containers have ended. The end of init containers and the
readiness of containers are played too.
"""

import os
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from stowplan.agents.reporter.objects.workloads import PEERS
from tests.agents.pods import IMAGE
from tests.cluster.attendants import EXIT_CODE, HOLD
from tests.cluster.client import Manifest, ref
from tests.cluster.control_plane import Cluster
from tests.cluster.pod_programs import Program

_PAUSE = 0.3
_GRACE = 20
"""Seconds between the request to end and the kill."""


@dataclass
class PodProcesses:
    """The agents of one namespace."""

    cluster: Cluster
    namespace: str
    folder: Path
    claims: Mapping[str, Path]
    """Where the volumes of claims are mounted on this machine."""
    programs: Path
    """Folder of the programs that the image of the agents has beside Python."""
    threads: dict[str, threading.Thread] = field(default_factory=dict)
    ended: threading.Event = field(default_factory=threading.Event)
    faults: list[str] = field(default_factory=list)

    def watch(self) -> None:
        """Run the agents of new pods until the end is called for."""
        while not self.ended.wait(_PAUSE):
            for pod in self.cluster.admin.list("v1", "Pod", self.namespace):
                uid = pod["metadata"]["uid"]
                if uid not in self.threads and pod.get("status", {}).get("phase") == "Running":
                    self.threads[uid] = threading.Thread(target=self._attend, args=[pod], name=pod["metadata"]["name"])
                    self.threads[uid].start()

    def said(self) -> str:
        """What the agents said so far."""
        return "\n".join(f"{log.parent.name}:\n{log.read_text()}" for log in sorted(self.folder.glob("*/log")))

    def _attend(self, pod: Manifest) -> None:
        """All containers of a pod, one after the other, up to the first that fails."""
        try:
            spec = pod["spec"]
            codes = (self._run(pod, each) for each in (*spec.get("initContainers", ()), *spec["containers"]))
            code = next((code for code in codes if code), 0)
            if self._present(pod):
                changes: Manifest = {"metadata": {"annotations": {HOLD: None, EXIT_CODE: str(code)}}}
                self.cluster.admin.patch(pod, changes)
        except Exception as error:
            if self._present(pod):
                self.faults.append(f"{pod['metadata']['name']}: {error!r}")

    def _run(self, pod: Manifest, container: Manifest) -> int:
        """Run a container of ours to its end, or to that of its pod; gives its exit code."""
        if not IMAGE.search(container["image"]) or container["name"] == PEERS:
            return 0
        folder = self.folder / f"{pod['metadata']['name']}-{container['name']}"
        folder.mkdir()
        path = {"PATH": f"{self.programs}:{os.environ['PATH']}"}
        process = Program(self.cluster, pod, container, folder, claims=self.claims, environment=path).start()
        try:
            while process.poll() is None and not self.ended.wait(_PAUSE) and self._present(pod):
                pass
            process.terminate()
            return process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()

    def _present(self, pod: Manifest) -> bool:
        live = self.cluster.admin.find(pod)
        return (
            live is not None
            and live["metadata"]["uid"] == pod["metadata"]["uid"]
            and "deletionTimestamp" not in live["metadata"]
        )


@contextmanager
def attended(
    cluster: Cluster, namespace: str, folder: Path, claims: Mapping[str, Path], programs: Path
) -> Iterator[PodProcesses]:
    """Holds every new pod of the namespace and runs its agents. None outlives the block."""
    for manifest in _holding(namespace):
        cluster.admin.apply(manifest, manager="harness")
    found = PodProcesses(cluster, namespace, folder, claims, programs)
    watching = threading.Thread(target=found.watch, name="pods")
    watching.start()
    try:
        yield found
    finally:
        found.ended.set()
        for thread in (watching, *found.threads.values()):
            thread.join()
        for manifest in _holding(namespace):
            cluster.admin.delete(manifest)
    assert not found.faults, found.faults


def _holding(namespace: str) -> tuple[Manifest, Manifest]:
    """A policy by which the server itself gives pods the annotation that holds them, and where it counts."""
    api, name = "admissionregistration.k8s.io/v1", f"hold-{namespace}"
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    annotated = f'Object{{metadata: Object.metadata{{annotations: {{"{HOLD}": "true"}}}}}}'
    policy = {
        **ref(api, "MutatingAdmissionPolicy", name),
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
                "resourceRules": [rule],
            },
            "mutations": [
                {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": annotated}},
            ],
            "reinvocationPolicy": "Never",
        },
    }
    return policy, {**ref(api, "MutatingAdmissionPolicyBinding", name), "spec": {"policyName": name}}
