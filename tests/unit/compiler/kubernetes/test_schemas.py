"""The official schemas: the values that they refuse, and position and wording of the problems."""

from typing import Any, get_args

import pytest

from stowplan.compiler.kubernetes import rules
from stowplan.compiler.kubernetes.schema_checker import Checker
from stowplan.compiler.kubernetes.schema_problem import SchemaProblem
from stowplan.compiler.kubernetes.schemas import KnownKind, definition_problems, known_kinds, object_problems
from stowplan.schema.diagnostics import dotted
from stowplan.schema.platform.platform import Platform
from stowplan.schema.platform.settings import KUBERNETES_VERSIONS

OLDEST, NEWEST = KUBERNETES_VERSIONS[0], KUBERNETES_VERSIONS[-1]
TOLERATION = "io.k8s.api.core.v1.Toleration"
NODE_AFFINITY = "io.k8s.api.core.v1.NodeAffinity"
CONTAINER = "io.k8s.api.core.v1.Container"
RESOURCES = "io.k8s.api.core.v1.ResourceRequirements"


def job(container: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    pod = {"containers": [{"name": "main", "image": "a:1", **(container or {})}], "restartPolicy": "Never"}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "a", "namespace": "n"},
        "spec": {"template": {"spec": pod}, **spec},
    }


def problems(body: dict[str, Any], version: str = NEWEST) -> list[SchemaProblem]:
    found = object_problems(version, body)
    assert found is not None
    return found


def only(found: list[SchemaProblem]) -> tuple[str, str, str]:
    assert len(found) == 1, found
    return dotted(found[0].path), found[0].keyword, f"{found[0].message} {found[0].hint}"


def test_the_default_version_is_the_newest_but_one() -> None:
    """Clusters are seldom on the newest; the oldest leaves support within months."""
    assert Platform().kubernetes_version == KUBERNETES_VERSIONS[-2]
    assert get_args(Platform.model_fields["kubernetes_version"].annotation) == KUBERNETES_VERSIONS


@pytest.mark.parametrize("version", KUBERNETES_VERSIONS)
def test_a_complete_job_fits_every_supported_version(version: str) -> None:
    assert problems(job(), version) == []


def test_an_unknown_field_is_named_with_its_type_and_the_nearest_field() -> None:
    assert only(problems(job({"prots": []}))) == (
        "spec.template.spec.containers[0].prots",
        "additionalProperties",
        '"prots" is not a field of Container. Did you mean "ports"?',
    )


def test_a_missing_field_is_reported_at_its_own_path() -> None:
    body = job()
    del body["spec"]["template"]["spec"]["containers"][0]["name"]
    path, keyword, text = only(problems(body))
    assert (path, keyword) == ("spec.template.spec.containers[0].name", "required")
    assert text == 'The field "name" is missing; it is required. Add "name".'


def test_the_hint_for_a_quoted_number_is_to_remove_the_quotes() -> None:
    assert only(problems(job(backoffLimit="3"))) == (
        "spec.backoffLimit",
        "type",
        'Found the string "3"; allowed is a whole number. Write it without quotes.',
    )


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ({"exclusiveMinimum": 3}, "Found the number 3; allowed is a number above 3. Give a number above 3."),
        ({"exclusiveMaximum": 3}, "Found the number 3; allowed is a number below 3. Give a number below 3."),
        ({"multipleOf": 2}, 'Found the number 3, which breaks the rule "multipleOf" of its schema.'),
    ],
)
def test_a_number_beyond_a_limit_is_reported_with_the_limit(rule: dict[str, Any], text: str) -> None:
    assert only(Checker(rule).problems(3))[2].startswith(text)


def test_problems_come_all_at_once_sorted_by_path() -> None:
    found = problems(job({"image": 3, "args": "x"}, backoffLimit=2**31))
    assert [dotted(problem.path) for problem in found] == [
        "spec.backoffLimit",
        "spec.template.spec.containers[0].args",
        "spec.template.spec.containers[0].image",
    ]


def test_a_kind_that_is_not_built_in_has_no_schema() -> None:
    assert object_problems(NEWEST, {"apiVersion": "example.com/v1", "kind": "Thing"}) is None
    assert object_problems(NEWEST, {"apiVersion": "batch/v1beta1", "kind": "Job"}) is None
    assert object_problems(NEWEST, {}) is None


