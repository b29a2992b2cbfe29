"""Exit codes of the agents, from which the pod failure policies of their Jobs are compiled."""

from enum import IntEnum


class ExitCode(IntEnum):
    """End of an agent. Kubernetes retries a temporary failure, and fails the Job at once for a permanent one."""

    DONE = 0
    BAD_SPEC = 2
    AUTH = 3
    NOT_FOUND = 4
    CONFLICT = 5
    TRANSIENT = 10
    INTEGRITY = 11
    SOFT_DEADLINE = 12


PERMANENT = (ExitCode.BAD_SPEC, ExitCode.AUTH, ExitCode.NOT_FOUND, ExitCode.CONFLICT)
"""Codes of failures that a retry cannot cure."""

TERMINATED = 143
"""Exit code after SIGTERM, by the convention of shells (128 + 15).

It is not 0, by which the pod of a drained node would count as done (and leave a group without its helper), and none of
the codes above. Kubernetes replaces a disrupted pod.
"""
