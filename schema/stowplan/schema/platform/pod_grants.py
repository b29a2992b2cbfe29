"""Terms of the Pod Security Standards: the levels, and a name for each rule from which a platform may exempt pods."""

from typing import Literal

PodLevel = Literal["restricted", "baseline", "privileged"]
"""The levels of the Pod Security Standards, strictest first."""

PodGrant = Literal[
    "appArmor",
    "capabilities",
    "hostIPC",
    "hostNetwork",
    "hostPID",
    "hostPath",
    "hostPorts",
    "hostProbes",
    "hostProcess",
    "nodeName",
    "privileged",
    "procMount",
    "seLinux",
    "seccomp",
    "sysctls",
]
"""Names of the rules of the level `baseline` (https://kubernetes.io/docs/concepts/security/pod-security-standards/),
and `nodeName`, which is no such rule: a pod with that field skips the scheduler, its queues and its quotas.
"""
