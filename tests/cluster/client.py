"""A thin Kubernetes client over HTTPS: server-side apply with strict field validation, and little else."""

import ssl
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import httpx

Manifest = dict[str, Any]
T = TypeVar("T")

ARGO_CD = "argocd-controller"
"""The field manager under which Argo CD applies (argo-cd common.go, ArgoCDSSAManager)."""

_MERGE = "application/merge-patch+json"
_APPLY = "application/apply-patch+yaml"


class ApiError(Exception):
    """The server refused a request; the fields are those of its Status object."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(f"{status} {reason}: {message}")
        self.status = status
        self.reason = reason
        self.message = message


@dataclass(frozen=True)
class Resource:
    """How a kind is served."""

    plural: str
    namespaced: bool


def ref(api_version: str, kind: str, name: str, namespace: str | None = None) -> Manifest:
    """The least of a manifest that names an object."""
    metadata = {"name": name} if namespace is None else {"name": name, "namespace": namespace}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata}


def true_conditions(live: Manifest) -> set[str]:
    """The types of the conditions that hold."""
    conditions = live.get("status", {}).get("conditions") or []
    return {condition["type"] for condition in conditions if condition["status"] == "True"}


@dataclass(frozen=True)
class Client:
    """One identity on one API server. Objects are named by manifests, of which `ref` suffices."""

    _connect: Callable[[], httpx.Client]
    _opened: list[httpx.Client] = field(default_factory=list)
    _mine: threading.local = field(default_factory=threading.local)
    _resources: dict[tuple[str, str], Resource] = field(default_factory=dict)

    @classmethod
    def connect(cls, server: str, tls: ssl.SSLContext, token: str | None = None) -> "Client":
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        return cls(partial(httpx.Client, base_url=server, verify=tls, headers=headers, timeout=30))

    @property
    def http(self) -> httpx.Client:
        """The calling thread's own: httpcore may close a connection as stale that another thread begins to use."""
        if not hasattr(self._mine, "http"):
            self._mine.http = self._connect()
            self._opened.append(self._mine.http)
        http: httpx.Client = self._mine.http
        return http

    def close(self) -> None:
        """Close the connections of all threads."""
        for http in self._opened:
            http.close()

    def apply(
        self,
        manifest: Manifest,
        *,
        manager: str = ARGO_CD,
        dry_run: bool = False,
        force: bool = True,
        subresource: str = "",
    ) -> Manifest:
        """Server-side apply with strict field validation; an unknown or doubled field is an ApiError 400."""
        parameters = {"fieldManager": manager, "fieldValidation": "Strict", "force": str(force).lower()}
        if dry_run:
            parameters["dryRun"] = "All"
        return self.request("PATCH", self.path(manifest, subresource), manifest, _APPLY, parameters)

    def create(self, manifest: Manifest, *, dry_run: bool = False, strict: bool = True) -> Manifest:
        """POST the object; when not strict, unknown fields are pruned silently."""
        parameters = {"fieldValidation": "Strict" if strict else "Ignore"} | ({"dryRun": "All"} if dry_run else {})
        return self.request("POST", self.collection(manifest), manifest, parameters=parameters)

    def get(self, manifest: Manifest) -> Manifest:
        return self.request("GET", self.path(manifest))

    def find(self, manifest: Manifest) -> Manifest | None:
        """The object, or None if the server does not have it."""
        try:
            return self.get(manifest)
        except ApiError as error:
            if error.reason == "NotFound":
                return None
            raise

    def list(self, api_version: str, kind: str, namespace: str | None = None, labels: str = "") -> "list[Manifest]":
        """The objects of a kind, of one namespace or all, that the label selector selects."""
        path = self.collection(ref(api_version, kind, "", namespace))
        items = self.request("GET", path, parameters={"labelSelector": labels})["items"]
        return [{"apiVersion": api_version, "kind": kind, **item} for item in items]

    def patch(self, manifest: Manifest, changes: Manifest, *, subresource: str = "") -> Manifest:
        """JSON merge patch (RFC 7386): null removes."""
        parameters = {"fieldValidation": "Strict"}
        return self.request("PATCH", self.path(manifest, subresource), changes, _MERGE, parameters)

    def delete(self, manifest: Manifest, *, propagation: str = "Background", dry_run: bool = False) -> None:
        options = {"propagationPolicy": propagation} | ({"dryRun": ["All"]} if dry_run else {})
        self.request("DELETE", self.path(manifest), {"apiVersion": "v1", "kind": "DeleteOptions", **options})

    def request(
        self,
        method: str,
        path: str,
        body: Manifest | None = None,
        content_type: str = "application/json",
        parameters: Mapping[str, str] | None = None,
    ) -> Manifest:
        """One call with a JSON body (which is also YAML); ApiError on any status of 400 and above."""
        headers = {} if body is None else {"Content-Type": content_type}
        response = self.http.request(method, path, json=body, headers=headers, params=parameters)
        if response.is_error:
            raise _error(response)
        answer: Manifest = response.json()
        return answer

    def path(self, manifest: Manifest, subresource: str = "") -> str:
        """The URL path of an object or its subresource."""
        tail = f"/{subresource}" if subresource else ""
        return f"{self.collection(manifest)}/{manifest['metadata']['name']}{tail}"

    def collection(self, manifest: Manifest) -> str:
        """The URL path of the objects of a kind, in the manifest's namespace if it has one."""
        api_version = manifest["apiVersion"]
        resource = self._resource(api_version, manifest["kind"])
        namespace = manifest["metadata"].get("namespace")
        middle = f"/namespaces/{namespace}" if resource.namespaced and namespace else ""
        return f"{_group_path(api_version)}{middle}/{resource.plural}"

    def _resource(self, api_version: str, kind: str) -> Resource:
        """From the server's discovery; asked again for an unknown kind, since CRDs come while tests run."""
        if (api_version, kind) not in self._resources:
            for entry in self.request("GET", _group_path(api_version))["resources"]:
                if "/" not in entry["name"]:
                    self._resources[api_version, entry["kind"]] = Resource(entry["name"], entry["namespaced"])
        try:
            return self._resources[api_version, kind]
        except KeyError:
            raise ApiError(404, "NotFound", f"the server serves no kind {kind} in {api_version}") from None


def _error(response: httpx.Response) -> ApiError:
    """From the Status object; paths that nobody serves are answered by plain text instead."""
    if not response.headers["content-type"].startswith("application/json"):
        return ApiError(response.status_code, "NotFound" if response.status_code == 404 else "", response.text)
    status = response.json()
    return ApiError(response.status_code, status.get("reason", ""), status.get("message", ""))


def _group_path(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def wait_for(
    predicate: Callable[[], T | None], timeout: float = 60, *, what: str = "condition", longest: float = 0.5
) -> T:
    """Poll until the predicate gives something true and return that; TimeoutError naming `what`.

    The longer it takes, the rarer are the polls, up to one in `longest` seconds: many of them would keep a server busy.
    """
    deadline, pause = time.monotonic() + timeout, 0.05
    while True:
        if value := predicate():
            return value
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not seen within {timeout:g} s")
        time.sleep(pause)
        pause = min(1.2 * pause, longest)
