"""Init container that delays an agent's pod until a training run has ended.

Only this container has the token of the pod's ServiceAccount, which may read the run and nothing else.
"""

from stowplan.library.builders.metadata import Head, manifest
from stowplan.library.builders.pods import agent_pod, token
from stowplan.library.ir.data import Origin, Site
from stowplan.library.manifest import Json, Manifest
from stowplan.schema.agents.run_end import When
from stowplan.schema.meta import ObjectId

CONTAINER = "wait-run"
_COMMAND = ("python", "-m", "stowplan.agents.wait_run")
_TOKEN = "run-token"  # noqa: S105 - the name of a volume


def added(template: Json, run: ObjectId, when: When, site: Site) -> Json:
    """Return a copy of an agent's pod template with the init container as its only one. The others lose their token.

    `run` is the Job or JobSet of the training run. With `when="success"`, the agent has nothing to do after a run that
    failed. The init container tells it so by a file in the scratch volume, which both mount.
    """
    spec = {**template["spec"], "automountServiceAccountToken": False}
    spec["initContainers"] = [_container(run, when, site)]
    spec["volumes"] = [*spec["volumes"], token.volume(_TOKEN)]
    return {**template, "spec": spec}


def role(name: str, stem: str, origin: Origin, run: ObjectId, plural: str) -> Manifest:
    """Return the Role of the init container: it may read and watch the run.

    `stem` is the name without the hash, `plural` the name of the run's kind in URLs.
    """
    return manifest("Role", name, Head(origin, "output"), stem=stem, run=True, rules=rules(run, plural))


def rules(run: ObjectId, plural: str) -> list[Json]:
    """Return the rules of the Role of the init container: it may read and watch the run, of the kind `plural`."""
    return [{"apiGroups": [run.group], "resources": [plural], "resourceNames": [run.name], "verbs": ["get", "watch"]}]


def following(template: Json, run: ObjectId) -> Json:
    """Return a copy of a pod template that `added` returned, whose init container waits for `run` in place of its own.

    `run` is in the same namespace.
    """
    spec = template["spec"]
    (container,) = spec["initContainers"]
    *_, condition = container["args"]
    changed = {**container, "args": _arguments(run, condition)}
    return {**template, "spec": {**spec, "initContainers": [changed]}}


def _arguments(run: ObjectId, when: str) -> list[str]:
    option = "--job" if run.kind == "Job" else "--job-set"
    return ["--namespace", run.namespace, option, run.name, "--when", when]


def _container(run: ObjectId, when: When, site: Site) -> Json:
    return agent_pod.control(
        CONTAINER,
        _COMMAND,
        site,
        args=_arguments(run, when),
        env=[{"name": "HOME", "value": agent_pod.SCRATCH}, agent_pod.run_env()],
        volumeMounts=[{"mountPath": agent_pod.SCRATCH, "name": agent_pod.SCRATCH_VOLUME}, token.mount(_TOKEN)],
    )
