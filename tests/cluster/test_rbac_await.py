"""With an await agent's token, the deciding Jobs of its group can be read and ended, and nothing else.

Save that a pod whose name is known can be read: the names of its own pods are made up, and no list tells them.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.cluster import sync
from tests.cluster.client import ApiError, Client, Manifest, wait_for
from tests.cluster.control_plane import Cluster
from tests.cluster.forbidden import CLUSTER_WIDE, ELSEWHERE, inside, reading
from tests.repositories import compiled

HOME, OTHER = "rbac-await", "rbac-await-other"
_GROUP = """\
---
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {{name: {name}, namespace: {namespace}}}
spec:
  ps: {{replicas: 1, template: {{spec: {{{ps} containers: [{{name: main, image: local/train}}]}}}}}}
  worker: {{replicas: 1, template: {{spec: {{containers: [{{name: main, image: local/train}}]}}}}}}
  heter: {{replicas: 1, template: {{spec: {{{heter} containers: [{{name: main, image: local/train}}]}}}}}}
"""
SPECS = f"kind: Platform\ndefaultNamespace: {HOME}\n" + "".join(
    _GROUP.format(name=name, namespace=namespace, ps=ps, heter=heter)
    for name, namespace, ps, heter in (
        ("ctr", HOME, "serviceAccountName: trainer,", "serviceAccount: helper,"),
        ("mixed", HOME, "serviceAccountName: trainer,", ""),
        ("plain", HOME, "", ""),
        ("ctr", OTHER, "serviceAccountName: trainer,", ""),
    )
)
ACCOUNTS = {
    f"{HOME}/trainer": ["ctr", "mixed"],
    f"{HOME}/helper": ["ctr"],
    f"{HOME}/default": ["mixed", "plain"],
    f"{OTHER}/trainer": ["ctr"],
    f"{OTHER}/default": ["ctr"],
}
"""The accounts by namespace and name, and the specs whose helpers run under each."""


@dataclass(frozen=True)
class Helper:
    """An account, its namespace, and the Jobs there: those that its helpers wait for, and the others."""

    namespace: str
    name: str
    client: Client
    deciders: list[Manifest]
    strangers: list[Manifest]


@pytest.fixture(scope="module")
def manifests(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Manifest]]:
    """The specs, compiled and applied beside the accounts that they name."""
    for namespace in (HOME, OTHER):
        cluster.namespace(namespace, "baseline")
        for name in ("trainer", "helper"):
            metadata = {"name": name, "namespace": namespace}
            cluster.admin.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
    result = compiled(tmp_path_factory.mktemp("rbac-await"), {"specs.yaml": SPECS})
    assert result.errors == []
    applied = sync.apply(cluster.admin, [output.manifest.body for output in result.outputs])
    yield applied
    sync.remove(cluster.admin, [each for each in applied if each["kind"] != "CustomResourceDefinition"])


@pytest.fixture(params=ACCOUNTS)
def helper(request: pytest.FixtureRequest, cluster: Cluster, manifests: list[Manifest]) -> Helper:
    """Each account in turn, once the server's authorizer has seen its binding."""
    account: str = request.param
    namespace, name = account.split("/")
    client = cluster.client_for_service_account(namespace, name)
    jobs = [each for each in manifests if each["kind"] == "Job" and each["metadata"]["namespace"] == namespace]
    deciders = [job for job in jobs if _role(job) == "worker" and _spec(job) in ACCOUNTS[account]]
    assert len(deciders) == len(ACCOUNTS[account])
    wait_for(lambda: all(_sees(client, job) for job in deciders), what="the binding")
    return Helper(namespace, name, client, deciders, [job for job in jobs if job not in deciders])


def _role(job: Manifest) -> str:
    return str(job["metadata"]["labels"]["app.kubernetes.io/component"])


def _spec(job: Manifest) -> str:
    return str(job["metadata"]["labels"]["stowplan.dev/name"])


def _sees(client: Client, job: Manifest) -> bool:
    try:
        return client.find(job) is not None
    except ApiError as error:
        if error.status == 403:
            return False
        raise


def test_every_account_of_a_helper_is_tried(manifests: list[Manifest]) -> None:
    found: dict[str, list[str]] = {}
    for job in manifests:
        pod = job["spec"]["template"]["spec"] if job["kind"] == "Job" else {}
        if any(each["name"] == "await" for each in pod.get("containers", [])):
            name = pod.get("serviceAccountName") or pod.get("serviceAccount") or "default"
            found.setdefault(f"{job['metadata']['namespace']}/{name}", []).append(_spec(job))
    assert {account: sorted(set(specs)) for account, specs in found.items()} == ACCOUNTS


