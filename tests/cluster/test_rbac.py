"""With the token of each compiled ServiceAccount, the server allows its agent's work and refuses all else."""

from collections.abc import Iterator
from typing import Any

import pytest

from stowplan.schema.agents.field_managers import task
from tests.cluster import sync
from tests.cluster.accounts import Account, accounts
from tests.cluster.client import ApiError, Client, Manifest, ref, wait_for
from tests.cluster.control_plane import Cluster
from tests.cluster.forbidden import forbidden
from tests.repositories import compiled

HOME, VAULT = "rbac-home", "rbac-vault"
"""Where the specs are, and a namespace that keeps the Secret of one of them, so that its sync runs there."""

SPECS = f"""\
kind: Platform
defaultNamespace: {HOME}
images: {{registry: registry.example.com/ml, tag: "1"}}
policy:
  crossNamespaceTasks: true
  crossNamespaceSecrets: [{{specNamespace: {HOME}, secretNamespace: {VAULT}}}]
reporter: false
---
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleSet
metadata: {{name: data}}
spec: {{partitions: 2, source: {{uri: "s3://bucket/data"}}, secretRef: {{name: volume}}}}
---
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleSet
metadata: {{name: other}}
spec: {{partitions: 1, source: {{uri: "s3://bucket/data"}}, secretRef: {{name: volume, namespace: {VAULT}}}}}
---
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleSet
metadata: {{name: data, namespace: {VAULT}}}
spec: {{partitions: 1, noSync: true, secretRef: {{name: volume}}}}
---
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleJob
metadata: {{name: data}}
spec: {{type: rmr, sampleSetRef: {{name: data}}, rmrOptions: {{paths: [old]}}}}
---
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleJob
metadata: {{name: other}}
spec: {{type: sync, sampleSetRef: {{name: data}}, secretRef: {{name: volume}}, syncOptions: {{source: "s3://bucket/b"}}}}
---
apiVersion: tensorstack.dev/v1beta1
kind: DataCube
metadata: {{name: data}}
spec:
  source: {{type: s3, s3: {{anonymous: true}}, options: [{{name: s3-uri, value: s3://bucket/data/}}]}}
  sink: {{type: pvc, pvc: {{name: models, subPath: data}}}}
---
apiVersion: tensorstack.dev/v1beta1
kind: DataCube
metadata: {{name: other}}
spec:
  source: {{type: s3, s3: {{anonymous: true}}, options: [{{name: s3-uri, value: s3://bucket/other/}}]}}
  sink: {{type: pvc, pvc: {{name: models, subPath: other}}}}
"""
ACCOUNTS = [
    f"{HOME}/data-sampleset",
    f"{HOME}/other-sampleset",
    f"{VAULT}/other-sampleset",
    f"{VAULT}/data-sampleset",
    f"{HOME}/data-samplejob",
    f"{HOME}/other-samplejob",
    f"{HOME}/data-datacube",
    f"{HOME}/other-datacube",
]

PARTITIONS = "stowplan-cache-{}"
STATUSES: dict[str, dict[str, Manifest]] = {
    "SampleSet": {
        PARTITIONS.format(0): {"partitions": [{"ordinal": 0, "node": "node-0", "cachedBytes": 1}]},
        PARTITIONS.format(1): {"partitions": [{"ordinal": 1, "node": "node-1", "cachedBytes": 2}]},
        "stowplan-cache-sum": {"cacheStatus": {"cachedSize": "3 B"}, "jobsName": {"syncJobName": "data-sync"}},
        task("sync", 0): {"attempts": [{"task": "sync", "partition": 0, "state": "succeeded", "bytes": 1}]},
        task("warmup", 0): {"attempts": [{"task": "warmup", "partition": 0, "state": "waiting"}]},
        task("warmup", 1): {"attempts": [{"task": "warmup", "partition": 1, "state": "failed", "exitCode": 11}]},
    },
    "SampleJob": {
        task("clear", 0): {"attempts": [{"task": "clear", "partition": 0, "state": "succeeded", "exitCode": 0}]},
        task("clear", 1): {"attempts": [{"task": "clear", "partition": 1, "state": "running"}]},
        "stowplan-reporter": {"phase": "Running", "counts": {"total": 2, "running": 1}, "observedGeneration": 1},
    },
    "DataCube": {
        "stowplan-transfer": {"progress": "42%", "revision": "abc", "attempt": {"run": "data", "bytes": 1}},
        "stowplan-reporter": {
            "phase": "Running",
            "pod": {"reference": {"name": "data-batchjob-x"}, "phase": "Running"},
        },
    },
}
"""What agents apply, by field manager: one manager for each field."""

