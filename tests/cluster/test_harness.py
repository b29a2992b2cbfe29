"""The harness is a real cluster: it authenticates, authorizes and admits. Other tests show that it runs pods."""

from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.cluster.binaries import find
from tests.cluster.client import ApiError, Client, Manifest, ref, wait_for
from tests.cluster.control_plane import Cluster
from tests.cluster.tools import KUBERNETES

_SAFE = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}


def _pod_spec(**security: object) -> Manifest:
    return {"containers": [{"name": "main", "image": "local/none", "securityContext": {**_SAFE, **security}}]}


def _pod(namespace: str, name: str, **security: object) -> Manifest:
    return {**ref("v1", "Pod", name, namespace), "spec": _pod_spec(**security)}


def test_server_reports_the_version_of_its_module(cluster: Cluster, minor: str) -> None:
    found = find(KUBERNETES[minor])
    assert found is not None
    assert cluster.version == found.version
    assert cluster.version.startswith(f"v{minor}.")


def test_caller_without_credentials_is_refused(cluster: Cluster) -> None:
    with httpx.Client(base_url=cluster.trust.server, verify=cluster.trust.context()) as stranger:
        assert stranger.get("/api/v1/namespaces").status_code == 403


def test_threads_that_share_a_client_share_no_connection(cluster: Cluster) -> None:
    """In a pool for all, a request now and then found its connection closed as stale by another thread."""
    with ThreadPoolExecutor(1) as other:
        assert other.submit(lambda: cluster.admin.http).result() is not cluster.admin.http
        assert other.submit(cluster.admin.request, "GET", "/version").result()["gitVersion"] == cluster.version


def test_service_account_may_do_only_what_its_role_names(cluster: Cluster) -> None:
    namespace = cluster.namespace("harness-rbac")
    agent = cluster.client_for_service_account(namespace, "default")
    allowed, other = ref("v1", "ConfigMap", "allowed", namespace), ref("v1", "ConfigMap", "other", namespace)
    cluster.admin.apply(allowed)
    cluster.admin.apply(other)
    assert not _may_get(agent, allowed)

    rule = {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["allowed"], "verbs": ["get"]}
    role = ref("rbac.authorization.k8s.io/v1", "Role", "reader", namespace)
    cluster.admin.apply({**role, "rules": [rule]})
    binding = ref("rbac.authorization.k8s.io/v1", "RoleBinding", "reader", namespace)
    subject = {"kind": "ServiceAccount", "name": "default", "namespace": namespace}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"}
    cluster.admin.apply({**binding, "roleRef": reference, "subjects": [subject]})

    wait_for(lambda: _may_get(agent, allowed), what="the binding")
    assert not _may_get(agent, other)


def _may_get(agent: Client, manifest: Manifest) -> bool:
    try:
        agent.get(manifest)
    except ApiError as error:
        if error.status == 403:
            return False
        raise
    return True


def test_node_may_not_read_other_nodes(cluster: Cluster) -> None:
    kubelet = cluster.client_for_node("node-0")
    with pytest.raises(ApiError) as refused:
        kubelet.get(ref("v1", "Node", "node-1"))
    assert refused.value.status == 403


def test_restricted_namespace_refuses_a_pod_that_may_escalate(cluster: Cluster) -> None:
    namespace = cluster.namespace("harness-security")
    with pytest.raises(ApiError, match="violates PodSecurity"):
        cluster.admin.create(_pod(namespace, "bad", privileged=True, allowPrivilegeEscalation=True))
    cluster.admin.create(_pod(namespace, "good"))


def test_unknown_field_is_refused(cluster: Cluster) -> None:
    manifest = {**_pod(cluster.namespace("harness-strict"), "odd"), "spce": {}}
    with pytest.raises(ApiError, match="spce"):
        cluster.admin.apply(manifest)
