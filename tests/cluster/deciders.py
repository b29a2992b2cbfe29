"""A training group on the cluster: deciding Jobs with controlled pods, and the account of the waiting agents."""

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from stowplan.agents.runtime import timestamp
from tests.cluster.client import ApiError, Manifest, ref, true_conditions, wait_for
from tests.cluster.control_plane import Cluster

ACCOUNT = "group-paddlejob"
HASH = "abcdefgh"
HELPER = "group-ps-abcdefgh-0-xyz"
"""Name of the pod of a helper in which an agent runs."""

HOLD, EXIT_CODE = "kwok.stowplan.dev/hold", "kwok.stowplan.dev/exit-code"

_SAFE = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}
ALL_RIGHTS = ("get", "patch", "watch")


@dataclass(frozen=True)
class Deciders:
    """The Jobs of one group in a namespace of their own."""

    cluster: Cluster
    namespace: str

    def job(self, stem: str = "worker") -> Manifest:
        """Names a Job."""
        return ref("batch/v1", "Job", f"{stem}-{HASH}", self.namespace)

    def make(self, stem: str = "worker", *, suspend: bool = False, pods: int = 2) -> None:
        """An Indexed Job; its pods run until they are told to end."""
        container = {"name": "main", "image": "local/none", "securityContext": _SAFE}
        template = {
            "metadata": {"annotations": {HOLD: "true"}},
            "spec": {"containers": [container], "restartPolicy": "Never"},
        }
        spec = {
            "backoffLimit": 0,
            "completionMode": "Indexed",
            "completions": pods,
            "parallelism": pods,
            "suspend": suspend,
            "template": template,
        }
        self.cluster.admin.create({**self.job(stem), "spec": spec})
        if not suspend:
            wait_for(lambda: self.status(stem).get("active") == pods, what="active pods")

    def end(self, stem: str = "worker", exit_code: int = 0) -> None:
        """Let the pods of a Job end. After the first failure the Job controller may have deleted the others."""
        changes = {"metadata": {"annotations": {HOLD: None, EXIT_CODE: str(exit_code)}}}
        labels = f"batch.kubernetes.io/job-name={stem}-{HASH}"
        for pod in self.cluster.admin.list("v1", "Pod", self.namespace, labels):
            try:
                self.cluster.admin.patch(pod, changes)
            except ApiError as error:
                if error.status != HTTPStatus.NOT_FOUND or not exit_code:
                    raise

    def suspend(self, stem: str = "worker", *, suspended: bool) -> None:
        self.cluster.admin.patch(self.job(stem), {"spec": {"suspend": suspended}})

    def delete(self, stem: str = "worker") -> None:
        self.cluster.admin.delete(self.job(stem))

    def status(self, stem: str = "worker") -> dict[str, Any]:
        status: dict[str, Any] = self.cluster.admin.get(self.job(stem)).get("status", {})
        return status

    def deadline(self, stem: str = "worker") -> int | None:
        """What the Job's `activeDeadlineSeconds` is."""
        seconds: int | None = self.cluster.admin.get(self.job(stem))["spec"].get("activeDeadlineSeconds")
        return seconds

    def failure(self, stem: str = "worker") -> str:
        """Waits until the Job has failed, and gives the reason."""
        wait_for(lambda: "Failed" in true_conditions(self.cluster.admin.get(self.job(stem))), what="failure")
        reasons: dict[str, str] = {each["type"]: each["reason"] for each in self.status(stem)["conditions"]}
        return reasons["Failed"]

    def helper(self, name: str = HELPER) -> Manifest:
        """A pod with the helper's container `main` as a sidecar."""
        safe = {"image": "local/none", "securityContext": _SAFE}
        spec = {
            "initContainers": [{"name": "main", "restartPolicy": "Always", **safe}],
            "containers": [{"name": "await", **safe}],
            "restartPolicy": "Never",
        }
        pod = ref("v1", "Pod", name, self.namespace)
        pod["metadata"]["annotations"] = {HOLD: "true"}
        self.cluster.admin.create({**pod, "spec": spec})
        wait_for(lambda: self._sidecars(pod), what="the status of the helper's pod")
        return pod

    def crash(self, pod: Manifest, exit_code: int, restarts: int = 1) -> None:
        """Let the helper's container have ended just now, and run again."""
        end = {"exitCode": exit_code, "finishedAt": timestamp.now(), "reason": "Error" if exit_code else "Completed"}
        told = [{**each, "restartCount": restarts, "lastState": {"terminated": end}} for each in self._sidecars(pod)]
        self.cluster.admin.patch(pod, {"status": {"initContainerStatuses": told}}, subresource="status")

    def _sidecars(self, pod: Manifest) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.cluster.admin.get(pod).get("status", {}).get("initContainerStatuses") or []
        return found

    def notes(self, stem: str = "worker") -> dict[str, str]:
        """The annotations of a Job."""
        found: dict[str, str] = self.cluster.admin.get(self.job(stem))["metadata"].get("annotations") or {}
        return found

    def account(self) -> None:
        """The ServiceAccount, without rights."""
        self.cluster.admin.apply(ref("v1", "ServiceAccount", ACCOUNT, self.namespace))

    def grant(self, stems: Sequence[str] = ("worker",), verbs: Sequence[str] = ALL_RIGHTS) -> None:
        """Rights on the Jobs of the group and to read a pod, and on nothing else."""
        group = "rbac.authorization.k8s.io"
        names = [f"{stem}-{HASH}" for stem in stems]
        rule = {"apiGroups": ["batch"], "resources": ["jobs"], "resourceNames": names, "verbs": list(verbs)}
        pods = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
        self.cluster.admin.apply({**ref(f"{group}/v1", "Role", ACCOUNT, self.namespace), "rules": [rule, pods]})
        binding = {
            **ref(f"{group}/v1", "RoleBinding", ACCOUNT, self.namespace),
            "roleRef": {"apiGroup": group, "kind": "Role", "name": ACCOUNT},
            "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": self.namespace}],
        }
        self.cluster.admin.apply(binding)

    def token(self, bound_to: str = "") -> str:
        """A token of the account; bound to a Secret of this name it ends with that Secret."""
        spec: dict[str, Any] = {"expirationSeconds": 3600}
        if bound_to:
            self.cluster.admin.apply(ref("v1", "Secret", bound_to, self.namespace))
            spec["boundObjectRef"] = {"apiVersion": "v1", "kind": "Secret", "name": bound_to}
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
        path = self.cluster.admin.path(ref("v1", "ServiceAccount", ACCOUNT, self.namespace), "token")
        token: str = self.cluster.admin.request("POST", path, request)["status"]["token"]
        return token

    def revoke(self, bound_to: str) -> None:
        """Ends the tokens that are bound to a Secret."""
        self.cluster.admin.delete(ref("v1", "Secret", bound_to, self.namespace))