STOLEN: dict[str, Manifest] = {
    "DataCube": {"source": {"type": "s3"}, "sink": {"type": "pvc", "pvc": {"name": "stolen"}}}
}
"""By kind, a spec that fits the CRD; of others, one with another Secret does."""


@pytest.fixture(scope="module")
def manifests(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Manifest]]:
    """The specs, compiled and applied in namespaces that let agents run."""
    for namespace in (HOME, VAULT):
        cluster.namespace(namespace)
        cluster.admin.apply({**ref("v1", "Secret", "volume", namespace), "stringData": {"metaurl": "redis://secret"}})
    result = compiled(tmp_path_factory.mktemp("rbac"), {"specs.yaml": SPECS})
    assert result.errors == []
    manifests = sync.apply(cluster.admin, [output.manifest.body for output in result.outputs])
    yield manifests
    for manifest in manifests:
        if manifest["kind"] != "CustomResourceDefinition":
            cluster.admin.delete(manifest)


@pytest.fixture(params=ACCOUNTS)
def account(request: pytest.FixtureRequest, manifests: list[Manifest]) -> Account:
    """Each account in turn."""
    return accounts(manifests)[request.param]


@pytest.fixture
def agent(cluster: Cluster, account: Account) -> Client:
    """A client that holds the account's token and nothing else."""
    client = cluster.client_for_service_account(account.namespace, account.name)
    wait_for(lambda: _answers(client, account), what="the binding")
    return client


def _answers(client: Client, account: Account) -> bool:
    """Whether the server's authorizer has seen the binding, which it learns of a moment after it was made."""
    try:
        return client.find(account.target) is not None
    except ApiError as error:
        if error.status == 403:
            return False
        raise


def _status(account: Account, status: Manifest, **metadata: Any) -> Manifest:
    target = account.target
    return {**target, "metadata": {**target["metadata"], **metadata}, "status": status}


def test_every_compiled_account_is_tried(manifests: list[Manifest]) -> None:
    compiled_accounts = [each["metadata"] for each in manifests if each["kind"] == "ServiceAccount"]
    assert sorted(f"{each['namespace']}/{each['name']}" for each in compiled_accounts) == sorted(ACCOUNTS)
    assert sorted(accounts(manifests)) == sorted(ACCOUNTS)


def test_agent_reads_its_resource(cluster: Cluster, account: Account, agent: Client) -> None:
    live = agent.get(account.target)
    assert live["spec"] == account.resource["spec"]
    assert agent.request("GET", agent.path(account.target, "status"))["metadata"]["uid"] == live["metadata"]["uid"]


def test_agents_apply_to_the_status_beside_each_other(cluster: Cluster, account: Account, agent: Client) -> None:
    """Each takes back what it applied before and nothing else."""
    cluster.admin.delete(account.target)
    cluster.admin.apply(account.resource)
    statuses = STATUSES[account.resource["kind"]]
    for manager, status in statuses.items():
        agent.apply(_status(account, status), manager=manager, subresource="status", force=False)
    assert agent.get(account.target)["status"] == _together(statuses)

    first, *rest = statuses
    agent.apply(_status(account, {}), manager=first, subresource="status", force=False)
    assert agent.get(account.target)["status"] == _together({manager: statuses[manager] for manager in rest})


def _together(statuses: dict[str, Manifest]) -> Manifest:
    """Lists are joined."""
    joined: Manifest = {}
    for status in statuses.values():
        for key, value in status.items():
            joined[key] = [*joined.get(key, []), *value] if isinstance(value, list) else value
    return joined


