"""A rule of Pod Security, and what it finds in a pod."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from stowplan.compiler.checks.objects.pods import Pod
from stowplan.compiler.kubernetes.fields import mapping
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.platform.pod_grants import PodGrant

SECURITY = "securityContext"
PROFILES = ("RuntimeDefault", "Localhost")
"""Allowed types of seccomp and AppArmor profiles."""
HOST_PATH: Literal["hostPath"] = "hostPath"


@dataclass(frozen=True, slots=True)
class Violation:
    """A field of a pod that a level forbids, at `path` of the object with the pod; `hint` says how it must be.

    `grant` is the entry of the platform's `policy.allow` that waives the rule. It is empty if no entry does: such
    rules belong to `restricted` alone.
    """

    path: FieldPath
    message: str
    hint: str
    grant: PodGrant | Literal[""] = ""


Rule = Callable[[Pod], Iterator[Violation]]


def security_contexts(pod: Pod) -> Iterator[tuple[FieldPath, Json]]:
    """Yield path and content of the security context of the pod, then of each container; missing ones are empty."""
    yield (*pod.spec_path, SECURITY), mapping(pod.spec, SECURITY)
    for path, container in pod.containers:
        yield (*path, SECURITY), mapping(container, SECURITY)
