"""Exit codes of the agents, from which the pod failure policies of their Jobs are compiled."""

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit code of an agent. Kubernetes retries a temporary failure, and fails the Job at once for a permanent one.

    The codes in `PERMANENT` are permanent failures; 10, 11 and 12 are temporary ones. 12 ends an attempt that reached
    its own deadline.
    """

    DONE = 0
    BAD_SPEC = 2
    AUTH = 3
    NOT_FOUND = 4
    CONFLICT = 5
    TRANSIENT = 10
    INTEGRITY = 11
    SOFT_DEADLINE = 12


MEANINGS = {
    ExitCode.DONE: "The task is done.",
    ExitCode.BAD_SPEC: "The spec or the configuration asks for what cannot be done.",
    ExitCode.AUTH: "Access was denied: a credential is missing or wrong, or a file has other permissions.",
    ExitCode.NOT_FOUND: "What the task needs does not exist, or the sync that it waits for failed for good.",
    ExitCode.CONFLICT: "The target is not as the task expects it, or has no space.",
    ExitCode.TRANSIENT: "A failure that may pass, such as one of the network.",
    ExitCode.INTEGRITY: "Data is not what its checksum or size says.",
    ExitCode.SOFT_DEADLINE: "The attempt reached its own deadline.",
}
"""What each code means, for users."""

PERMANENT = (ExitCode.BAD_SPEC, ExitCode.AUTH, ExitCode.NOT_FOUND, ExitCode.CONFLICT)
"""Codes of failures that a retry cannot cure."""

TERMINATED = 143
"""Exit code after SIGTERM, by the convention of shells (128 + 15).

Agents do not end with 0 after SIGTERM: the pod of a drained cluster node would count as done, and a training job would
lose its helper. The codes in `ExitCode` have other meanings. Kubernetes replaces a disrupted pod.
"""
