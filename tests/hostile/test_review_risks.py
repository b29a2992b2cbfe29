"""`stowplan diff` shows a reviewer every new right of an object, at any position in the object."""

from collections.abc import Iterator
from typing import Any

import pytest

from stowplan.compiler.diff.change import Action, Danger, Pair
from stowplan.compiler.diff.comparison import compare
from stowplan.compiler.diff.risks.moves import PLACE
from stowplan.compiler.diff.risks.pods import Pods
from stowplan.compiler.diff.risks.rules import risks
from stowplan.compiler.model import OutputFile
from stowplan.compiler.output.render import render
from stowplan.library.manifest import Json, Manifest
from stowplan.schema.kinds.native.dataset import Dataset
from stowplan.schema.kinds.sample_set import SampleSet
from stowplan.schema.kinds.table import KINDS
from stowplan.schema.meta import Model

RBAC = "rbac.authorization.k8s.io/v1"
ARGOCD = "argoproj.io/v1alpha1"


def made(version: str, kind: str, spec: Any = None, **rest: Any) -> Json:
    body: Json = {"apiVersion": version, "kind": kind, "metadata": {"name": "a", "namespace": "ml"}, **rest}
    return body if spec is None else {**body, "spec": spec}


def found(before: Json | None, after: Json | None, pods: Pods = Pods()) -> list[tuple[Danger, str]]:  # noqa: B008 - frozen
    return [(each.danger, each.text) for each in risks(Pair("a.yaml", "specs/a.yaml", before, after), pods)]


def dangers(before: Json | None, after: Json | None) -> set[Danger]:
    return {danger for danger, _ in found(before, after)}


def texts(before: Json | None, after: Json | None) -> str:
    return "\n".join(text for _, text in found(before, after))


# Where pods are.


def template(pod: Json) -> Json:
    return {"metadata": {"labels": {"app": "a"}}, "spec": pod}


def holders(pod: Json) -> Iterator[Json]:
    """The pod in every kind that may hold one, also in kinds that nobody here has heard of."""
    for version, kind in (
        ("apps/v1", "DaemonSet"),
        ("apps/v1", "Deployment"),
        ("apps/v1", "ReplicaSet"),
        ("apps/v1", "StatefulSet"),
        ("batch/v1", "Job"),
        ("v1", "ReplicationController"),
        ("extensions/v1beta1", "Deployment"),
    ):
        yield made(version, kind, {"template": template(pod)})
    job = {"spec": {"template": template(pod)}}
    yield made("batch/v1", "CronJob", {"jobTemplate": job, "suspend": True})
    yield made("batch/v1beta1", "CronJob", {"jobTemplate": job, "suspend": True})
    yield made("v1", "Pod", pod)
    yield made("v1", "PodTemplate", template=template(pod))
    for version in ("jobset.x-k8s.io/v1alpha2", "jobset.x-k8s.io/v1alpha9"):
        yield made(
            version, "JobSet", {"replicatedJobs": [{"name": "ok", "template": {}}, {"name": "a", "template": job}]}
        )
    yield made("batch.volcano.sh/v1alpha1", "Job", {"tasks": [{"name": "a", "template": template(pod)}]})
    yield made("kubeflow.org/v1", "PyTorchJob", {"pytorchReplicaSpecs": {"Worker": {"template": template(pod)}}})
    yield made("example.com/v1", "Runner", {"pods": [{"deep": {"podSpec": pod}}]})


EVIL = {
    "hostPID": True,
    "volumes": [{"name": "host", "hostPath": {"path": "/"}}],
    "containers": [{"name": "main", "image": "a", "securityContext": {"privileged": True}}],
}


@pytest.mark.parametrize("body", list(holders(EVIL)), ids=lambda body: f"{body['apiVersion']}-{body['kind']}")
def test_pods_of_every_kind_are_looked_at(body: Json) -> None:
    said = [text for danger, text in found(None, body) if danger is Danger.SECURITY]
    assert len(said) == 3
    assert all(any(word in text for text in said) for word in ("hostPID", '{"path": "/"}', "main.securityContext"))


