"""The harness is a real cluster: it authenticates, authorizes, admits, schedules and runs."""

from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.cluster.binaries import find
from tests.cluster.client import ApiError, Client, Manifest, ref, true_conditions, wait_for
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


def _job(namespace: str, name: str, annotations: dict[str, str]) -> Manifest:
    template = {"metadata": {"annotations": annotations}, "spec": {**_pod_spec(), "restartPolicy": "Never"}}
    return {**ref("batch/v1", "Job", name, namespace), "spec": {"template": template, "backoffLimit": 0}}


def _await_condition(cluster: Cluster, manifest: Manifest, kind: str) -> None:
    what = f"{kind} of {manifest['metadata']['name']}"
    wait_for(lambda: kind in true_conditions(cluster.admin.get(manifest)), what=what)


def test_server_reports_the_version_of_its_module(cluster: Cluster, minor: str) -> None:
    found = find(KUBERNETES[minor])
    assert found is not None
    assert cluster.version == found.version
    assert cluster.version.startswith(f"v{minor}.")


def test_cluster_is_ready_in_half_a_minute(cluster: Cluster) -> None:
    assert cluster.start_seconds < 30


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


def test_job_is_scheduled_and_completes(cluster: Cluster) -> None:
    namespace = cluster.namespace("harness-job")
    job = _job(namespace, "short", {})
    cluster.admin.apply(job)
    _await_condition(cluster, job, "Complete")
    (pod,) = cluster.admin.list("v1", "Pod", namespace)
    assert pod["spec"]["nodeName"].startswith("node-")
    assert pod["status"]["phase"] == "Succeeded"


def test_exit_code_annotation_fails_the_job(cluster: Cluster) -> None:
    namespace = cluster.namespace("harness-exit-code")
    job = _job(namespace, "fails", {"kwok.stowplan.dev/exit-code": "3"})
    cluster.admin.apply(job)
    _await_condition(cluster, job, "Failed")
    (pod,) = cluster.admin.list("v1", "Pod", namespace)
    assert pod["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 3


def test_stateful_set_becomes_ready(cluster: Cluster) -> None:
    namespace = cluster.namespace("harness-stateful-set")
    labels = {"app": "cache"}
    stateful_set: Manifest = {
        **ref("apps/v1", "StatefulSet", "cache", namespace),
        "spec": {
            "replicas": 3,
            "serviceName": "cache",
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": _pod_spec()},
        },
    }
    cluster.admin.apply(stateful_set)
    wait_for(lambda: cluster.admin.get(stateful_set)["status"].get("readyReplicas") == 3, what="three ready pods")


def test_job_set_completes(jobset_cluster: Cluster) -> None:
    namespace = jobset_cluster.namespace("harness-job-set")
    template = {"spec": {"template": {"spec": {**_pod_spec(), "restartPolicy": "Never"}}}}
    job_set: Manifest = {
        **ref("jobset.x-k8s.io/v1alpha2", "JobSet", "pair", namespace),
        "spec": {"replicatedJobs": [{"name": "worker", "replicas": 2, "template": template}]},
    }
    jobset_cluster.admin.apply(job_set)
    _await_condition(jobset_cluster, job_set, "Completed")
    assert len(jobset_cluster.admin.list("batch/v1", "Job", namespace)) == 2