def test_status_write_changes_nothing_else(cluster: Cluster, account: Account, agent: Client) -> None:
    before = cluster.admin.get(account.target)
    manager = next(iter(STATUSES[account.resource["kind"]]))
    greedy = _status(
        account,
        _said(account, "changed"),
        labels={"a": "b"},
        annotations={"a": "b"},
        finalizers=["example.com/stay"],
        ownerReferences=[{"apiVersion": "v1", "kind": "Secret", "name": "volume", "uid": before["metadata"]["uid"]}],
    )
    spec = STOLEN.get(account.resource["kind"], {"secretRef": {"name": "stolen"}})
    after = agent.apply({**greedy, "spec": spec}, manager=manager, subresource="status")
    status = after["status"]
    attempt = status.get("attempt") or next(each for each in status["attempts"] if "message" in each)
    assert attempt["message"] == "changed"
    assert _without_status(after) == _without_status(before)


def _without_status(live: Manifest) -> Manifest:
    moving = {"managedFields", "resourceVersion"}
    metadata = {key: value for key, value in live["metadata"].items() if key not in moving}
    return {**{key: value for key, value in live.items() if key != "status"}, "metadata": metadata}


def test_only_the_resource_version_keeps_a_late_agent_from_a_new_resource(
    cluster: Cluster, account: Account, agent: Client
) -> None:
    """The server takes the uid of a status over from the live object, so an apply with another uid is no conflict."""
    version = agent.get(account.target)["metadata"]["resourceVersion"]
    cluster.admin.delete(account.target)
    cluster.admin.apply(account.resource)
    late = _said(account, "late")
    with pytest.raises(ApiError) as refused:
        _apply_attempt(agent, _status(account, late, resourceVersion=version))
    assert refused.value.status == 409
    assert _apply_attempt(agent, _status(account, late, uid="0"))["status"] == late


def _apply_attempt(agent: Client, manifest: Manifest) -> Manifest:
    return agent.apply(manifest, manager=task("sync", 0), subresource="status")


def _said(account: Account, message: str) -> Manifest:
    """A status with an attempt that says this."""
    if account.resource["kind"] == "DataCube":
        return {"attempt": {"message": message}}
    return {"attempts": [{"task": "sync", "partition": 0, "message": message}]}


def test_resource_that_is_not_there_yet_is_not_found(cluster: Cluster, account: Account, agent: Client) -> None:
    """Argo CD applies resources after Jobs, so agents ask for them too early and must be able to tell."""
    cluster.admin.delete(account.target)
    try:
        assert agent.find(account.target) is None
        with pytest.raises(ApiError, match="NotFound"):
            _apply_attempt(agent, _status(account, _said(account, "early")))
    finally:
        cluster.admin.apply(account.resource)


def test_everything_else_is_refused(cluster: Cluster, account: Account, agent: Client) -> None:
    others = sorted({HOME, VAULT} - {account.home})
    requests = forbidden(account, cluster.admin, others)
    answers = {f"{method} {path}": _answer(agent, method, path) for method, path in requests}
    assert {request: answer for request, answer in answers.items() if answer != 403} == {}


def _answer(agent: Client, method: str, path: str) -> int:
    body: Manifest | None = {} if method in {"PATCH", "POST", "PUT"} else None
    content_type = "application/merge-patch+json" if method == "PATCH" else "application/json"
    headers = {"Content-Type": content_type} if body is not None else {}
    return agent.http.request(method, path, json=body, headers=headers).status_code


def test_agent_cannot_act_as_somebody_else(agent: Client) -> None:
    for group in ("system:masters", "system:authenticated"):
        headers = {"Impersonate-User": "admin", "Impersonate-Group": group}
        assert agent.http.get("/api/v1/secrets", headers=headers).status_code == 403


def test_rules_of_the_account_are_those_of_its_role_alone(cluster: Cluster, account: Account, agent: Client) -> None:
    """What the server says that the account may do, in every namespace, beyond what every account may."""
    anybody = cluster.client_for_service_account(account.namespace, "default")
    for namespace in (each["metadata"]["name"] for each in cluster.admin.list("v1", "Namespace")):
        basic = _rules(anybody, namespace)
        more = [rule for rule in _rules(agent, namespace) if rule not in basic]
        assert more == (account.rules if namespace == account.home else [])


def _rules(client: Client, namespace: str) -> list[Manifest]:
    review: Manifest = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectRulesReview",
        "spec": {"namespace": namespace},
    }
    path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
    status = client.request("POST", path, review)["status"]
    assert not status["incomplete"], status
    rules: list[Manifest] = [*status["resourceRules"], *status["nonResourceRules"]]
    return rules