def test_the_custom_resource_of_a_job_does_not_repeat_its_pods() -> None:
    job = made("batch.paddlepaddle.org/v1", "PaddleJob", {"worker": {"replicas": 1, "template": template(EVIL)}})
    assert found(None, job) == []


# What is new in pods.


def deployment(main: Json | None = None, **pod: Any) -> Json:
    containers = [{"name": "main", "image": "a", **(main or {})}]
    return made("apps/v1", "Deployment", {"template": template({"containers": containers, **pod})})


def context(**fields: Any) -> Json:
    return {"securityContext": fields}


def annotated(key: str, value: str, field: str = "annotations") -> Json:
    own = {"metadata": {field: {key: value}}, "spec": {"containers": [{"name": "main", "image": "a"}]}}
    return made("apps/v1", "Deployment", {"template": own})


PLAIN = deployment()
SNAPSHOT = {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "payroll", "namespace": "finance"}
PROVIDER = {"driver": "secrets-store.csi.k8s.io", "volumeAttributes": {"secretProviderClass": "prod"}}
RIGHTS: list[Json] = [
    {"tolerations": [{"operator": "Exists"}]},
    {"tolerations": [{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}]},
    {"priorityClassName": "urgent"},
    {"priority": 1_000_000},
    {"nodeName": "control-plane-1"},
    {"resourceClaims": [{"name": "gpu", "resourceClaimName": "of-others"}]},
    {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "all"}]},
    {"imagePullSecrets": [{"name": "registry"}]},
    {"volumes": [{"name": "a", "csi": PROVIDER}]},
    *(
        {"volumes": [{"name": "a", "ephemeral": {"volumeClaimTemplate": {"spec": {field: SNAPSHOT}}}}]}
        for field in ("dataSource", "dataSourceRef")
    ),
    {"volumes": [{"name": "a", "projected": {"sources": [{"podCertificate": {"signerName": "a/b"}}]}}]},
    {"volumes": [{"name": "a", "projected": {"sources": [{"serviceAccountToken": {"audience": "vault"}}]}}]},
]
LESS_ISOLATED: list[Json] = [
    {"hostAliases": [{"ip": "203.0.113.1", "hostnames": ["pypi.org"]}]},
    {"dnsConfig": {"nameservers": ["203.0.113.1"]}},
    {"dnsPolicy": "Default"},
    {"runtimeClassName": "host"},
    {"shareProcessNamespace": True},
    {"securityContext": None},
    {"securityContext": {"$patch": "delete"}},
]
PATCHES: list[Json] = [
    {"securityContext": None},
    {"securityContext": {"$patch": "replace", "runAsNonRoot": True}},
    {"env": [{"$patch": "delete", "name": "A"}]},
]


