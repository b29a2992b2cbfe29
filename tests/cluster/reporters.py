"""The reporter as a process, with the compiled rights and configuration of its namespace."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from stowplan.library.delivery.reporter import NAME
from tests.agents.accounts import account_directory
from tests.cluster import sync
from tests.cluster.client import Manifest, ref, wait_for
from tests.cluster.control_plane import Cluster
from tests.repositories import compiled

HOLD, EXIT_CODE = "kwok.stowplan.dev/hold", "kwok.stowplan.dev/exit-code"


@dataclass
class Reporter:
    """A running reporter."""

    process: "subprocess.Popen[str]"
    folder: Path

    def events(self) -> list[dict[str, Any]]:
        """What it said so far, each line as its object."""
        text = (self.folder / "log").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def said(self, message: str, **fields: Any) -> int:
        """How often it said this."""
        return sum(message in each["message"] and fields.items() <= each.items() for each in self.events())

    def memory(self) -> int:
        """The most that it ever had in memory, in bytes."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii").splitlines()
        (line,) = (line for line in lines if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@dataclass
class Site:
    """A namespace with compiled specs, and the reporters that run for it."""

    cluster: Cluster
    namespace: str
    folder: Path
    manifests: list[Manifest] = field(default_factory=list)

    def apply(self, specs: Sequence[Manifest], platform: Manifest | None = None) -> list[Manifest]:
        """Compiles specs and applies what comes of them; objects of before stay."""
        self.manifests = sync.apply(self.cluster.admin, self.compile(specs, platform))
        return self.manifests

    def compile(self, specs: Sequence[Manifest], platform: Manifest | None = None) -> list[Manifest]:
        """What specs compile to, but for the reporter's Deployment."""
        given = {"kind": "Platform", "defaultNamespace": self.namespace, "images": {"registry": "r", "tag": "1"}}
        documents = [{**given, **(platform or {})}, *specs]
        repo = self.folder / f"repo-{len(list(self.folder.iterdir()))}"
        repo.mkdir()
        result = compiled(repo, {"specs.yaml": yaml.safe_dump_all(documents)})
        assert not result.errors, result.errors
        bodies = [output.manifest.body for output in result.outputs]
        return [each for each in bodies if each["kind"] != "Deployment"]

    def compile_held(self, specs: Sequence[Manifest], platform: Manifest | None = None) -> list[Manifest]:
        """What specs of kinds without templates compile to, but all pods run until they are told to end."""
        compiled_objects = self.compile(specs, platform)
        for each in compiled_objects:
            roles = each["spec"]["replicatedJobs"] if each["kind"] == "JobSet" else [{"template": each}]
            for role in roles if each["kind"] in {"Job", "JobSet"} else ():
                metadata = role["template"]["spec"]["template"]["metadata"]
                metadata["annotations"] = {**metadata.get("annotations", {}), HOLD: "true"}
        return compiled_objects

    def made(self, kind: str) -> list[Manifest]:
        """Of the last `apply`."""
        return [each for each in self.manifests if each["kind"] == kind]

    def token(self) -> str:
        request = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": 3600},
        }
        path = self.cluster.admin.path(ref("v1", "ServiceAccount", NAME, self.namespace), "token")
        token: str = self.cluster.admin.request("POST", path, request)["status"]["token"]
        return token

    def start(self, name: str = "reporter", server: str = "", **variables: str) -> Reporter:
        """Starts a reporter with more variables, which somebody has to end."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        found = [each for each in self.made("ConfigMap") if each["metadata"]["name"].startswith(NAME)]
        (folder / "config.json").write_text(found[0]["data"]["config.json"], encoding="utf-8")
        trust = self.cluster.trust
        account = account_directory(folder / "account", token=self.token(), authorities=trust.authority.certificate)
        address = urlsplit(server or trust.server)
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "KUBERNETES_SERVICE_HOST": str(address.hostname),
            "KUBERNETES_SERVICE_PORT": str(address.port),
            **variables,
        }
        command = [sys.executable, "-m", "stowplan.agents.reporter"]
        command += [f"--config={folder / 'config.json'}", f"--service-account={account}"]
        with (folder / "log").open("a", encoding="utf-8") as log:
            process = subprocess.Popen(command, env=environment, stderr=log, stdout=log, text=True)
        return Reporter(process, folder)

    @contextmanager
    def reporter(self, name: str = "reporter", server: str = "", **variables: str) -> Iterator[Reporter]:
        """A reporter at work, which ends with the block as the kubelet ends one."""
        started = self.start(name, server, **variables)
        try:
            wait_for(lambda: started.said("All objects are known"), what="a reporter at work")
            yield started
        finally:
            started.process.send_signal(signal.SIGTERM)
            try:
                code = started.process.wait(20)
            except subprocess.TimeoutExpired:
                started.kill()
                raise
        assert code == 0
        assert not started.said("A fault of this program"), started.events()

    def status(self, kind: str, name: str) -> dict[str, Any]:
        """The present status; empty where there is none."""
        (body,) = (each for each in self.made(kind) if each["metadata"]["name"] == name)
        found: dict[str, Any] = self.cluster.admin.get(body).get("status") or {}
        return found

    def until(self, kind: str, name: str, timeout: float = 60, **fields: Any) -> dict[str, Any]:
        """Waits until the status has these fields; a condition is given by its type and its reason."""
        last: list[dict[str, Any]] = [{}]

        def asked() -> bool:
            last[0] = status = self.status(kind, name)
            told = {each["type"]: each["reason"] for each in status.get("conditions") or ()}
            return all(({**status, **told}).get(key) == value for key, value in fields.items())

        try:
            wait_for(asked, timeout, what=str(fields))
        except TimeoutError as error:
            raise TimeoutError(f"{error}, but {last[0]}") from None
        return last[0]

    def pods(self, name: str) -> list[Manifest]:
        """Of a spec, oldest first."""
        found = self.cluster.admin.list("v1", "Pod", self.namespace, f"stowplan.dev/name={name}")
        return sorted(found, key=lambda each: str(each["metadata"]["name"]))

    def end(self, name: str, exit_code: int = 0) -> None:
        """Lets the pods of a spec end that are held."""
        for pod in self.pods(name):
            self.cluster.admin.patch(pod, {"metadata": {"annotations": {HOLD: None, EXIT_CODE: str(exit_code)}}})

    def patch_status(self, given: Manifest, status: Manifest) -> None:
        """As the kubelet or a controller does."""
        self.cluster.admin.patch(given, {"status": status}, subresource="status")


def paddle_job(name: str, workers: int = 1, **pod: Any) -> Manifest:
    """A job whose pods run until they are told to end."""
    safe = {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    container = {"name": "main", "image": "local/none:1", "securityContext": safe}
    template = {"metadata": {"annotations": {HOLD: "true"}}, "spec": {"containers": [container], **pod}}
    return {
        **ref("batch.paddlepaddle.org/v1", "PaddleJob", name),
        "spec": {"worker": {"replicas": workers, "template": template}},
    }


def data_cube(name: str) -> Manifest:
    source = {"type": "s3", "s3": {"anonymous": True}, "options": [{"name": "s3-uri", "value": f"s3://bucket/{name}/"}]}
    sink = {"type": "pvc", "pvc": {"name": "models", "subPath": name}}
    return {**ref("tensorstack.dev/v1beta1", "DataCube", name), "spec": {"source": source, "sink": sink}}
