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
    "networks",
    "nodeName",
    "privileged",
    "procMount",
    "seLinux",
    "seccomp",
    "sysctls",
]
"""Names of the rules of the level `baseline` (https://kubernetes.io/docs/concepts/security/pod-security-standards/),
and two that are no such rules: a pod with `nodeName` skips the scheduler, its queues and its quotas, and `networks` is
for annotations that put a pod into other networks than that of the cluster, which its NetworkPolicies do not reach.
"""
