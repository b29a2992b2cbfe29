"""Indexed Jobs of training roles, and those in a JobSet that starts again as a whole after a failure.

Every failure of a pod of the latter fails its Job, and the JobSet reads from the reason and the message of the Job what
to do. Both kinds of rules of a Job give it the reason `PodFailurePolicy`; the messages differ (`matchPodFailurePolicy`
in pkg/controller/job of Kubernetes 1.35 to 1.37). JobSet reads messages since 0.10.
"""

from collections.abc import Iterator, Sequence

from stowplan.library.builders.job import LOST_NODE, on_exit
from stowplan.library.builders.pods import code_container, wait_container
from stowplan.library.ir.restart import Restart
from stowplan.library.ir.training import Role
from stowplan.library.manifest import Json
from stowplan.schema.agents.exit_codes import ExitCode

LOST_WITH_NODE: Json = {**LOST_NODE, "action": "FailJob"}
"""Rule of a Job: a pod that is lost with its cluster node fails the Job, since the others cannot go on with another."""


_DISRUPTED = r"^Pod \S+ has condition DisruptionTarget matching FailJob rule at index [0-9]+$"
_USELESS = (ExitCode.NOT_FOUND, ExitCode.SOFT_DEADLINE)
"""Exit codes of the container that waits for a dataset: the dataset failed, or the time that the user gave is over."""


def job_spec(role: Role, template: Json, *, rules: Sequence[Json], replaceable: bool) -> Json:
    """Return the spec of a role's Job: one pod per index, all in parallel.

    If its pods are not `replaceable`, the first pod that fails or is lost with its cluster node fails the Job. Only
    containers that restart in their pod (restart policy `OnFailure`) have tries left. A replaced pod ends before its
    successor starts. `rules` are entries of `podFailurePolicy` that act on exit codes. They apply only to pods with the
    restart policy `Never`. The Job has no time to live: Argo CD would see a removed Job as missing and train again.
    """
    never = template["spec"]["restartPolicy"] == "Never"
    lost = LOST_NODE if replaceable else LOST_WITH_NODE
    judged = [*wait_container.rules(template), *rules, lost] if never else []
    spec: Json = {
        "completionMode": "Indexed",
        "completions": role.size,
        "parallelism": role.size,
        "podReplacementPolicy": "Failed",
        "template": template,
    }
    if role.deadline:
        spec["activeDeadlineSeconds"] = role.deadline
    if role.tolerant:
        spec["backoffLimitPerIndex"] = role.restarts
    else:
        spec["backoffLimit"] = role.retries if replaceable or not never else 0
    if judged:
        spec["podFailurePolicy"] = {"rules": judged}
    return spec


def restarting(role: Role, template: Json, restart: Restart) -> Json:
    """Return the spec of a role's Job, which fails with its first failed pod. The pods' restart policy is `Never`."""
    whole = job_spec(role, template, rules=(), replaceable=False)
    return {**whole, "podFailurePolicy": {"rules": list(_rules(role, template, restart))}}


def failure_policy(restart: Restart) -> Json:
    """Return the `failurePolicy` of the JobSet.

    A lost or evicted pod restarts it free of charge; a final exit code or the deadline ends it; all else restarts it,
    and counts. No pod of an attempt starts before all of the last one are gone: the names of both are the same.
    """
    return {
        "maxRestarts": restart.most,
        "restartStrategy": "BlockingRecreate",
        "rules": [
            {
                "name": "disrupted",
                "action": "RestartJobSetAndIgnoreMaxRestarts",
                "onJobFailureReasons": ["PodFailurePolicy"],
                "onJobFailureMessagePatterns": [_DISRUPTED],
            },
            {
                "name": "final",
                "action": "FailJobSet",
                "onJobFailureReasons": ["PodFailurePolicy", "DeadlineExceeded"],
            },
        ],
    }


def _rules(role: Role, template: Json, restart: Restart) -> Iterator[Json]:
    """Yield the rules of the Job. The first that fits a pod counts: an evicted program may end with any exit code."""
    yield LOST_WITH_NODE
    yield from wait_container.rules(template, _USELESS)
    yield from code_container.rules(template)
    if restart.final:
        name = template["spec"]["containers"][role.container]["name"]
        yield on_exit("FailJob", name, restart.final)