@pytest.mark.parametrize(
    ("after", "danger"),
    [
        (deployment(hostNetwork=True), Danger.SECURITY),
        (deployment(securityContext={"runAsUser": 0}), Danger.SECURITY),
        (deployment(securityContext={"seccompProfile": {"type": "Unconfined"}}), Danger.SECURITY),
        (deployment(securityContext={"sysctls": [{"name": "kernel.core_pattern", "value": "x"}]}), Danger.SECURITY),
        (deployment(context(runAsUser=0)), Danger.SECURITY),
        (deployment(context(runAsNonRoot=False)), Danger.SECURITY),
        (deployment(context(allowPrivilegeEscalation=True)), Danger.SECURITY),
        (deployment(context(procMount="Unmasked")), Danger.SECURITY),
        (deployment(context(capabilities={"add": ["NET_RAW"]})), Danger.SECURITY),
        (deployment({"ports": [{"containerPort": 1, "hostPort": 80}]}), Danger.SECURITY),
        (deployment(volumes=[{"name": "a", "nfs": {"server": "a", "path": "/"}}]), Danger.SECURITY),
        (deployment(initContainers=[{"name": "i", **context(privileged=True)}]), Danger.SECURITY),
        (deployment(ephemeralContainers=[{"name": "e", **context(privileged=True)}]), Danger.SECURITY),
        (deployment(serviceAccountName="clusterrole-aggregation-controller"), Danger.RIGHTS),
        (deployment(serviceAccount="clusterrole-aggregation-controller"), Danger.RIGHTS),
        (deployment(automountServiceAccountToken=True), Danger.RIGHTS),
        (deployment(volumes=[{"name": "a", "projected": {"sources": [{"serviceAccountToken": {}}]}}]), Danger.RIGHTS),
        (deployment(volumes=[{"name": "a", "secret": {"secretName": "prod"}}]), Danger.RIGHTS),
        (deployment(volumes=[{"name": "a", "projected": {"sources": [{"secret": {"name": "prod"}}]}}]), Danger.RIGHTS),
        (deployment({"envFrom": [{"secretRef": {"name": "prod"}}]}), Danger.RIGHTS),
        (deployment({"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "prod"}}}]}), Danger.RIGHTS),
        *((deployment(**fields), Danger.RIGHTS) for fields in RIGHTS),
        *((deployment(**fields), Danger.SECURITY) for fields in LESS_ISOLATED),
        *((deployment(main), Danger.SECURITY) for main in PATCHES),
        (annotated("k8s.v1.cni.cncf.io/networks", "kube-system/mgmt"), Danger.RIGHTS),
        (annotated("v1.multus-cni.io/default-network", "mgmt"), Danger.RIGHTS),
        (annotated("cdi.k8s.io/mine", "nvidia.com/gpu=all"), Danger.RIGHTS),
        (annotated("iam.amazonaws.com/role", "admin"), Danger.RIGHTS),
        (annotated("sidecar.istio.io/inject", "false", "labels"), Danger.RIGHTS),
    ],
)
def test_what_a_pod_newly_may_do_is_a_risk(after: Json, danger: Danger) -> None:
    assert danger in dangers(None, after)
    assert danger in dangers(PLAIN, after)
    assert not dangers(after, after)


def test_another_image_is_the_least_risk() -> None:
    assert found(PLAIN, deployment({"image": "evil"}))[-1] == (Danger.IMAGE, "Container main runs the image evil.")
    assert Danger.IMAGE in dangers(PLAIN, deployment(initContainers=[{"name": "new", "image": "evil"}]))
    assert Danger.IMAGE not in dangers(None, PLAIN)
    assert list(Danger)[-1] is Danger.IMAGE


def test_only_what_is_new_is_a_risk() -> None:
    before = deployment(context(privileged=True), hostPID=True)
    after = deployment(context(privileged=True), hostPID=True, hostIPC=True)
    assert [text for danger, text in found(before, after) if danger is Danger.SECURITY] == [
        "hostIPC is true: The pod shares a namespace of its node."
    ]


def test_a_container_does_not_inherit_what_another_one_was_granted() -> None:
    before = made("v1", "Pod", {"containers": [{"name": "a", **context(privileged=True)}, {"name": "b"}]})
    after = made("v1", "Pod", {"containers": [{"name": "b", **context(privileged=True)}, {"name": "a"}]})
    assert "containers.b.securityContext.privileged is true" in texts(before, after)


def test_another_directory_of_the_node_is_a_risk() -> None:
    shm, root = (deployment(volumes=[{"name": "a", "hostPath": {"path": path}}]) for path in ("/dev/shm", "/"))
    assert '{"path": "/"}' in texts(shm, root)


def test_each_of_several_is_named() -> None:
    one, two = ({"key": key, "operator": "Exists"} for key in ("gpu", "infra"))
    risk = (Danger.RIGHTS, "Its pods tolerate the taint infra: they may run on nodes that are kept for others.")
    assert found(deployment(tolerations=[one]), deployment(tolerations=[one, two]))[0] == risk
    snapshot = deployment(**RIGHTS[9])
    assert "A volume of its pods is filled from VolumeSnapshot finance/payroll." in texts(PLAIN, snapshot)


def test_the_name_service_of_the_cluster_and_annotations_without_effect_are_no_risk() -> None:
    assert found(None, deployment(dnsPolicy="ClusterFirst", hostUsers=False)) == []
    for key in ("owner", "prometheus.io/scrape", "cluster-autoscaler.kubernetes.io/safe-to-evict"):
        assert found(None, annotated(key, "true")) == []


@pytest.mark.parametrize("kind", ["PersistentVolumeClaim", "StatefulSet"])
@pytest.mark.parametrize("field", ["dataSource", "dataSourceRef"])
def test_what_a_claim_is_filled_from_is_a_risk(kind: str, field: str) -> None:
    def claim(**spec: Any) -> Json:
        own = {"resources": {"requests": {"storage": "1Gi"}}, **spec}
        if kind == "StatefulSet":
            return made("apps/v1", kind, {"volumeClaimTemplates": [{"metadata": {"name": "a"}, "spec": own}]})
        return made("v1", kind, own)

    filled = claim(**{field: SNAPSHOT})
    assert Danger.RIGHTS in dangers(None, filled)
    assert Danger.RIGHTS in dangers(claim(), filled)
    assert "filled from VolumeSnapshot finance/payroll." in texts(None, filled)
    assert Danger.RIGHTS not in dangers(None, claim())


@pytest.mark.parametrize(
    "hard",
    [
        deployment(runtimeClassName="gvisor"),
        deployment(hostUsers=False),
        deployment(context(allowPrivilegeEscalation=False)),
        deployment(context(capabilities={"drop": ["ALL"]})),
        deployment(context(runAsNonRoot=True)),
        deployment(context(seccompProfile={"type": "RuntimeDefault"})),
    ],
)
def test_protection_that_is_taken_away_is_a_risk(hard: Json) -> None:
    assert Danger.SECURITY in dangers(hard, PLAIN)
    assert Danger.SECURITY not in dangers(None, PLAIN)


def test_a_token_that_is_no_longer_refused_is_a_risk() -> None:
    assert Danger.RIGHTS in dangers(deployment(automountServiceAccountToken=False), PLAIN)
    assert Danger.RIGHTS not in dangers(None, PLAIN)


def test_the_account_that_is_compiled_for_a_spec_is_no_risk() -> None:
    labels = {"app.kubernetes.io/name": "sampleset", "stowplan.dev/kind": "SampleSet", "stowplan.dev/name": "a"}
    account = made("v1", "ServiceAccount", metadata={"name": "own", "namespace": "ml", "labels": labels})
    pod = deployment(serviceAccountName="own", automountServiceAccountToken=True)
    own = {**pod, "metadata": {**pod["metadata"], "labels": labels}}
    of_others = {**pod, "metadata": {**pod["metadata"], "labels": {**labels, "stowplan.dev/name": "b"}}}
    assert found(None, own, Pods.of([account, own])) == []
    assert found(None, of_others, Pods.of([account, of_others]))
    assert found(None, pod, Pods.of([account, pod]))


# Rights.


def binding(kind: str = "RoleBinding", role: str = "cluster-admin", subject: str = "me") -> Json:
    subjects = [{"kind": "ServiceAccount", "name": subject, "namespace": "ml"}]
    return made(RBAC, kind, subjects=subjects, roleRef={"kind": "ClusterRole", "name": role})


def project(**fields: Any) -> Json:
    spec = {"sourceRepos": ["https://a"], "destinations": [{"namespace": "ml"}], "namespaceResourceWhitelist": []}
    return made(ARGOCD, "AppProject", {**spec, **fields})


def application(**fields: Any) -> Json:
    spec: Json = {
        "project": "ml",
        "source": {"repoURL": "https://a", "path": "out/ml"},
        "destination": {"namespace": "ml", "server": "https://kubernetes.default.svc"},
    }
    return made(ARGOCD, "Application", {**spec, **fields})


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, binding()),
        (None, binding("ClusterRoleBinding")),
        (binding(role="view"), binding()),
        (binding(subject="you"), binding()),
        (None, made(RBAC, "ClusterRole", rules=[{"nonResourceURLs": ["*"], "verbs": ["get"]}])),
        (
            made(RBAC, "ClusterRole", rules=[]),
            made(RBAC, "ClusterRole", aggregationRule={"clusterRoleSelectors": [{}]}),
        ),
        (
            None,
            made(
                RBAC,
                "ClusterRole",
                metadata={"name": "a", "labels": {"rbac.authorization.k8s.io/aggregate-to-edit": "true"}},
            ),
        ),
        (
            made(RBAC, "Role", rules=[{"apiGroups": [""], "resources": ["[a-z]*"], "verbs": ["get"]}]),
            made(RBAC, "Role", rules=[{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}]),
        ),
        (None, project()),
        (project(namespaceResourceWhitelist=[{"group": "", "kind": "Service"}]), project()),
        (project(clusterResourceBlacklist=[{"group": "*", "kind": "*"}]), project()),
        (project(), project(sourceNamespaces=["*"])),
        (project(), project(sourceRepos=["*"])),
        (project(), project(roles=[{"name": "ci", "policies": ["p, proj:ml:ci, *, *, *, allow"]}])),
        (None, application()),
        (application(), application(project="default")),
        (application(), application(source={"repoURL": "https://evil", "path": "out/ml"})),
        (application(), application(source={"repoURL": "https://a", "path": "elsewhere"})),
        (application(), application(sources=[{"repoURL": "https://evil"}])),
        (application(), application(destination={"namespace": "kube-system", "name": "in-cluster"})),
        (
            application(),
            application(source={"repoURL": "https://a", "path": "out/ml", "plugin": {"name": "sh"}}),
        ),
        (None, made(ARGOCD, "ApplicationSet", {"template": {"spec": application()["spec"]}})),
        (None, made("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", webhooks=[{"name": "a"}])),
        (
            None,
            made(
                "v1",
                "PersistentVolume",
                {
                    "claimRef": {"namespace": "ml", "name": "a"},
                    "csi": {"nodePublishSecretRef": {"namespace": "finance", "name": "prod"}},
                },
            ),
        ),
    ],
)
def test_new_rights_are_a_risk(before: Json | None, after: Json) -> None:
    assert Danger.RIGHTS in dangers(before, after)
    assert not dangers(after, after)


