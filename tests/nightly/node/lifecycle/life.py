"""Pods of shell scripts on one node, and the records that their containers wrote."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cluster import container_image
from tests.cluster.client import Client, Manifest, ref, wait_for
from tests.nightly.node import claims
from tests.nightly.node.machine import Machine

SECONDS = 300
"""What something may take on a machine that others use too."""

ON_TERM = """
echo "$0 starts" >> /notes/notes
trap 'echo "$0 is told to end" >> /notes/notes; sleep 0.3; echo "$0 ends" >> /notes/notes; exit {code}' TERM
while :; do sleep 0.1; done
"""
"""A container that runs until SIGTERM, and ends with the code then."""
DEAF = """
trap '' TERM
echo "$0 starts" >> /notes/notes
while :; do sleep 0.1; done
"""
"""A container that SIGTERM does not end."""


def until_term(code: int = 0) -> str:
    return ON_TERM.format(code=code)


@dataclass(frozen=True)
class Life:
    """One namespace whose pods are on one node, with a folder there for the notes of its containers."""

    node: Machine
    namespace: str

    @property
    def client(self) -> Client:
        return self.node.cluster.admin

    @property
    def path(self) -> str:
        """Of the folder, on the node."""
        return f"/var/lib/lives/{self.namespace}"

    @property
    def folder(self) -> Path:
        """As the tests see it."""
        return self.node.seen(self.path)

    def claim(self, name: str) -> Path:
        """A claim that is bound, for all users; gives its folder."""
        folder = claims.volume(self.node, self.namespace, name)
        folder.chmod(0o777)
        self.client.create({**ref("v1", "PersistentVolumeClaim", name, self.namespace), **claims.template()})
        return folder

    def notes(self) -> list[str]:
        """What the containers wrote, in the order in which they did."""
        path = self.folder / "notes"
        return path.read_text(encoding="ascii").splitlines() if path.exists() else []

    def await_note(self, note: str, times: int = 1) -> None:
        wait_for(lambda: self.notes().count(note) >= times, SECONDS, what=f"{note!r} among {self.notes()}")

    def pod(self, **fields: Any) -> Manifest:
        """Create a pod with the fields of `template`."""
        return self.create(self.template(**fields))

    def create(self, template: Manifest) -> Manifest:
        """Create a pod from a template."""
        return self.client.create({**ref("v1", "Pod", "pod", self.namespace), **template})

    def job(self, template: Manifest, **spec: Any) -> Manifest:
        job = {**ref("batch/v1", "Job", "job", self.namespace), "spec": {"template": template, **spec}}
        return self.client.create(job)

    def template(
        self, containers: Mapping[str, str], sidecars: Mapping[str, str] | None = None, grace: int = 20, **spec: Any
    ) -> Manifest:
        """A pod template: scripts by the names of their containers, which find their name in `$0`."""
        sidecar = {"restartPolicy": "Always"}
        return {
            "spec": {
                "nodeSelector": {"kubernetes.io/hostname": self.node.name},
                "restartPolicy": "Never",
                "terminationGracePeriodSeconds": grace,
                "automountServiceAccountToken": False,
                "volumes": [{"name": "notes", "hostPath": {"path": self.path}}],
                "initContainers": [_container(*each) | sidecar for each in (sidecars or {}).items()],
                "containers": [_container(*each) for each in containers.items()],
                **spec,
            }
        }

    def pods(self, job: str = "job") -> list[Manifest]:
        """The pods of a Job, oldest first."""
        pods = self.client.list("v1", "Pod", self.namespace, f"batch.kubernetes.io/job-name={job}")
        return sorted(pods, key=lambda pod: str(pod["metadata"]["creationTimestamp"]))

    def end_by_deadline(self, pod_or_job: Manifest, *started: str) -> None:
        """Give a pod or Job a deadline that has passed, once these containers have started.

        On a busy machine a deadline that is there from the beginning may be over before they start.
        """
        for name in started:
            self.await_note(f"{name} starts")
        self.client.patch(pod_or_job, {"spec": {"activeDeadlineSeconds": 1}})

    def await_phase(self, pod: Manifest, phase: str) -> Manifest:
        """Wait until the pod has ended, and give it as it was seen first then; it must have ended in this phase."""
        ended = wait_for(lambda: self._ended(pod), SECONDS, what="end of the pod")
        assert ended["status"]["phase"] == phase, ended["status"]
        return ended

    def _ended(self, pod: Manifest) -> Manifest | None:
        live = self.client.get(pod)
        return live if live["status"]["phase"] in ("Succeeded", "Failed") else None

    def await_condition(self, job: Manifest, condition: str) -> Manifest:
        """Wait until the Job has the condition; gives the condition."""

        def found() -> Manifest | None:
            conditions = self.client.get(job).get("status", {}).get("conditions", [])
            return next((each for each in conditions if (each["type"], each["status"]) == (condition, "True")), None)

        return wait_for(found, SECONDS, what=condition)


def _container(name: str, script: str) -> Manifest:
    return {
        "name": name,
        "image": container_image.NAME,
        "imagePullPolicy": "Never",
        "command": ["/bin/sh", "-c", script, name],
        "volumeMounts": [{"name": "notes", "mountPath": "/notes"}],
    }


def ends(pod: Manifest) -> dict[str, int]:
    """The last exit code of each container that has ended, sidecars too."""
    status = pod["status"]
    found = {}
    for each in [*status.get("initContainerStatuses", []), *status.get("containerStatuses", [])]:
        ended = each["state"].get("terminated")
        if ended:
            found[each["name"]] = ended["exitCode"]
    return found