def test_deciding_jobs_are_seen_and_can_be_ended(helper: Helper) -> None:
    for job in helper.deciders:
        live = helper.client.get(job)
        assert live["spec"]["completions"] == job["spec"]["completions"]
        own, every = _paths(helper.client, job)
        name = job["metadata"]["name"]
        watch = f"{every}?watch=true&timeoutSeconds=1&fieldSelector=metadata.name%3D{name}"
        assert f'"name":"{name}"' in helper.client.http.get(watch).text
        changes = {"spec": {"activeDeadlineSeconds": 1}}
        headers = {"Content-Type": "application/merge-patch+json"}
        answer = helper.client.http.patch(
            f"{own}?dryRun=All&fieldManager=stowplan-await", json=changes, headers=headers
        )
        assert answer.json()["spec"]["activeDeadlineSeconds"] == 1


def test_everything_else_is_refused(cluster: Cluster, helper: Helper) -> None:
    requests = list(dict.fromkeys(_forbidden(helper, cluster.admin)))
    answers = {f"{method} {path}": _answer(helper.client, method, path) for method, path in requests}
    assert {request: answer for request, answer in answers.items() if answer != 403} == {}


def _forbidden(helper: Helper, admin: Client) -> Iterator[tuple[str, str]]:
    others = sorted({HOME, OTHER} - {helper.namespace})
    for job in helper.deciders:
        own, every = _paths(admin, job)
        named = f"{every}?fieldSelector=metadata.name%3D{job['metadata']['name']}"
        yield from (("PUT", own), ("DELETE", own), ("GET", f"{own}/status"), ("PATCH", f"{own}/status"))
        yield from (("PUT", f"{own}/status"), ("GET", named), ("DELETE", named))
        yield from _on(own.replace(f"/{helper.namespace}/", f"/{others[0]}/"))
        across = named.replace(f"/namespaces/{helper.namespace}", "")
        yield from (("GET", across), ("GET", f"{across}&watch=true"))
    for job in helper.strangers:
        own, every = _paths(admin, job)
        yield from _on(own)
        yield ("GET", f"{every}?watch=true&fieldSelector=metadata.name%3D{job['metadata']['name']}")
    _, every = _paths(admin, helper.deciders[0])
    yield from (("GET", every), ("GET", f"{every}?watch=true"), ("POST", every), ("DELETE", every))
    yield from (("GET", f"{every}?watch=true&labelSelector=stowplan.dev%2Fkind%3DPaddleJob"), ("GET", f"{every}/none"))
    a_pod = ("GET", f"/api/v1/namespaces/{helper.namespace}/pods/data-runtime-0")
    yield from (request for request in inside(helper.namespace, helper.name) if request != a_pod)
    yield from (request for namespace in (*others, *ELSEWHERE) for request in reading(namespace))
    yield from CLUSTER_WIDE


def _on(job: str) -> Iterator[tuple[str, str]]:
    yield from ((method, job) for method in ("GET", "PATCH", "PUT", "DELETE"))
    yield ("PATCH", f"{job}/status")


def _paths(client: Client, job: Manifest) -> tuple[str, str]:
    return client.path(job), client.collection(job)


def _answer(client: Client, method: str, path: str) -> int:
    body: Manifest | None = {} if method in {"PATCH", "POST", "PUT"} else None
    content_type = "application/merge-patch+json" if method == "PATCH" else "application/json"
    headers = {"Content-Type": content_type} if body is not None else {}
    return client.http.request(method, path, json=body, headers=headers).status_code


def test_job_of_the_helper_itself_is_a_stranger(helper: Helper) -> None:
    assert {_role(job) for job in helper.strangers} >= {"ps", "heter"}


def test_rules_are_those_for_the_deciding_jobs_alone(cluster: Cluster, helper: Helper) -> None:
    """What the server says that the account may do, in every namespace, beyond what every account may."""
    anybody = _rules(cluster.client_for_service_account("kube-system", "default"), "kube-public")
    for namespace in (each["metadata"]["name"] for each in cluster.admin.list("v1", "Namespace")):
        more = [rule for rule in _rules(helper.client, namespace) if rule not in anybody]
        pods = [rule for rule in more if rule["resources"] == ["pods"]]
        assert all((rule["apiGroups"], rule["verbs"]) == ([""], ["get"]) for rule in pods)
        assert bool(pods) == (namespace == helper.namespace)
        more = [rule for rule in more if rule not in pods]
        allowed = [rule["resourceNames"] for rule in more if namespace == helper.namespace]
        assert sorted(name for names in allowed for name in names) == (
            sorted(job["metadata"]["name"] for job in helper.deciders) if namespace == helper.namespace else []
        )
        for rule in more:
            assert (rule["apiGroups"], rule["resources"]) == (["batch"], ["jobs"])
            assert sorted(rule["verbs"]) == ["get", "patch", "watch"]


def _rules(client: Client, namespace: str) -> list[Manifest]:
    review: Manifest = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectRulesReview",
        "spec": {"namespace": namespace},
    }
    status = client.request("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", review)["status"]
    assert not status["incomplete"], status
    rules: list[Manifest] = [*status["resourceRules"], *status["nonResourceRules"]]
    return rules