def test_a_binding_names_its_role() -> None:
    assert found(None, binding()) == [
        (Danger.RIGHTS, "ServiceAccount ml/me is given the rights of ClusterRole cluster-admin.")
    ]


def test_the_widest_rights_are_shown_first() -> None:
    narrow = [
        {"apiGroups": [""], "resources": ["pods"], "resourceNames": [f"p{i}"], "verbs": ["get"]} for i in range(9)
    ]
    wide = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}
    assert "secrets of any name" in texts(None, made(RBAC, "Role", rules=[*narrow, wide]))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"pod-security.kubernetes.io/enforce": "restricted"}, {"pod-security.kubernetes.io/enforce": "baseline"}),
        ({"pod-security.kubernetes.io/enforce": "baseline"}, {}),
    ],
)
def test_a_lower_level_of_pod_security_is_a_risk(before: Json, after: Json) -> None:
    old, new = (made("v1", "Namespace", metadata={"name": "ml", "labels": labels}) for labels in (before, after))
    assert Danger.SECURITY in dangers(old, new)
    assert not dangers(new, old)


def test_a_network_policy_that_changes_is_a_risk() -> None:
    closed, opened = (
        made("networking.k8s.io/v1", "NetworkPolicy", {"podSelector": {}, "ingress": [{}] * rules}) for rules in (0, 1)
    )
    assert Danger.SECURITY in dangers(closed, opened)


