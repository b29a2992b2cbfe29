"""A closed run with its gate on the cluster: compiled, applied as Argo CD does, and the gate as a process."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from stowplan.schema.agents.gate_config import OPENED
from tests.agents.accounts import account_directory
from tests.cluster.client import Manifest, ref, wait_for
from tests.cluster.reporters import Site

API = "stowplan.dev/v1alpha1"
DATASET: Manifest = {
    **ref(API, "Dataset", "flowers"),
    "spec": {
        "source": {"s3": {"uri": "s3://samples/flowers/", "anonymous": True}},
        "volume": {"claim": {"name": "samples"}},
    },
}
TRAINING: Manifest = {
    **ref(API, "Training", "net"),
    "spec": {
        "framework": "torch",
        "image": "local/none:1",
        "numNodes": 2,
        "datasets": [{"name": "flowers", "mountPath": "/data", "wait": {}}],
    },
}


@dataclass
class Gate:
    """A running gate."""

    process: "subprocess.Popen[str]"
    folder: Path

    def events(self) -> list[dict[str, Any]]:
        """What it said so far, each line as its object."""
        text = (self.folder / "log").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def said(self, message: str) -> int:
        """How often it said this. It must be alive."""
        assert self.process.poll() is None, f"ended with {self.process.returncode}: {self.events()}"
        return sum(message in each["message"] for each in self.events())

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@dataclass
class Closed:
    """A namespace with a run that was compiled closed."""

    site: Site
    gates: list[Gate] = field(default_factory=list)

    @property
    def admin(self) -> Any:
        return self.site.cluster.admin

    def workloads(self) -> list[Manifest]:
        """The Jobs or the JobSet of the run, as they are in the cluster, in the order of their names."""
        made = [each for each in self.site.manifests if each["kind"] in ("Job", "JobSet")]
        ours = [each for each in made if "stowplan.dev/gate" in each["metadata"].get("annotations", {})]
        return [self.admin.get(each) for each in sorted(ours, key=lambda each: str(each["metadata"]["name"]))]

    def is_open(self) -> bool:
        return all(OPENED in each["metadata"]["annotations"] and not suspended(each) for each in self.workloads())

    def is_closed(self) -> bool:
        return all(suspended(each) for each in self.workloads())

    def report(self, *, ready: bool = True, run: str = "", kind: str = "Dataset", name: str = "flowers") -> None:
        """The status of the dataset, as the reporter writes it; by default about the compiled run."""
        resource = self.admin.get(ref(API, kind, name, self.site.namespace))
        (sync,) = [each for each in self.site.made("Job") if each["metadata"]["name"].startswith(f"{name}-sync-")]
        condition = {
            "type": "Ready",
            "status": "True" if ready else "False",
            "reason": "Succeeded" if ready else "Failed",
            "message": "" if ready else "The bucket is gone",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
        status = {
            "phase": "Ready" if ready else "SyncFailed",
            "run": run or sync["metadata"]["name"][-8:],
            "observedGeneration": resource["metadata"]["generation"],
            "conditions": [condition],
        }
        self.admin.patch(resource, {"status": status}, subresource="status")

    def tell(self, spec: Manifest, condition: str, **fields: str) -> None:
        """The status of another spec, as the reporter writes it: a condition that is true, and what names the run."""
        resource = self.admin.get(ref(spec["apiVersion"], spec["kind"], spec["metadata"]["name"], self.site.namespace))
        true = {"type": condition, "status": "True", "reason": "Done", "lastTransitionTime": "2026-01-01T00:00:00Z"}
        status = {**fields, "observedGeneration": resource["metadata"]["generation"], "conditions": [true]}
        self.admin.patch(resource, {"status": status}, subresource="status")

    def pods(self) -> list[Manifest]:
        """The pods of the run, but for the gate's."""
        names = {each["metadata"]["name"] for each in self.workloads()}
        keys = ("batch.kubernetes.io/job-name", "jobset.sigs.k8s.io/jobset-name")
        found = self.admin.list("v1", "Pod", self.site.namespace)
        return [pod for pod in found if names & {pod["metadata"].get("labels", {}).get(key) for key in keys}]

    def claim(self, name: str) -> None:
        """Makes a claim with a volume, so that pods that mount it can be placed."""
        spec: Manifest = {"accessModes": ["ReadWriteMany"], "storageClassName": ""}
        spec["resources"] = {"requests": {"storage": "1Gi"}}
        claim = ref("v1", "PersistentVolumeClaim", name, self.site.namespace)
        self.admin.apply({**claim, "spec": spec})
        volume = {"capacity": spec["resources"]["requests"], "hostPath": {"path": "/nowhere"}}
        volume |= {"accessModes": spec["accessModes"], "storageClassName": ""}
        volume["claimRef"] = {**{key: claim[key] for key in ("apiVersion", "kind")}, **claim["metadata"]}
        self.admin.apply({**ref("v1", "PersistentVolume", f"{self.site.namespace}-{name}"), "spec": volume})

    @contextmanager
    def gate(self, name: str = "gate") -> Iterator[Gate]:
        """The gate at work, as its pod runs it: with the compiled configuration, account and rights."""
        folder = self.site.folder / name
        folder.mkdir()
        (config,) = [each for each in self.site.made("ConfigMap") if "-gate-" in each["metadata"]["name"]]
        (folder / "config.json").write_text(config["data"]["config.json"], encoding="utf-8")
        (job,) = [each for each in self.site.made("Job") if "-gate-" in each["metadata"]["name"]]
        trust = self.site.cluster.trust
        token = self._token(job["spec"]["template"]["spec"]["serviceAccountName"])
        account = account_directory(folder / "account", token=token, authorities=trust.authority.certificate)
        address = urlsplit(trust.server)
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "KUBERNETES_SERVICE_HOST": str(address.hostname),
            "KUBERNETES_SERVICE_PORT": str(address.port),
        }
        command = [sys.executable, "-m", "stowplan.agents.gate"]
        command += [f"--config={folder / 'config.json'}", f"--service-account={account}"]
        with (folder / "log").open("w", encoding="utf-8") as log:
            process = subprocess.Popen(command, env=environment, stderr=log, stdout=log, text=True)
        started = Gate(process, folder)
        try:
            wait_for(lambda: started.said("Waiting"), what="a gate at work")
            yield started
        finally:
            started.kill()

    def _token(self, account: str) -> str:
        spec: Manifest = {"expirationSeconds": 3600}
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
        path = self.admin.path(ref("v1", "ServiceAccount", account, self.site.namespace), "token")
        token: str = self.admin.request("POST", path, request)["status"]["token"]
        return token


def suspended(found: Manifest) -> bool:
    return bool(found["spec"].get("suspend"))
