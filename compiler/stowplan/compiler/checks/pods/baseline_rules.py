"""The rules of the Pod Security level `baseline`.

Source: pod-security-admission of Kubernetes 1.34. Versions 1.35 to 1.37 loosened rules only for pods with a user
namespace of their own, which no agent has.
"""

from collections.abc import Iterator

from stowplan.compiler.checks.objects.pods import Pod
from stowplan.compiler.checks.pods.violation import (
    HOST_PATH,
    PROFILES,
    SECURITY,
    Rule,
    Violation,
    security_contexts,
)
from stowplan.compiler.kubernetes.fields import items, mapping, texts
from stowplan.schema.platform.pod_grants import PodGrant

_SELINUX_TYPES = ("container_t", "container_init_t", "container_kvm_t", "container_engine_t")
_SYSCTLS = frozenset(
    "kernel.shm_rmid_forced net.ipv4.ip_local_port_range net.ipv4.ip_local_reserved_ports "
    "net.ipv4.ip_unprivileged_port_start net.ipv4.ping_group_range net.ipv4.tcp_fin_timeout "
    "net.ipv4.tcp_keepalive_intvl net.ipv4.tcp_keepalive_probes net.ipv4.tcp_keepalive_time net.ipv4.tcp_rmem "
    "net.ipv4.tcp_syncookies net.ipv4.tcp_wmem".split()
)
_CAPABILITIES = frozenset(
    "AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID "
    "SYS_CHROOT".split()
)
"""Capabilities that `baseline` lets a container add."""
_APPARMOR_ANNOTATION = "container.apparmor.security.beta.kubernetes.io/"
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")


def _host_namespaces(pod: Pod) -> Iterator[Violation]:
    fields: tuple[PodGrant, ...] = ("hostNetwork", "hostPID", "hostIPC")
    for field in fields:
        if pod.spec.get(field):
            message = "The pod shares a namespace of its node."
            yield Violation((*pod.spec_path, field), message, "Remove the field.", field)


def _privileged(pod: Pod) -> Iterator[Violation]:
    for path, context in security_contexts(pod):
        if context.get("privileged"):
            yield Violation((*path, "privileged"), "The container is privileged.", "Remove the field.", "privileged")


def _host_process(pod: Pod) -> Iterator[Violation]:
    for path, context in security_contexts(pod):
        if mapping(context, "windowsOptions").get("hostProcess"):
            field = (*path, "windowsOptions", "hostProcess")
            message = "The container is a process of its Windows host."
            yield Violation(field, message, "Remove the field.", "hostProcess")


def _host_ports(pod: Pod) -> Iterator[Violation]:
    for path, container in pod.containers:
        for index, port in enumerate(items(container, "ports")):
            if port.get("hostPort"):
                field = (*path, "ports", index, "hostPort")
                message = f"The container takes port {port['hostPort']} of its node."
                yield Violation(field, message, "Remove the field.", "hostPorts")


def _hosts(pod: Pod) -> Iterator[Violation]:
    """Yield a violation for each probe or lifecycle handler that names a host; it may call only its own pod.

    The rule exists since the policy of Kubernetes 1.34.
    """
    for path, container in pod.containers:
        handlers = [(field,) for field in _PROBES] + [("lifecycle", "postStart"), ("lifecycle", "preStop")]
        for keys in handlers:
            for action in ("httpGet", "tcpSocket"):
                if mapping(container, *keys, action).get("host"):
                    field = (*path, *keys, action, "host")
                    yield Violation(field, "The node would call another host.", "Remove the field.", "hostProbes")


def _proc_mount(pod: Pod) -> Iterator[Violation]:
    for path, context in security_contexts(pod):
        if context.get("procMount") not in (None, "", "Default"):
            message = f'Found "{context["procMount"]}"; allowed is "Default".'
            yield Violation((*path, "procMount"), message, "Remove the field.", "procMount")


def _sysctls(pod: Pod) -> Iterator[Violation]:
    for index, setting in enumerate(items(pod.spec, SECURITY, "sysctls")):
        if str(setting.get("name")) not in _SYSCTLS:
            path = (*pod.spec_path, SECURITY, "sysctls", index, "name")
            message = f'The kernel setting "{setting.get("name")}" is not a safe one.'
            yield Violation(path, message, "Remove it.", "sysctls")


def _apparmor(pod: Pod) -> Iterator[Violation]:
    for path, context in security_contexts(pod):
        profile = mapping(context, "appArmorProfile").get("type")
        if profile not in (None, "", *PROFILES):
            message = f'Found "{profile}"; allowed are "RuntimeDefault" and "Localhost".'
            yield Violation((*path, "appArmorProfile", "type"), message, "Remove the field.", "appArmor")
    for key, value in mapping(pod.metadata, "annotations").items():
        allowed = value in ("", "runtime/default") or str(value).startswith("localhost/")
        if key.startswith(_APPARMOR_ANNOTATION) and not allowed:
            message = f'Found "{value}"; allowed are "runtime/default" and "localhost/…".'
            place = (*pod.path, "metadata", "annotations", key)
            yield Violation(place, message, "Remove the annotation.", "appArmor")


def _selinux(pod: Pod) -> Iterator[Violation]:
    for path, context in security_contexts(pod):
        selinux = mapping(context, "seLinuxOptions")
        for field in ("user", "role"):
            if selinux.get(field):
                place = (*path, "seLinuxOptions", field)
                yield Violation(place, "The field is forbidden.", "Remove the field.", "seLinux")
        if selinux.get("type") not in (None, "", *_SELINUX_TYPES):
            message = f'Found "{selinux["type"]}"; allowed are {", ".join(_SELINUX_TYPES)}.'
            yield Violation((*path, "seLinuxOptions", "type"), message, "Remove the field.", "seLinux")


def _host_paths(pod: Pod) -> Iterator[Violation]:
    for index, volume in enumerate(pod.volumes):
        if "hostPath" in volume:
            path = (*pod.spec_path, "volumes", index, "hostPath")
            message = "The pod mounts a directory of its node."
            yield Violation(path, message, "Use a claim, or an emptyDir.", HOST_PATH)


def _risky_capabilities(pod: Pod) -> Iterator[Violation]:
    for path, container in pod.containers:
        place = (*path, SECURITY, "capabilities", "add")
        for added in sorted(set(texts(mapping(container, SECURITY, "capabilities").get("add"))) - _CAPABILITIES):
            yield Violation(place, f"The capability {added} is forbidden.", "Remove it.", "capabilities")


def _unconfined(pod: Pod) -> Iterator[Violation]:
    for path, context in security_contexts(pod):
        if mapping(context, "seccompProfile").get("type") == "Unconfined":
            yield Violation((*path, "seccompProfile", "type"), 'Found "Unconfined".', "Remove the field.", "seccomp")


BOTH_LEVELS: tuple[Rule, ...] = (
    _host_namespaces,
    _privileged,
    _host_process,
    _host_ports,
    _hosts,
    _proc_mount,
    _sysctls,
    _apparmor,
    _selinux,
)
"""The rules that belong to both levels, `baseline` and `restricted`."""
BASELINE: tuple[Rule, ...] = (*BOTH_LEVELS, _host_paths, _risky_capabilities, _unconfined)