def test_a_volume_on_a_node_is_a_risk() -> None:
    for kind in ("hostPath", "local"):
        assert Danger.SECURITY in dangers(None, made("v1", "PersistentVolume", {kind: {"path": "/"}}))


def output(body: Json, path: str) -> OutputFile:
    return OutputFile(path=path, manifest=Manifest(body, "a"), source="specs/a.yaml", spec=None)


def test_the_first_object_in_a_namespace_is_a_risk() -> None:
    body = made("v1", "ConfigMap", metadata={"name": "a", "namespace": "kube-system"})
    older = (
        b"# Generated by Stowplan from a.yaml.\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, namespace: ml}\n"
    )
    outputs = [output(body, f"kube-system/a/configmap-{name}.yaml") for name in ("a", "b")]
    changes = [each for each in compare({"ml/a/b.yaml": older}, outputs) if each.action is Action.CREATED]
    said = [risk.text for each in changes for risk in each.risks]
    assert said == ["It is the first object in the namespace kube-system."]


def test_a_chosen_name_cannot_hide_another_change() -> None:
    old, new = (made("v1", "ConfigMap", metadata={"name": f"a-{name}", "namespace": "ml"}) for name in ("prod", "evil"))
    holder = made("v1", "ConfigMap", metadata={"name": "b", "namespace": "ml"}, data={"image": "reg/prod"})
    changed = {**holder, "data": {"image": "reg/evil"}}
    before = [output(old, "ml/a/a.yaml"), output(holder, "ml/a/b.yaml")]
    after = [output(new, "ml/a/a.yaml"), output(changed, "ml/a/b.yaml")]
    changes = compare({each.path: render(each) for each in before}, after)
    assert [(each.path, len(each.fields)) for each in changes if each.path == "ml/a/b.yaml"] == [("ml/a/b.yaml", 1)]


