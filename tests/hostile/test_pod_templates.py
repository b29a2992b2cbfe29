"""Pod templates that request a node or foreign rights, in every kind, engine and sort of namespace."""

import re
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from stowplan.schema.kinds.mx_job import CONTAINER
from stowplan.schema.platform.pod_grants import PodGrant
from tests.repositories import Result, compiled

Json = dict[str, Any]
Found = dict[str, set[tuple[str, str]]]
"""Codes and missing grants, by the name of the spec."""

ENGINES = ("core", "jobset")
VIOLATIONS: Mapping[str, Json] = {
    "appArmor": {"container": {"securityContext": {"appArmorProfile": {"type": "Unconfined"}}}},
    "capabilities": {"container": {"securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}}}},
    "hostIPC": {"pod": {"hostIPC": True}},
    "hostNetwork": {"pod": {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet"}},
    "hostPID": {"pod": {"hostPID": True}},
    "hostPath": {"pod": {"volumes": [{"name": "root", "hostPath": {"path": "/"}}]}},
    "hostPorts": {"container": {"ports": [{"containerPort": 80, "hostPort": 80}]}},
    "hostProbes": {"container": {"livenessProbe": {"httpGet": {"port": 80, "host": "169.254.169.254"}}}},
    "hostProcess": {"container": {"securityContext": {"windowsOptions": {"hostProcess": True}}}},
    "networks": {"annotations": {"k8s.v1.cni.cncf.io/networks": "kube-system/mgmt"}},
    "nodeName": {"pod": {"nodeName": "control-plane-1"}},
    "privileged": {"container": {"securityContext": {"privileged": True}}},
    "procMount": {"container": {"securityContext": {"procMount": "Unmasked"}}},
    "seLinux": {"container": {"securityContext": {"seLinuxOptions": {"type": "spc_t"}}}},
    "seccomp": {"pod": {"securityContext": {"seccompProfile": {"type": "Unconfined"}}}},
    "sysctls": {"pod": {"securityContext": {"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}}},
}
OF_TRAINING_JOBS: Mapping[str, Json] = {
    "hostNetwork": {"host_network": True},
    "hostPath": VIOLATIONS["hostPath"]["pod"],
    "hostProbes": {"trainer": {"liveness_probe": VIOLATIONS["hostProbes"]["container"]["livenessProbe"]}},
}
"""A TrainingJob has no templates; these are its fields that reach a pod."""


def template(
    container: str, pod: Json | None = None, fields: Json | None = None, annotations: Json | None = None
) -> Json:
    return {
        "metadata": {"annotations": annotations or {}},
        "spec": {"containers": [{"name": container, "image": "a.example.com/a:1", **(fields or {})}], **(pod or {})},
    }


def paddle_job(
    name: str,
    namespace: str,
    pod: Json | None = None,
    container: Json | None = None,
    annotations: Json | None = None,
) -> Json:
    worker = {"replicas": 2, "template": template("paddle", pod, container, annotations)}
    meta = {"name": name, "namespace": namespace}
    return {
        "apiVersion": "batch.paddlepaddle.org/v1",
        "kind": "PaddleJob",
        "metadata": meta,
        "spec": {"worker": worker},
    }


def mx_job(
    name: str,
    namespace: str,
    pod: Json | None = None,
    container: Json | None = None,
    annotations: Json | None = None,
) -> Json:
    roles = [
        {"mxReplicaType": role, "replicas": 1, "template": template(CONTAINER, pod, container, annotations)}
        for role in ("SCHEDULER", "SERVER", "WORKER")
    ]
    spec = {"jobMode": "dist", "replicaSpecs": deepcopy(roles)}
    meta = {"name": name, "namespace": namespace}
    return {"apiVersion": "mxnet.mlkube.io/v1beta1", "kind": "MxJob", "metadata": meta, "spec": spec}


def training_job(name: str, namespace: str, fields: Json) -> Json:
    trainer = {"entrypoint": "train", "min-instance": 2, "max-instance": 2, **fields.get("trainer", {})}
    pserver = {"entrypoint": "serve", "min-instance": 1, "max-instance": 1}
    spec = {"image": "a.example.com/a:1", **fields, "trainer": trainer, "pserver": pserver}
    meta = {"name": name, "namespace": namespace}
    return {"apiVersion": "paddlepaddle.org/v1alpha1", "kind": "TrainingJob", "metadata": meta, "spec": spec}


def offenders(namespace: str) -> list[Json]:
    """A spec of each kind for each thing that needs a grant, named after both."""
    made = [paddle_job(f"{grant}-paddle".lower(), namespace, **fields) for grant, fields in VIOLATIONS.items()]
    made += [mx_job(f"{grant}-mx".lower(), namespace, **fields) for grant, fields in VIOLATIONS.items()]
    made += [training_job(f"{grant}-old".lower(), namespace, fields) for grant, fields in OF_TRAINING_JOBS.items()]
    on_host = paddle_job("hostnetwork-intranet", namespace)
    on_host["spec"]["intranet"] = "Host"
    return [*made, on_host]


def grant_of(name: str) -> str:
    return next(grant for grant in VIOLATIONS if grant.lower() == name.partition("-")[0])


def compile_all(repo: Path, specs: list[Json], platform: Json) -> Result:
    head = {"kind": "Platform", "images": {"registry": "registry.example.com/ml", "tag": "1"}, **platform}
    files = {f"{spec['metadata']['name']}.yaml": yaml.safe_dump(spec) for spec in specs}
    repo.mkdir(exist_ok=True)
    return compiled(repo, {"_.yaml": f"{yaml.safe_dump(head)}\n---\n", **files})


def errors(result: Result) -> Found:
    found: Found = {}
    for each in result.errors:
        allow = re.search(r"`policy\.allow: \[(\w+)\]`", each.hint)
        found.setdefault(Path(each.location.file).stem, set()).add((each.code, allow[1] if allow else ""))
    return found


def test_every_grant_has_an_offender() -> None:
    assert sorted(VIOLATIONS) == sorted(get_args(PodGrant))


@pytest.mark.parametrize("jobs", ENGINES)
@pytest.mark.parametrize("namespace", ["ml", "default"])
@pytest.mark.parametrize("policy", [{}, {"podSecurity": "ignore"}])
def test_each_finding_names_its_grant(jobs: str, namespace: str, policy: Json, tmp_path: Path) -> None:
    specs = offenders(namespace)
    found = errors(compile_all(tmp_path, specs, {"engines": {"jobs": jobs}, "policy": policy}))
    names = [spec["metadata"]["name"] for spec in specs]
    assert found == {name: {("SP614", grant_of(name))} for name in names}


@pytest.mark.parametrize("jobs", ENGINES)
@pytest.mark.parametrize("grant", VIOLATIONS)
def test_a_grant_allows_one_thing(jobs: str, grant: str, tmp_path: Path) -> None:
    specs = offenders("ml")
    platform = {"engines": {"jobs": jobs}, "policy": {"allow": [grant]}}
    allowed = {spec["metadata"]["name"] for spec in specs} - errors(compile_all(tmp_path, specs, platform)).keys()
    assert allowed == {spec["metadata"]["name"] for spec in specs if grant_of(spec["metadata"]["name"]) == grant}


@pytest.mark.parametrize("jobs", ENGINES)
def test_the_level_privileged_allows_everything(jobs: str, tmp_path: Path) -> None:
    platform = {"engines": {"jobs": jobs}, "policy": {"podSecurityLevel": "privileged"}}
    assert errors(compile_all(tmp_path, offenders("ml"), platform)) == {}


@pytest.mark.parametrize("key", ["k8s.v1.cni.cncf.io/networks", "v1.multus-cni.io/default-network"])
def test_a_network_of_the_platform_needs_no_grant_and_no_other_is_that_one(key: str, tmp_path: Path) -> None:
    specs = [paddle_job(name, "ml", annotations={key: name}) for name in ("rdma", "mgmt")]
    platform = {"profiles": {"networks": {"ib": {"annotations": {key: "rdma"}}}}}
    assert errors(compile_all(tmp_path, specs, platform)) == {"mgmt": {("SP614", "networks")}}


def snapshot(namespace: str) -> Json:
    return {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "payroll", "namespace": namespace}


def claim(source: str, **annotations: str) -> Json:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {"metadata": {"annotations": annotations}, "spec": {**spec, "dataSourceRef": snapshot(source)}}


@pytest.mark.parametrize("make", [paddle_job, mx_job])
def test_an_ephemeral_volume_takes_nothing_from_another_namespace(make: Any, tmp_path: Path) -> None:
    node = {"volume.kubernetes.io/selected-node": "control-plane-1"}
    templates = {"finance": claim("finance"), "node": claim("ml", **node), "own": claim("ml")}
    specs = [
        make(name, "ml", {"volumes": [{"name": "a", "ephemeral": {"volumeClaimTemplate": template}}]})
        for name, template in templates.items()
    ]
    assert errors(compile_all(tmp_path, specs, {})) == {"finance": {("SP322", "")}, "node": {("SP322", "")}}


def test_a_plain_claim_takes_nothing_from_another_namespace(tmp_path: Path) -> None:
    def plain(kind: str, version: str, spec: Json, name: str) -> Json:
        return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "ml"}, "spec": spec}

    labels = {"app": "a"}
    pods = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "a", "image": "a.example.com/a:1"}]}}
    made = {"metadata": {"name": "data"}, "spec": claim("finance")["spec"]}
    stateful = {
        "selector": {"matchLabels": labels},
        "serviceName": "a",
        "template": pods,
        "volumeClaimTemplates": [made],
    }
    specs = [
        plain("PersistentVolumeClaim", "v1", claim("finance")["spec"], "foreign"),
        plain("PersistentVolumeClaim", "v1", claim("ml")["spec"], "own"),
        plain("StatefulSet", "apps/v1", stateful, "stateful"),
    ]
    kinds = [{"group": "", "kind": "PersistentVolumeClaim"}, {"group": "apps", "kind": "StatefulSet"}]
    platform = {"passThrough": kinds}
    assert errors(compile_all(tmp_path, specs, platform)) == {"foreign": {("SP322", "")}, "stateful": {("SP322", "")}}


def test_the_level_restricted_asks_for_more(tmp_path: Path) -> None:
    """Each rule that is broken is reported at once; a grant waives its own rule here too."""
    secure = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    fits = {"securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}}
    volume = {"volumes": [{"name": "root", "hostPath": {"path": "/"}}]}
    specs = [
        paddle_job("fits", "ml", fits, {"securityContext": secure}),
        paddle_job("granted", "ml", {**fits, **volume}, {"securityContext": secure}),
        paddle_job("pid", "ml", {**fits, "hostPID": True}, {"securityContext": secure}),
        paddle_job("bare", "ml"),
    ]
    policy = {"podSecurityLevel": "restricted", "allow": ["hostPath"]}
    result = compile_all(tmp_path, specs, {"policy": policy})
    assert errors(result) == {"pid": {("SP614", "hostPID")}, "bare": {("SP614", "")}}
    fields = {
        found.field_path.rpartition(".")[2] for found in result.errors if found.location.file.endswith("bare.yaml")
    }
    assert fields == {"runAsNonRoot", "type", "allowPrivilegeEscalation", "drop"}


@pytest.mark.parametrize("namespace", ["kube-system", "kube-public", "gitops", "csi"])
def test_namespaces_of_the_system_are_refused(namespace: str, tmp_path: Path) -> None:
    """Whatever the job asks for; a listed one is like any other."""
    specs = [*offenders(namespace), paddle_job("harmless-1", namespace)]
    system = {"argocd": {"namespace": "gitops"}, "juicefs": {"csiNamespace": "csi"}}
    found = errors(compile_all(tmp_path / "refused", specs, system))
    assert found == {spec["metadata"]["name"]: {("SP615", "")} for spec in specs}
    listed = {**system, "policy": {"namespaces": [namespace]}}
    found = errors(compile_all(tmp_path / "listed", specs, listed))
    assert found == {
        spec["metadata"]["name"]: {("SP614", grant_of(spec["metadata"]["name"]))} for spec in offenders(namespace)
    }


@pytest.mark.parametrize(
    ("kind", "api", "spec"),
    [
        ("SampleSet", "batch.paddlepaddle.org/v1alpha1", {"partitions": 1, "secretRef": {"name": "a"}, "noSync": True}),
        (
            "DataCube",
            "tensorstack.dev/v1beta1",
            {
                "source": {"type": "git", "options": [{"name": "url", "value": "https://git.example.com/a.git"}]},
                "sink": {"type": "pvc", "pvc": {"name": "models", "subPath": "a"}},
            },
        ),
    ],
)
def test_other_kinds_are_refused_there_too(kind: str, api: str, spec: Json, tmp_path: Path) -> None:
    made = {"apiVersion": api, "kind": kind, "metadata": {"name": "a", "namespace": "kube-system"}, "spec": spec}
    assert errors(compile_all(tmp_path, [made], {})) == {"a": {("SP615", "")}}


def test_a_sync_does_not_run_in_a_namespace_of_the_system(tmp_path: Path) -> None:
    """The Job of a sync runs beside its Secret, where the platform lets it."""
    spec = {
        "partitions": 1,
        "secretRef": {"name": "a", "namespace": "kube-system"},
        "source": {"uri": "s3://samples.s3.eu-west-1.amazonaws.com/a/"},
    }
    meta = {"name": "a", "namespace": "ml"}
    made = {"apiVersion": "batch.paddlepaddle.org/v1alpha1", "kind": "SampleSet", "metadata": meta, "spec": spec}
    pairs = [{"specNamespace": "ml", "secretNamespace": "kube-system"}]
    policy = {"crossNamespaceTasks": True, "crossNamespaceSecrets": pairs}
    found = errors(compile_all(tmp_path, [made], {"policy": policy}))
    assert ("SP615", "") in found["a"]


@pytest.mark.parametrize("jobs", ENGINES)
def test_the_stricter_of_two_levels_is_reported_once(jobs: str, tmp_path: Path) -> None:
    specs = offenders("ml")
    platform: Json = {"engines": {"jobs": jobs}, "namespaces": {"emit": True, "podSecurity": "restricted"}}
    found = errors(compile_all(tmp_path / "error", specs, platform))
    assert found == {spec["metadata"]["name"]: {("SP613", "")} for spec in specs}
    softened = compile_all(tmp_path / "warn", specs, {**platform, "policy": {"podSecurity": "warn"}})
    assert errors(softened) == {
        spec["metadata"]["name"]: {("SP614", grant_of(spec["metadata"]["name"]))} for spec in specs
    }


def test_a_grant_does_not_hide_what_the_cluster_would_refuse(tmp_path: Path) -> None:
    specs = [paddle_job("a", "ml", **VIOLATIONS["hostPath"])]
    platform = {"namespaces": {"emit": True, "podSecurity": "baseline"}, "policy": {"allow": ["hostPath"]}}
    assert errors(compile_all(tmp_path, specs, platform)) == {"a": {("SP613", "")}}


@pytest.mark.parametrize(
    ("api", "kind", "wrap"),
    [
        ("v1", "Pod", lambda made: made["spec"]),
        ("batch/v1", "Job", lambda made: {"template": made}),
        ("batch/v1", "CronJob", lambda made: {"schedule": "0 0 * * *", "jobTemplate": {"spec": {"template": made}}}),
        (
            "jobset.x-k8s.io/v1alpha2",
            "JobSet",
            lambda made: {"replicatedJobs": [{"name": "a", "template": {"spec": {"template": made}}}]},
        ),
    ],
)
def test_plain_objects_are_held_to_the_same(api: str, kind: str, wrap: Any, tmp_path: Path) -> None:
    """That the platform lets a kind through says nothing of what its pods ask for."""
    made = template("main", {"hostPID": True, "restartPolicy": "Never", "serviceAccountName": "stowplan-reporter"})
    made["spec"]["priorityClassName"] = "system-cluster-critical"
    meta = {"name": "a", "namespace": "ml", "annotations": {"argocd.argoproj.io/sync-options": "Prune=false"}}
    plain = {"apiVersion": api, "kind": kind, "metadata": meta, "spec": wrap(made)}
    group = api.rpartition("/")[0]
    platform = {"passThrough": [{"group": group, "kind": kind}]}
    found = errors(compile_all(tmp_path, [plain], platform))["a"]
    assert found >= {("SP614", "hostPID"), ("SP616", ""), ("SP617", "")}


ACCOUNTS = ["stowplan-reporter", "imagenet-sampleset", "rmr-samplejob", "weights-datacube", "stowplan-anything"]


@pytest.mark.parametrize("jobs", ENGINES)
@pytest.mark.parametrize("field", ["serviceAccountName", "serviceAccount"])
def test_accounts_of_agents_are_theirs(jobs: str, field: str, tmp_path: Path) -> None:
    specs = [paddle_job(f"{name}-p", "ml", {field: name}) for name in ACCOUNTS]
    specs += [mx_job(f"{name}-m", "ml", {field: name}) for name in ACCOUNTS]
    specs += [paddle_job("own-p", "ml", {field: "trainer"}), paddle_job("default-p", "ml", {field: "default"})]
    platform = {"engines": {"jobs": jobs}, "policy": {"serviceAccounts": ACCOUNTS}}
    found = errors(compile_all(tmp_path / "listed", specs, platform))
    refused = {spec["metadata"]["name"]: {("SP616", "")} for spec in specs[:-2]}
    assert found == {**refused, "own-p": {("SP616", "")}}
    assert errors(compile_all(tmp_path / "any", specs, {"engines": {"jobs": jobs}})) == refused


def test_an_account_with_a_cut_name_is_known_by_its_object(tmp_path: Path) -> None:
    cube = {
        "source": {"type": "git", "options": [{"name": "url", "value": "https://git.example.com/a.git"}]},
        "sink": {"type": "pvc", "pvc": {"name": "models", "subPath": "a"}},
    }
    meta = {"name": "w" * 250, "namespace": "ml"}
    made = {"apiVersion": "tensorstack.dev/v1beta1", "kind": "DataCube", "metadata": meta, "spec": cube}
    alone = compile_all(tmp_path / "alone", [made], {})
    (account,) = (
        output.manifest.name
        for output in alone.outputs
        if output.manifest.kind == "ServiceAccount" and output.manifest.name != "stowplan-reporter"
    )
    assert not account.endswith("-datacube")
    thief = paddle_job("thief", "ml", {"serviceAccountName": account})
    assert errors(compile_all(tmp_path / "both", [made, thief], {}))["thief"] == {("SP616", "")}


@pytest.mark.parametrize("jobs", ENGINES)
@pytest.mark.parametrize("gang", ["none", "volcano", "coscheduling", "kueue"])
def test_priority_classes_of_the_cluster_are_not_for_jobs(jobs: str, gang: str, tmp_path: Path) -> None:
    """Not in a template, nor in the scheduling policy, which becomes a pod group or a field of the pods."""
    by_policy = paddle_job("policy", "ml")
    by_policy["spec"]["schedulingPolicy"] = {"priorityClass": "system-cluster-critical"}
    specs = [
        paddle_job("template", "ml", {"priorityClassName": "system-node-critical"}),
        paddle_job("other", "ml", {"priorityClassName": "research"}),
        by_policy,
    ]
    engines = {"jobs": jobs, "gang": gang, **({"queue": "shared"} if gang in ("kueue", "volcano") else {})}
    found = errors(compile_all(tmp_path / "any", specs, {"engines": engines}))
    refused = {"template": {("SP617", "")}}
    assert found == (refused if gang == "none" else {**refused, "policy": {("SP617", "")}})
    listed = {"engines": engines, "policy": {"priorityClasses": ["system-node-critical", "batch"]}}
    assert errors(compile_all(tmp_path / "listed", specs, listed)).keys() == {*found, "other"}


def test_what_fits_needs_no_grant(tmp_path: Path) -> None:
    """Devices, tolerations, another scheduler, a runtime class and Secrets of the namespace are for users to choose."""
    pod = {
        "tolerations": [{"operator": "Exists"}],
        "schedulerName": "gpu-scheduler",
        "runtimeClassName": "nvidia",
        "volumes": [{"name": "shm", "emptyDir": {"medium": "Memory"}}, {"name": "keys", "secret": {"secretName": "k"}}],
    }
    container = {
        "envFrom": [{"secretRef": {"name": "hub"}}],
        "resources": {"limits": {"nvidia.com/gpu": 8}},
        "securityContext": {"capabilities": {"add": ["CHOWN"]}, "runAsUser": 0},
    }
    assert errors(compile_all(tmp_path, [paddle_job("a", "ml", pod, container)], {})) == {}


def test_directories_of_accelerators_are_granted_by_the_platform(tmp_path: Path) -> None:
    """For MxJobs with that very directory; another one, or one level above, needs a grant."""
    limits = {"resources": {"limits": {"example.com/tpu": 1}}}
    driver = {"name": "driver", "hostPath": "/opt/driver", "mountPath": "/driver"}
    platform = {"accelerators": {"example.com/tpu": {"volumes": [driver]}}}
    above = {"volumes": [{"name": "driver", "hostPath": {"path": "/opt"}}]}
    same = {"volumes": [{"name": "driver", "hostPath": {"path": "/opt/driver"}}]}
    specs = [
        mx_job("fits", "ml", None, limits),
        mx_job("above", "ml", above, limits),
        paddle_job("other-kind", "ml", same, limits),
    ]
    found = errors(compile_all(tmp_path, specs, platform))
    assert found == {"above": {("SP614", "hostPath")}, "other-kind": {("SP614", "hostPath")}}
