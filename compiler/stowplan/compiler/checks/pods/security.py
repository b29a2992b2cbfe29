"""Does each pod that we write pass the Pod Security level `restricted`?

The rules are those of pod-security-admission for Kubernetes 1.34; 1.35 to 1.37 only loosened them for pods with a
user namespace of their own, which no agent has.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

from stowplan.compiler.checks.objects.finding import ObjectFinding, about
from stowplan.compiler.checks.objects.object import Objects
from stowplan.compiler.checks.objects.pod_shapes import remembered
from stowplan.compiler.checks.objects.pods import Pod
from stowplan.compiler.kubernetes.fields import items, mapping
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.frozen import dataclass
from stowplan.schema.platform.pod_grants import PodGrant

_CODE = "SP605"
_SECURITY = "securityContext"
_VOLUME_TYPES = frozenset("configMap csi downwardAPI emptyDir ephemeral persistentVolumeClaim projected secret".split())
_PROFILES = ("RuntimeDefault", "Localhost")
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
_HOST_PATH: Literal["hostPath"] = "hostPath"
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")


@dataclass(frozen=True, slots=True)
class Violation:
    """A field of a pod that the level forbids, and how it must be.

    `grant` is the entry of the platform's `policy.allow` that waives the rule; empty for rules of `restricted` alone.
    """

    path: FieldPath
    message: str
    hint: str
    grant: PodGrant | Literal[""] = ""


Rule = Callable[[Pod], Iterator[Violation]]


def check(objects: Objects, *, allow_root: bool = False, foreign: bool = False) -> list[ObjectFinding]:
    """The pods that we write; with `foreign`, also those that users and extensions brought, training jobs' aside.

    With `allow_root` the two rules about the user id are left out, for platforms whose `juicefs.taskUser` is 0.
    """
    return [
        about(obj, _CODE, violation.path, violation.message, violation.hint)
        for obj in objects.with_pods
        for pod in (obj.authored_pods if obj.authored else obj.pods if foreign else ())
        if pod.containers or pod.spec
        for violation in violations(pod, allow_root=allow_root)
    ]


def violations(pod: Pod, *, allow_root: bool = False) -> tuple[Violation, ...]:
    """All violations of `restricted`, which holds the rules of `baseline` too."""
    return remembered(_restricted_for_root if allow_root else _restricted, pod)


def baseline_violations(pod: Pod) -> tuple[Violation, ...]:
    """All violations of `baseline`, which most pods keep."""
    return remembered(_baseline, pod)


def _restricted(pod: Pod) -> tuple[Violation, ...]:
    return _found((*_RULES, *_USER_RULES, *_linux_rules(pod)), pod)


def _restricted_for_root(pod: Pod) -> tuple[Violation, ...]:
    return _found((*_RULES, *_linux_rules(pod)), pod)


def _baseline(pod: Pod) -> tuple[Violation, ...]:
    return _found(_BASELINE_RULES, pod)


def _found(rules: Iterable[Rule], pod: Pod) -> tuple[Violation, ...]:
    return tuple(violation for rule in rules for violation in rule(pod))


def _linux_rules(pod: Pod) -> tuple[Rule, ...]:
    return () if mapping(pod.spec, "os").get("name") == "windows" else _LINUX_RULES


def _contexts(pod: Pod) -> Iterator[tuple[FieldPath, Json]]:
    """The security contexts of the pod and of all containers, empty ones too."""
    yield (*pod.spec_path, _SECURITY), mapping(pod.spec, _SECURITY)
    for path, container in pod.containers:
        yield (*path, _SECURITY), mapping(container, _SECURITY)


def _unless_inherited(
    pod: Pod,
    keys: tuple[str, ...],
    *,
    fits: Callable[[Any], bool],
    message: str,
    hint: str,
    grant: PodGrant | Literal[""] = "",
) -> Iterator[Violation]:
    """A value that each container must have, itself or from the pod, and that nobody may contradict.

    `grant` waives a value that contradicts it, not one that is missing.
    """
    pod_value = mapping(pod.spec, _SECURITY, *keys[:-1]).get(keys[-1])
    for path, context in _contexts(pod):
        value = mapping(context, *keys[:-1]).get(keys[-1])
        is_pod = path == (*pod.spec_path, _SECURITY)
        inherited = is_pod or pod_value is not None  # a wrong value of the pod is reported there
        if not fits(value) if value is not None else not inherited:
            found = "It is not set." if value is None else f"Found {_text(value)}."
            yield Violation((*path, *keys), f"{found} {message}", hint, "" if value is None else grant)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else f'"{value}"'


def _strings(value: Any) -> list[str]:
    """The items of a list as strings; none of anything else, as in objects that no schema has checked."""
    return list(map(str, value)) if isinstance(value, list) else []


def _host_namespaces(pod: Pod) -> Iterator[Violation]:
    fields: tuple[PodGrant, ...] = ("hostNetwork", "hostPID", "hostIPC")
    for field in fields:
        if pod.spec.get(field):
            message = "The pod shares a namespace of its node."
            yield Violation((*pod.spec_path, field), message, "Remove the field.", field)


def _volumes(pod: Pod) -> Iterator[Violation]:
    for index, volume in enumerate(pod.volumes):
        for kind in sorted(volume.keys() - {"name"} - _VOLUME_TYPES):
            message = f"A volume of the type {kind} is forbidden; allowed are {', '.join(sorted(_VOLUME_TYPES))}."
            path = (*pod.spec_path, "volumes", index, kind)
            grant = _HOST_PATH if kind == _HOST_PATH else ""
            yield Violation(path, message, "Use a claim, or another allowed type.", grant)


def _privileged(pod: Pod) -> Iterator[Violation]:
    for path, context in _contexts(pod):
        if context.get("privileged"):
            yield Violation((*path, "privileged"), "The container is privileged.", "Remove the field.", "privileged")


def _host_process(pod: Pod) -> Iterator[Violation]:
    for path, context in _contexts(pod):
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
    """Probes and lifecycle handlers may call the pod only (since the policy of 1.34)."""
    for path, container in pod.containers:
        handlers = [(field,) for field in _PROBES] + [("lifecycle", "postStart"), ("lifecycle", "preStop")]
        for keys in handlers:
            for action in ("httpGet", "tcpSocket"):
                if mapping(container, *keys, action).get("host"):
                    field = (*path, *keys, action, "host")
                    yield Violation(field, "The node would call another host.", "Remove the field.", "hostProbes")


def _proc_mount(pod: Pod) -> Iterator[Violation]:
    for path, context in _contexts(pod):
        if context.get("procMount") not in (None, "", "Default"):
            message = f'Found "{context["procMount"]}"; allowed is "Default".'
            yield Violation((*path, "procMount"), message, "Remove the field.", "procMount")


def _sysctls(pod: Pod) -> Iterator[Violation]:
    for index, setting in enumerate(items(pod.spec, _SECURITY, "sysctls")):
        if str(setting.get("name")) not in _SYSCTLS:
            path = (*pod.spec_path, _SECURITY, "sysctls", index, "name")
            message = f'The kernel setting "{setting.get("name")}" is not a safe one.'
            yield Violation(path, message, "Remove it.", "sysctls")


def _apparmor(pod: Pod) -> Iterator[Violation]:
    for path, context in _contexts(pod):
        profile = mapping(context, "appArmorProfile").get("type")
        if profile not in (None, "", *_PROFILES):
            message = f'Found "{profile}"; allowed are "RuntimeDefault" and "Localhost".'
            yield Violation((*path, "appArmorProfile", "type"), message, "Remove the field.", "appArmor")
    for key, value in mapping(pod.metadata, "annotations").items():
        allowed = value in ("", "runtime/default") or str(value).startswith("localhost/")
        if key.startswith(_APPARMOR_ANNOTATION) and not allowed:
            message = f'Found "{value}"; allowed are "runtime/default" and "localhost/…".'
            place = (*pod.path, "metadata", "annotations", key)
            yield Violation(place, message, "Remove the annotation.", "appArmor")


def _selinux(pod: Pod) -> Iterator[Violation]:
    for path, context in _contexts(pod):
        selinux = mapping(context, "seLinuxOptions")
        for field in ("user", "role"):
            if selinux.get(field):
                place = (*path, "seLinuxOptions", field)
                yield Violation(place, "The field is forbidden.", "Remove the field.", "seLinux")
        if selinux.get("type") not in (None, "", *_SELINUX_TYPES):
            message = f'Found "{selinux["type"]}"; allowed are {", ".join(_SELINUX_TYPES)}.'
            yield Violation((*path, "seLinuxOptions", "type"), message, "Remove the field.", "seLinux")


def _run_as_non_root(pod: Pod) -> Iterator[Violation]:
    message = "The container must not run as root."
    hint = "Set runAsNonRoot to true."
    yield from _unless_inherited(pod, ("runAsNonRoot",), fits=lambda value: value is True, message=message, hint=hint)


def _run_as_user(pod: Pod) -> Iterator[Violation]:
    for path, context in _contexts(pod):
        if context.get("runAsUser") == 0:
            yield Violation((*path, "runAsUser"), "Found 0, which is root.", "Set another user id.")


def _seccomp(pod: Pod) -> Iterator[Violation]:
    message = 'Allowed are "RuntimeDefault" and "Localhost".'
    hint = "Set seccompProfile.type to RuntimeDefault."
    keys = ("seccompProfile", "type")
    fits = _PROFILES.__contains__
    yield from _unless_inherited(pod, keys, fits=fits, message=message, hint=hint, grant="seccomp")


def _escalation(pod: Pod) -> Iterator[Violation]:
    for path, container in pod.containers:
        if mapping(container, _SECURITY).get("allowPrivilegeEscalation") is not False:
            field = (*path, _SECURITY, "allowPrivilegeEscalation")
            yield Violation(field, "A process could gain more rights than its parent has.", "Set it to false.")


def _capabilities(pod: Pod) -> Iterator[Violation]:
    for path, container in pod.containers:
        capabilities = mapping(container, _SECURITY, "capabilities")
        place = (*path, _SECURITY, "capabilities")
        if "ALL" not in _strings(capabilities.get("drop")):
            yield Violation((*place, "drop"), "The container keeps capabilities.", 'Set it to ["ALL"].')
        for added in sorted(set(_strings(capabilities.get("add"))) - {"NET_BIND_SERVICE"}):
            message = f"The capability {added} is forbidden; only NET_BIND_SERVICE may be added."
            yield Violation((*place, "add"), message, "Remove it.", "capabilities")


def _host_paths(pod: Pod) -> Iterator[Violation]:
    for index, volume in enumerate(pod.volumes):
        if "hostPath" in volume:
            path = (*pod.spec_path, "volumes", index, "hostPath")
            message = "The pod mounts a directory of its node."
            yield Violation(path, message, "Use a claim, or an emptyDir.", _HOST_PATH)


def _risky_capabilities(pod: Pod) -> Iterator[Violation]:
    for path, container in pod.containers:
        place = (*path, _SECURITY, "capabilities", "add")
        for added in sorted(set(_strings(mapping(container, _SECURITY, "capabilities").get("add"))) - _CAPABILITIES):
            yield Violation(place, f"The capability {added} is forbidden.", "Remove it.", "capabilities")


def _unconfined(pod: Pod) -> Iterator[Violation]:
    for path, context in _contexts(pod):
        if mapping(context, "seccompProfile").get("type") == "Unconfined":
            yield Violation((*path, "seccompProfile", "type"), 'Found "Unconfined".', "Remove the field.", "seccomp")


_ALL_LEVELS: tuple[Rule, ...] = (
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
_BASELINE_RULES: tuple[Rule, ...] = (*_ALL_LEVELS, _host_paths, _risky_capabilities, _unconfined)
_RULES: tuple[Rule, ...] = (*_ALL_LEVELS, _volumes)
_USER_RULES: tuple[Rule, ...] = (_run_as_non_root, _run_as_user)
_LINUX_RULES: tuple[Rule, ...] = (_seccomp, _escalation, _capabilities)
"""Rules that do not apply to pods of Windows nodes."""