@pytest.mark.parametrize("amount", ["1", "500m", "1Gi", "1.5", ".5", "1e3", "2E2", "-1k", 3, 0.5, None])
def test_quantities_are_accepted(amount: object) -> None:
    assert definition_problems(NEWEST, RESOURCES, {"limits": {"cpu": amount}}) == []


@pytest.mark.parametrize("amount", ["1GB", "1 Gi", "", "Gi", "1.5.2", "0x10", "1e", [1], True])
def test_invalid_quantities_are_refused(amount: object) -> None:
    path, _, text = only(definition_problems(NEWEST, RESOURCES, {"limits": {"memory": amount}}))
    assert path == "limits.memory"
    assert "quantity" in text or "number" in text


@pytest.mark.parametrize("port", [80, "http", None])
def test_a_port_reference_is_a_number_or_a_name(port: object) -> None:
    probe = {"livenessProbe": {"httpGet": {"port": port}}}
    assert problems(job(probe)) == []


def test_a_port_reference_is_not_a_list() -> None:
    path, keyword, _ = only(problems(job({"livenessProbe": {"httpGet": {"port": [80]}}})))
    assert (path, keyword) == ("spec.template.spec.containers[0].livenessProbe.httpGet.port", "type")


@pytest.mark.parametrize(
    ("toleration", "path", "part"),
    [
        ({"operator": "exists"}, "operator", 'Did you mean "Exists"?'),
        ({"operator": "Exists", "effect": "NoSchedul"}, "effect", 'Did you mean "NoSchedule"?'),
        ({"operator": "Exists", "value": "x"}, "value", "no value, since the operator is Exists"),
        ({"effect": "NoSchedule"}, "operator", "without a key it must be Exists"),
        ({"key": "a", "tolerationSeconds": 3}, "effect", "with tolerationSeconds it must be NoExecute"),
        ({"key": "a", "efect": "NoSchedule"}, "efect", 'Did you mean "effect"?'),
        ({"key": 5}, "key", "allowed is a string"),
    ],
)
def test_a_toleration_that_the_server_would_refuse(toleration: dict[str, Any], path: str, part: str) -> None:
    found = definition_problems(OLDEST, TOLERATION, toleration)
    assert path in [dotted(problem.path) for problem in found]
    assert part in " ".join(f"{problem.message} {problem.hint}" for problem in found)


@pytest.mark.parametrize(
    "toleration",
    [
        {"operator": "Exists"},
        {"operator": "Exists", "key": "gpu", "effect": ""},
        {"key": "gpu", "value": "yes"},
        {"key": "gpu", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60},
    ],
)
def test_a_toleration_that_the_server_accepts(toleration: dict[str, Any]) -> None:
    assert definition_problems(OLDEST, TOLERATION, toleration) == []


@pytest.mark.parametrize("version", KUBERNETES_VERSIONS)
def test_a_numeric_toleration_is_accepted(version: str) -> None:
    """A cluster may have the feature gate of such tolerations."""
    assert definition_problems(version, TOLERATION, {"key": "memory", "operator": "Gt", "value": "5"}) == []


def affinity(**requirement: Any) -> dict[str, Any]:
    terms = [{"matchExpressions": [{"key": "a", **requirement}]}]
    return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}


@pytest.mark.parametrize(
    ("requirement", "field"),
    [
        ({"operator": "In", "values": []}, "values"),
        ({"operator": "In"}, "values"),
        ({"operator": "Exists", "values": ["x"]}, "values"),
        ({"operator": "Gt", "values": ["1", "2"]}, "values"),
        ({"operator": "Gt", "values": ["many"]}, "values[0]"),
        ({"operator": "in", "values": ["x"]}, "operator"),
        ({"values": ["x"]}, "operator"),
    ],
)
def test_a_node_requirement_that_the_server_would_refuse(requirement: dict[str, Any], field: str) -> None:
    path, _, _ = only(definition_problems(NEWEST, NODE_AFFINITY, affinity(**requirement)))
    root = "requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0]"
    assert path == f"{root}.{field}"