def dataset(name: str, source: Json, **rest: Any) -> Json:
    return made(
        "stowplan.dev/v1alpha1", "Dataset", {"source": source}, metadata={"name": name, "namespace": "ml"}, **rest
    )


def bucket(endpoint: str) -> Json:
    return {"s3": {"uri": "s3://data/a", "endpoint": endpoint}}


def reached(before: list[Json], after: list[Json]) -> list[str]:
    """The risks about remotes between two outputs, each a list of objects."""
    old, new = (
        [output(body, f"ml/a/{body['kind']}-{body['metadata']['name']}.yaml") for body in bodies]
        for bodies in (before, after)
    )
    changes = compare({each.path: render(each) for each in old}, new)
    return sorted(risk.text for each in changes for risk in each.risks if risk.text.startswith("Its data"))


def test_a_host_that_is_new_to_a_spec_or_to_all_is_a_risk() -> None:
    a, b = dataset("a", bucket("https://s3.example.com")), dataset("b", bucket("https://minio.example.com:9000"))
    evil = "Its data comes from evil.example.com, or goes there."
    assert reached([], [a, b]) == [], "the first output"
    assert reached([a], [a, dataset("c", bucket("https://s3.example.com"))]) == []
    assert reached([a], [a, dataset("c", bucket("https://EVIL.example.com/"))]) == [evil]
    assert reached([a, b], [a, dataset("b", bucket("https://evil.example.com"))]) == [evil]
    moved = reached([a, b], [a, dataset("b", bucket("https://s3.example.com"))])
    assert moved == ["Its data comes from s3.example.com, or goes there."], "another spec has it"
    other = reached([a], [dataset("a", {"s3": {"uri": "s3://evil/a", "endpoint": "https://s3.example.com"}})])
    assert other == ["Its data comes from s3://evil, or goes there."]


@pytest.mark.parametrize(
    "spec",
    [
        {"source": {"git": {"url": "https://user@evil.example.com/a.git"}}},
        {"executor": {"env": [{"name": "HF_ENDPOINT", "value": "https://evil.example.com"}]}},
        {"source": {"options": [{"name": "repo", "value": "git@evil.example.com:a/b.git"}]}},
        {"source": {"type": "git", "git": {"hosts": ["evil.example.com"]}}},
    ],
)
def test_hosts_in_all_forms_are_named(spec: Json) -> None:
    cube = made("tensorstack.dev/v1beta1", "DataCube", spec)
    plain = made("tensorstack.dev/v1beta1", "DataCube", {"source": {"type": "git"}})
    assert reached([plain], [cube]) == ["Its data comes from evil.example.com, or goes there."]


