"""Configuration of the await agent: written by the compiler, mounted as a file, read in the pod of a helper.

A helper (parameter server, master, scheduler) does not end by itself. Await runs in the same pod and ends when the Jobs
of the deciders end. It fails these Jobs if the helper is lost: if its port was open and stays closed, if its container
ends with an error while the deciders run, or if its pod is replaced.
"""

from typing import Annotated, Literal

from pydantic import Field

from stowplan.schema.meta import DnsLabel, Model

POD_IP_ENV = "STOWPLAN_POD_IP"
"""Environment variable with the IP address of the pod (`status.podIP`). Some servers listen only on this address."""

RUN_HASH_LENGTH = 8
"""Length of the hash at the end of all Job names of one run."""

END_AT_ONCE = 1
"""`spec.activeDeadlineSeconds` that await sets to fail a decider's Job. The API server of Kubernetes refuses 0."""

GROUP_FAILED = 1
"""Exit code of await after a decider's Job failed or disappeared: the helper's Job then fails at once."""

ENDED_BECAUSE = "stowplan.dev/ended-because"
"""Annotation of a decider's Job that await has made to fail: the reason, for people and for the reporter."""

HELPER_PREFIX = "helpers.stowplan.dev/"
"""Prefix of annotations that await puts on a decider's Job, one for each pod of a helper that has begun to serve.

The rest of the key is the name of the pod without its random end, `<Job>-<index>`. The value is the start time of the
decider's Job and the name of the pod, with a space between. So a pod that replaces another one knows that it does.
"""

Stem = Annotated[str, Field(pattern=r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$", max_length=63 - RUN_HASH_LENGTH - 1)]
Port = Annotated[int, Field(ge=1, le=65535)]


class AwaitConfig(Model):
    """Ends a helper's pod with the Jobs that decide success."""

    format: Literal[1] = Field(default=1, description="Version of this contract.")
    task: Literal["await"] = Field(default="await", description="What to do.")
    namespace: DnsLabel = Field(description="Namespace of the deciding Jobs and of the pod.")
    jobs: list[Stem] = Field(
        description="Stems of the deciding Jobs: each is named `<stem>-<hash>`, with the hash of the own run. A long stem is already shortened here, so that the name is exact.",
        min_length=1,
    )
    ports: list[Port] = Field(description="Ports that the helpers in this pod listen on; empty to watch none.")
    helper_timeout_seconds: int = Field(
        default=300,
        description="Seconds that a port which was open may stay closed before the deciding Jobs are made to fail.",
        ge=1,
    )
    must_listen: bool = Field(
        default=False,
        description="Whether the time before a port first opens counts too, so that a helper that never listens fails the deciding Jobs.",
    )
    container: str | None = Field(
        default=None,
        max_length=63,
        description="Container of the pod whose end with an error fails the deciding Jobs; before its port was first open, it does not. Absent to watch none.",
    )
    replaceable: bool = Field(
        default=False,
        description="Whether the group goes on with a helper that was started again or replaced, as its framework provides.",
    )


def job_name(stem: str, run: str) -> str:
    """Return the name of the Job with the stem `stem` in the run of the Job `run`.

    It is `job-worker-abcdefgh` for the stem `job-worker` and the Job `job-ps-abcdefgh`. `run` may also be the hash.
    """
    return f"{stem}-{run[-RUN_HASH_LENGTH:]}"
