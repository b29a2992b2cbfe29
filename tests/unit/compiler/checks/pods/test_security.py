"""The level `restricted`, rule by rule, as in pod-security-admission v1.34."""

from typing import Any, get_args

import pytest

from stowplan.compiler.checks.objects.pods import pods_of
from stowplan.compiler.checks.pods import security
from stowplan.library.manifest import Json
from stowplan.schema.platform.pod_grants import PodGrant
from tests.unit.compiler.checks.given import GONE, SECURE, body, changed, fields, foreign, job, objects, stateful_set

POD = "spec.template.spec"
CONTAINER = f"{POD}.containers.0"
SECURITY = f"{CONTAINER}.securityContext"
SECCOMP = {"type": "RuntimeDefault"}

FORBIDDEN = [
    (f"{POD}.hostNetwork", True),
    (f"{POD}.hostPID", True),
    (f"{POD}.hostIPC", True),
    (f"{SECURITY}.privileged", True),
    (f"{SECURITY}.allowPrivilegeEscalation", True),
    (f"{SECURITY}.allowPrivilegeEscalation", GONE),
    (f"{SECURITY}.capabilities.drop", GONE),
    (f"{SECURITY}.capabilities.drop", ["NET_RAW"]),
    (f"{SECURITY}.capabilities.add", ["SYS_ADMIN"]),
    (f"{SECURITY}.capabilities.add", ["NET_BIND_SERVICE", "CHOWN"]),
    (f"{POD}.securityContext.runAsNonRoot", False),
    (f"{SECURITY}.runAsNonRoot", False),
    (f"{POD}.securityContext.runAsUser", 0),
    (f"{SECURITY}.runAsUser", 0),
    (f"{POD}.securityContext.seccompProfile.type", "Unconfined"),
    (f"{SECURITY}.seccompProfile", {"type": "Unconfined"}),
    (f"{SECURITY}.procMount", "Unmasked"),
    (f"{POD}.securityContext.sysctls", [{"name": "kernel.msgmax", "value": "1"}]),
    (f"{POD}.securityContext.appArmorProfile", {"type": "Unconfined"}),
    (f"{SECURITY}.appArmorProfile", {"type": "Unconfined"}),
    ("spec.template.metadata.annotations", {"container.apparmor.security.beta.kubernetes.io/main": "unconfined"}),
    (f"{POD}.securityContext.seLinuxOptions", {"type": "spc_t"}),
    (f"{SECURITY}.seLinuxOptions", {"user": "root"}),
    (f"{SECURITY}.seLinuxOptions", {"role": "sysadm_r"}),
    (f"{SECURITY}.windowsOptions", {"hostProcess": True}),
    (f"{CONTAINER}.ports", [{"containerPort": 80, "hostPort": 80}]),
    (f"{CONTAINER}.livenessProbe", {"httpGet": {"port": 80, "host": "169.254.169.254"}}),
    (f"{CONTAINER}.readinessProbe", {"tcpSocket": {"port": 80, "host": "localhost"}}),
    (f"{CONTAINER}.startupProbe", {"httpGet": {"port": 80, "host": "127.0.0.1"}}),
    (f"{CONTAINER}.lifecycle", {"preStop": {"httpGet": {"port": 80, "host": "a"}}}),
    (f"{CONTAINER}.lifecycle", {"postStart": {"tcpSocket": {"port": 80, "host": "a"}}}),
]
ALLOWED = [
    (f"{POD}.hostNetwork", False),
    (f"{SECURITY}.privileged", False),
    (f"{SECURITY}.capabilities.drop", ["ALL", "NET_RAW"]),
    (f"{SECURITY}.capabilities.add", ["NET_BIND_SERVICE"]),
    (f"{SECURITY}.runAsNonRoot", True),
    (f"{SECURITY}.runAsUser", 65532),
    (f"{POD}.securityContext.seccompProfile", {"type": "Localhost", "localhostProfile": "a.json"}),
    (f"{SECURITY}.seccompProfile", {"type": "RuntimeDefault"}),
    (f"{SECURITY}.procMount", "Default"),
    (f"{POD}.securityContext.sysctls", [{"name": "net.ipv4.tcp_rmem", "value": "1"}]),
    (f"{SECURITY}.appArmorProfile", {"type": "RuntimeDefault"}),
    ("spec.template.metadata.annotations", {"container.apparmor.security.beta.kubernetes.io/main": "localhost/a"}),
    (f"{SECURITY}.seLinuxOptions", {"type": "container_t", "level": "s0"}),
    (f"{SECURITY}.windowsOptions", {"hostProcess": False}),
    (f"{CONTAINER}.ports", [{"containerPort": 80, "hostPort": 0}]),
    (f"{CONTAINER}.livenessProbe", {"httpGet": {"port": 80, "host": ""}}),
]
VOLUME_TYPES = "configMap csi downwardAPI emptyDir ephemeral persistentVolumeClaim projected secret".split()
FORBIDDEN_TYPES = "hostPath nfs iscsi rbd cephfs glusterfs gitRepo flexVolume awsElasticBlockStore image".split()