def test_the_outputs_and_the_code_of_a_training_have_hosts_and_its_programs_what_they_like() -> None:
    plain: Json = {"image": "a", "env": [{"name": "URI", "value": "https://mlflow.example.com"}]}
    evil = {"url": "https://evil.example.com/a.git"}
    outputs = [{"name": "a", "to": {"git": evil}}]
    version = "stowplan.dev/v1alpha1"
    old = made(version, "Training", {"image": "a"})
    assert reached([old], [made(version, "Training", plain)]) == []
    for field in ({"code": {"git": evil}}, {"outputs": outputs}):
        assert len(reached([old], [made(version, "Training", {**plain, **field})])) == 1


# What deletes data.


def aliases(model: type[Model], path: tuple[str, ...]) -> None:
    for key in path:
        (field,) = (each for name, each in model.model_fields.items() if key in (each.alias, name))
        inner = [
            each for each in (field.annotation, *getattr(field.annotation, "__args__", ())) if isinstance(each, type)
        ]
        model = next((each for each in inner if issubclass(each, Model)), model)


SIDES = {"source": {"type": "s3"}, "sink": {"type": "pvc"}}
REF = {"datasetRef": {"name": "a"}}
SYNC = {"type": "sync", "sampleSetRef": {"name": "a"}}


@pytest.mark.parametrize(
    ("kind", "spec", "text"),
    [
        ("DataCube", {**SIDES, "executor": {"options": {"sync": True}}}, "It deletes what the source lacks."),
        (
            "Dataset",
            {"volume": {"claim": {"name": "a"}}, "refresh": {"schedule": "@daily", "delete": True}},
            "Its refresh deletes what the source lacks.",
        ),
        ("DatasetTask", {**REF, "sync": {"delete": True}}, "Its sync deletes what the source lacks."),
        ("DatasetTask", {**REF, "remove": {"paths": ["a", "b"]}}, "It removes a, b from the dataset."),
        ("DatasetTask", {**REF, "evict": {}}, ""),
        ("SampleJob", {**SYNC, "type": "rmr", "rmrOptions": {"paths": ["a"]}}, "It removes a from the dataset."),
        ("SampleJob", {**SYNC, "syncOptions": {"delete-src": True}}, "Its sync deletes what only one side has."),
        ("SampleJob", {**SYNC, "syncOptions": {"delete-dst": True}}, "Its sync deletes what only one side has."),
        ("SampleJob", {**SYNC, "type": "clear"}, ""),
    ],
)
def test_a_run_that_deletes(kind: str, spec: Json, text: str) -> None:
    """The specs fit their models, so the fields that the rules look for are those of the kinds."""
    body = made(KINDS[kind].api_version, kind, spec)
    KINDS[kind].model.model_validate(body)
    assert found(None, body) == ([(Danger.DATA, text)] if text else [])


def test_every_field_that_says_what_is_copied_is_in_its_model() -> None:
    for kind, fields in PLACE.items():
        for field in fields:
            aliases(Dataset, ("spec", "source", kind, field))
    aliases(SampleSet, ("spec", "source", "uri"))


def test_a_mirroring_cube_deletes() -> None:
    cube = made("tensorstack.dev/v1beta1", "DataCube", {"executor": {"options": {"sync": True}}})
    assert found(None, cube) == [(Danger.DATA, "It deletes what the source lacks.")]
    assert found(cube, cube) == []


# Objects of any form.

