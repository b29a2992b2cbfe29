"""Exit codes of the agents. The Jobs' pod failure policies are compiled from them."""

from enum import IntEnum


class ExitCode(IntEnum):
    """How an agent ended. Kubernetes retries what may pass by itself, and fails at once what cannot."""

    DONE = 0
    BAD_SPEC = 2
    AUTH = 3
    NOT_FOUND = 4
    CONFLICT = 5
    TRANSIENT = 10
    INTEGRITY = 11
    SOFT_DEADLINE = 12


PERMANENT = (ExitCode.BAD_SPEC, ExitCode.AUTH, ExitCode.NOT_FOUND, ExitCode.CONFLICT)
"""Codes that another attempt cannot mend."""

TERMINATED = 143
"""Exit code after SIGTERM, as a shell reports it (128 + 15).

It is not 0, which would count the pod of a drained node as done (and leave a group without its helper); nor one of those
above. A pod that was disrupted is made again.
"""