def restricted(made: Json) -> list[str]:
    return [path for _, path in fields(security.check(objects(made)))]


@pytest.mark.parametrize(("path", "value"), FORBIDDEN, ids=[path for path, _ in FORBIDDEN])
def test_a_forbidden_field(path: str, value: Any) -> None:
    found = restricted(changed(job(), path, value))
    assert len(found) == 1
    assert found[0].startswith(path.replace(".0", "[0]"))


@pytest.mark.parametrize(("path", "value"), ALLOWED, ids=[path for path, _ in ALLOWED])
def test_an_allowed_field(path: str, value: Any) -> None:
    assert restricted(changed(job(), path, value)) == []


@pytest.mark.parametrize("kind", VOLUME_TYPES)
def test_an_allowed_type_of_volume(kind: str) -> None:
    assert restricted(changed(job(), f"{POD}.volumes", [{"name": "v", kind: {}}])) == []


@pytest.mark.parametrize("kind", FORBIDDEN_TYPES)
def test_a_forbidden_type_of_volume(kind: str) -> None:
    assert restricted(changed(job(), f"{POD}.volumes", [{"name": "v", kind: {}}])) == [f"{POD}.volumes[0].{kind}"]


def test_a_container_sets_what_the_pod_does_not() -> None:
    bare = changed(job(), f"{POD}.securityContext", GONE)
    own = {**SECURE, "runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    container = f"{POD}.containers[0].securityContext"
    assert restricted(bare) == [f"{container}.runAsNonRoot", f"{container}.seccompProfile.type"]
    assert restricted(changed(bare, SECURITY, own)) == []


def test_every_container_is_checked() -> None:
    container = {"name": "b", "image": "b:1"}
    for field in ("initContainers", "ephemeralContainers"):
        found = restricted(changed(job(), f"{POD}.{field}", [container]))
        assert found == [
            f"{POD}.{field}[0].securityContext.allowPrivilegeEscalation",
            f"{POD}.{field}[0].securityContext.capabilities.drop",
        ]


def test_root_is_allowed_if_the_platform_sets_it() -> None:
    made = changed(job(), f"{POD}.securityContext", {"runAsUser": 0, "runAsNonRoot": False, "seccompProfile": SECCOMP})
    assert len(restricted(made)) == 2
    assert security.check(objects(made), allow_root=True) == []
    worse = changed(made, SECURITY, {**SECURE, "privileged": True})
    assert len(security.check(objects(worse), allow_root=True)) == 1


def test_rules_for_linux_do_not_apply_to_pods_of_windows() -> None:
    made = changed(changed(job(), f"{POD}.os", {"name": "windows"}), SECURITY, GONE)
    assert restricted(made) == []


def test_foreign_pods_are_not_checked() -> None:
    made = foreign(changed(job(), SECURITY, {**SECURE, "privileged": True}))
    assert security.check(objects(made)) == []


@pytest.mark.parametrize(
    ("made", "path"),
    [
        (job(), "spec.template"),
        (stateful_set(), "spec.template"),
        (
            body("CronJob", "a", api="batch/v1", spec={"jobTemplate": {"spec": job()["spec"]}}),
            "spec.jobTemplate.spec.template",
        ),
        ({**job()["spec"]["template"], "apiVersion": "v1", "kind": "Pod"}, ""),
    ],
)
def test_pods_are_found_in_every_kind(made: Json, path: str) -> None:
    (pod,) = pods_of(made)
    assert ".".join(str(part) for part in pod.path) == path
    assert [container["name"] for _, container in pod.containers] == ["main"]


def test_a_kind_without_pods() -> None:
    assert pods_of(body("ConfigMap", "a")) == ()


@pytest.mark.parametrize(("path", "value"), FORBIDDEN, ids=[path for path, _ in FORBIDDEN])
def test_every_violation_of_baseline_has_a_grant(path: str, value: Any) -> None:
    """Both levels have the same grant; violations of only `restricted` have none."""
    (pod,) = pods_of(changed(job(), path, value))
    (strict,) = security.violations(pod)
    mild = security.baseline_violations(pod)
    assert [each.grant for each in mild] == ([strict.grant] if mild else [])
    assert {each.grant for each in mild} <= {*get_args(PodGrant)}