@pytest.mark.parametrize(
    "requirement",
    [
        {"operator": "In", "values": ["x"]},
        {"operator": "DoesNotExist"},
        {"operator": "Lt", "values": ["-3"]},
    ],
)
def test_a_node_requirement_that_the_server_accepts(requirement: dict[str, Any]) -> None:
    assert definition_problems(NEWEST, NODE_AFFINITY, affinity(**requirement)) == []


def test_a_null_is_allowed_as_a_field_but_not_in_a_list() -> None:
    assert problems(job({"args": None})) == []
    path, keyword, _ = only(problems(job({"args": ["a", None]})))
    assert (path, keyword) == ("spec.template.spec.containers[0].args[1]", "type")


@pytest.mark.parametrize("place", [("containers",), ("containers", 0, "env"), ("tolerations",)])
def test_a_null_is_no_object_in_a_list_either(place: tuple[str | int, ...]) -> None:
    spec: dict[str, Any] = {
        "containers": [{"name": "a", "image": "a:1", "env": [{"name": "B"}]}],
        "tolerations": [{"key": "c"}],
    }
    holder: Any = spec
    for part in place:
        holder = holder[part]
    holder.append(None)
    (problem,) = definition_problems(OLDEST, "io.k8s.api.core.v1.PodSpec", spec)
    assert problem.path == (*place, 1)
    assert problem.message == "Found nothing; allowed is an item."