FULL: Json = {
    "hostPID": True,
    "tolerations": [{"key": "a", "value": "b", "effect": "c"}],
    "hostAliases": [{"ip": "a", "hostnames": ["b"]}],
    "dnsConfig": {"searches": ["a"]},
    "resourceClaims": [{"name": "a", "resourceClaimName": "a"}],
    "imagePullSecrets": [{"name": "a"}],
    "serviceAccountName": "a",
    "automountServiceAccountToken": True,
    "os": {"name": "linux"},
    "securityContext": {
        "sysctls": [{"name": "a"}],
        "seLinuxOptions": {"type": "a"},
        "windowsOptions": {"hostProcess": True},
    },
    "volumes": [
        {"name": "a", "hostPath": {"path": "/"}},
        {"name": "c", "csi": {"driver": "a", "volumeAttributes": {"a": "b"}}},
        {"name": "d", "ephemeral": {"volumeClaimTemplate": {"spec": {"dataSourceRef": SNAPSHOT}}}},
        {"name": "e", "image": {"reference": "a"}},
        {"name": "b", "projected": {"sources": [{"serviceAccountToken": {}}, {"secret": {"name": "a"}}]}},
    ],
    "containers": [
        {
            "name": "a",
            "image": "a",
            "ports": [{"hostPort": 1}],
            "env": [{"name": "a", "valueFrom": {"secretKeyRef": {"name": "a"}}}],
            "envFrom": [{"secretRef": {"name": "a"}}],
            "livenessProbe": {"httpGet": {"host": "a"}},
            "securityContext": {
                "capabilities": {"add": ["SYS_ADMIN"], "drop": ["ALL"]},
                "procMount": "a",
                "seccompProfile": {"type": "a"},
                "appArmorProfile": {"type": "a"},
            },
        }
    ],
}
SAMPLES = [
    deployment(**FULL),
    made("example.com/v1", "Runner", {"pods": [FULL]}),
    binding(),
    project(roles=[{"name": "a"}], clusterResourceBlacklist=[{"kind": "a"}]),
    application(sources=[{"repoURL": "a", "plugin": {"name": "a"}}]),
    made(
        RBAC, "ClusterRole", rules=[{"apiGroups": [""], "resources": ["a"], "resourceNames": ["a"], "verbs": ["get"]}]
    ),
    made(RBAC, "ClusterRole", rules=[{"nonResourceURLs": ["/a"], "verbs": ["get"]}], aggregationRule={"a": [{}]}),
    made("batch.paddlepaddle.org/v1alpha1", "SampleJob", {"type": "rmr", "rmrOptions": {"paths": ["a"]}}),
    made("tensorstack.dev/v1beta1", "DataCube", {"executor": {"options": {"sync": True}}}),
    made("v1", "PersistentVolume", {"hostPath": {"path": "/"}, "csi": {"nodePublishSecretRef": {"namespace": "a"}}}),
    made("v1", "PersistentVolumeClaim", {"resources": {"requests": {"storage": "1Gi"}}, "dataSource": SNAPSHOT}),
    made("apps/v1", "StatefulSet", {"volumeClaimTemplates": [{"spec": {"dataSource": SNAPSHOT}}]}),
    made("networking.k8s.io/v1", "NetworkPolicy", {"podSelector": {"matchLabels": {"a": "b"}}}),
    made("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", webhooks=[{"clientConfig": {"url": "a"}}]),
]
ODD: list[Any] = [None, True, 1, 1.5, "a", [], {}, [1], [[]], [{}], {"a": 1}, {"name": {}}]


def changed_everywhere(value: Any) -> Iterator[Any]:
    """The value with each of its parts replaced by something of another form, one at a time."""
    yield from ODD
    if isinstance(value, dict):
        for key, item in value.items():
            yield from ({**value, key: other} for other in changed_everywhere(item))
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from ([*value[:index], other, *value[index + 1 :]] for other in changed_everywhere(item))


@pytest.mark.parametrize("body", SAMPLES, ids=lambda body: str(body["kind"]))
def test_no_form_of_an_object_breaks_the_rules(body: Json) -> None:
    pods = Pods.of([body])
    for key in body.keys() - {"kind", "apiVersion", "metadata"}:
        for value in changed_everywhere(body[key]):
            odd = {**body, key: value}
            for before, after in ((None, odd), (odd, body), (body, odd), (odd, None)):
                found(before, after, pods)
            Pods.of([odd])