A: dict[str, Any] = {"name": "a", "image": "a:1"}
FIELD = {"fieldRef": {"fieldPath": "status.podIP"}}
SECRET = {"secretKeyRef": {"name": "s", "key": "k"}}
TCP = {"tcpSocket": {"port": 1}}
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"containers": [{"name": "a"}]}, "containers[0].image"),
    ({"containers": [{**A, "image": ""}]}, "containers[0].image"),
    ({"containers": [{**A, "ports": [{"containerPort": 1, "hostPort": 65536}]}]}, "containers[0].ports[0].hostPort"),
    ({"containers": [{**A, "env": [{"name": ""}]}]}, "containers[0].env[0].name"),
    ({"containers": [{**A, "env": [{"name": "A=B"}]}]}, "containers[0].env[0].name"),
    ({"containers": [{**A, "env": [{"name": "A", "value": "1", "valueFrom": FIELD}]}]}, "containers[0].env[0]"),
    ({"containers": [{**A, "env": [{"name": "A", "valueFrom": {}}]}]}, "containers[0].env[0].valueFrom"),
    ({"containers": [{**A, "env": [{"name": "A", "valueFrom": FIELD | SECRET}]}]}, "containers[0].env[0].valueFrom"),
    ({"containers": [{**A, "env": [{"name": "A", "valueFrom": {"secretKeyRef": {"key": "k"}}}]}]},
     "containers[0].env[0].valueFrom.secretKeyRef.name"),
    ({"containers": [{**A, "env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "", "key": "k"}}}]}]},
     "containers[0].env[0].valueFrom.configMapKeyRef.name"),
    ({"containers": [{**A, "resources": {"limits": {"gpu": 1}}}]}, "containers[0].resources.limits.gpu"),
    ({"containers": [{**A, "resources": {"requests": {"a.b/gpu": "0.5"}}}]},
     'containers[0].resources.requests["a.b/gpu"]'),
    ({"containers": [{**A, "resources": {"limits": {"a.b/c": "500m"}}}]}, 'containers[0].resources.limits["a.b/c"]'),
    ({"containers": [{**A, "resources": {"limits": {"a.b/c": 0.5}}}]}, 'containers[0].resources.limits["a.b/c"]'),
    ({"containers": [{**A, "livenessProbe": {**TCP, "successThreshold": 2}}]},
     "containers[0].livenessProbe.successThreshold"),
    ({"containers": [A], "initContainers": [{**A, "name": "i", "readinessProbe": TCP}]}, "initContainers[0]"),
    ({"containers": [A], "volumes": [{"name": "v", "emptyDir": {}, "hostPath": {"path": "/"}}]}, "volumes[0]"),
    ({"containers": [A], "activeDeadlineSeconds": 0}, "activeDeadlineSeconds"),
    ({"containers": [A], "dnsPolicy": "None"}, "dnsConfig"),
    ({"containers": [A], "dnsPolicy": "None", "dnsConfig": {}}, "dnsConfig.nameservers"),
    ({"containers": [A], "serviceAccountName": "My_SA"}, "serviceAccountName"),
    ({"containers": [A], "priorityClassName": "High"}, "priorityClassName"),
    ({"containers": [A], "runtimeClassName": "X Y"}, "runtimeClassName"),
    ({"containers": [A], "ephemeralContainers": [A]}, "ephemeralContainers"),
]  # fmt: skip
TAKEN: list[dict[str, Any]] = [
    {"containers": [{**A, "ports": [{"containerPort": 1, "hostPort": 0}]}]},
    {"containers": [{**A, "env": [{"name": "my.var-1 x"}, {"name": "B", "value": "", "valueFrom": FIELD}]}]},
    {"containers": [{**A, "resources": {"limits": {"cpu": 0.5, "memory": "1Gi", "hugepages-2Mi": "2Mi"}}}]},
    {
        "containers": [
            {**A, "resources": {"limits": {"nvidia.com/gpu": "2", "a.b/c": 1, "a.b/d": "1k", "a.b/e": "2000m"}}}
        ]
    },
    {"containers": [{**A, "readinessProbe": {**TCP, "successThreshold": 2}}]},
    {"containers": [A], "initContainers": [{**A, "name": "i", "restartPolicy": "Always", "startupProbe": TCP}]},
    {"containers": [A], "volumes": [{"name": "v"}, {"name": "w", "emptyDir": {}}]},
    {"containers": [A], "dnsPolicy": "None", "dnsConfig": {"nameservers": ["10.0.0.1"]}},
    {
        "containers": [A],
        "serviceAccountName": "",
        "schedulerName": "a..b",
        "terminationGracePeriodSeconds": -1,
        "nodeName": "10.0.0.1",
    },
]


@pytest.mark.parametrize(("spec", "path"), REFUSED)
def test_a_pod_that_the_server_refuses(spec: dict[str, Any], path: str) -> None:
    found = definition_problems(OLDEST, "io.k8s.api.core.v1.PodTemplateSpec", {"spec": spec})
    assert [dotted(problem.path) for problem in found] == [f"spec.{path}"]


@pytest.mark.parametrize("spec", TAKEN)
def test_a_pod_that_the_server_takes(spec: dict[str, Any]) -> None:
    assert definition_problems(OLDEST, "io.k8s.api.core.v1.PodTemplateSpec", {"spec": spec}) == []


def test_two_items_of_one_merge_key_are_refused() -> None:
    env = [{"name": "A", "value": "1"}, {"name": "B"}, {"name": "A", "value": "2"}]
    path, _, text = only(problems(job({"env": env})))
    assert path == "spec.template.spec.containers[0].env"
    assert text == 'Two items have name "A"; server-side apply refuses that. Keep one of them.'


def test_a_port_without_protocol_is_one_of_tcp() -> None:
    twice = [{"containerPort": 80}, {"containerPort": 80, "protocol": "TCP"}]
    other = [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}]
    assert len(problems(job({"ports": twice}))) == 1
    assert problems(job({"ports": other})) == []


def test_values_of_a_secret_are_not_shown() -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}
    for part in ({"data": {"key": "not base64!"}}, {"stringData": {"key": 83651}}):
        found = problems({**secret, **part})
        text = " ".join(f"{problem.message} {problem.hint}" for problem in found)
        assert found
        assert "not base64!" not in text
        assert "83651" not in text


def test_a_lone_surrogate_is_a_problem_and_no_crash() -> None:
    found = definition_problems(NEWEST, TOLERATION, {"key": "\ud800"})
    assert "surrogate" in found[0].message


def test_known_kinds_have_group_and_scope() -> None:
    kinds = known_kinds(OLDEST)
    assert KnownKind("", "v1", "PersistentVolume", namespaced=False) in kinds
    assert KnownKind("batch", "v1", "CronJob", namespaced=True) in kinds
    assert not [kind for kind in kinds if kind.kind.endswith("List")]


@pytest.mark.parametrize("version", KUBERNETES_VERSIONS)
def test_additional_rules_are_about_existing_fields(version: str) -> None:
    for definition, fields in rules.ENUMERATIONS.items():
        for field in fields:
            found = definition_problems(version, definition, {field: {}})
            at_field = [problem.keyword for problem in found if problem.path == (field,)]
            assert "additionalProperties" not in at_field, f"{definition}.{field} in {version}"
