"""Jobs that start again as a whole, on a node: their programs run."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster import container_image, sync
from tests.cluster.client import Manifest, ref, true_conditions, wait_for
from tests.nightly.node.lifecycle.life import SECONDS, Life
from tests.repositories import compiled

PLATFORM: Manifest = {
    "kind": "Platform",
    "images": {"registry": "r", "tag": "1"},
    "engines": {"jobs": "jobset"},
    "policy": {
        "allow": ["hostPath"],
        "podSecurityLevel": "privileged",
        "fillSecurityContext": False,
    },
}
SAYS = 'echo "attempt $STOWPLAN_ATTEMPT" >> /notes/notes'


def begun(life: Life, folder: Path, script: str, **restart: Any) -> Manifest:
    """The JobSet of a Training on one node, once it is there."""
    given = life.template({"trainer": script})["spec"]
    (container,) = given.pop("containers")
    command = container.pop("command")
    spec = {
        "framework": "torch",
        "image": container_image.NAME,
        "command": command,
        "restart": restart,
        "activeDeadlineSeconds": 300,
        "template": {"spec": {**given, "containers": [container]}},
    }
    training = {**ref("stowplan.dev/v1alpha1", "Training", "llm"), "spec": spec}
    documents = [{**PLATFORM, "defaultNamespace": life.namespace}, training]
    result = compiled(folder, {"specs.yaml": yaml.safe_dump_all(documents)})
    assert not result.errors, result.errors
    bodies = [output.manifest.body for output in result.outputs]
    (job_set,) = (each for each in bodies if each["kind"] == "JobSet")
    sync.apply(life.client, [job_set])
    return job_set


def await_end(life: Life, job_set: Manifest) -> dict[str, Any]:
    """The status of a JobSet that is complete."""
    wait_for(
        lambda: "Completed" in true_conditions(life.client.get(job_set)),
        2 * SECONDS,
        what=f"the end of the JobSet, with {life.notes()}",
    )
    status: dict[str, Any] = life.client.get(job_set)["status"]
    return status


def test_the_program_knows_its_attempt(jobset: None, life: Life, tmp_path: Path) -> None:
    job_set = begun(life, tmp_path / "repo", f'{SAYS}; [ "$STOWPLAN_ATTEMPT" = 2 ]', max=2)
    status = await_end(life, job_set)
    assert (status["restarts"], status["restartsCountTowardsMax"]) == (2, 2)
    assert life.notes() == ["attempt 0", "attempt 1", "attempt 2"]


@pytest.mark.parametrize("code", [1, 2, 143])
def test_an_eviction_is_free_whatever_the_program_ends_with(
    jobset: None, life: Life, tmp_path: Path, code: int
) -> None:
    waits = f"trap 'exit {code}' TERM; while :; do sleep 0.1; done"
    job_set = begun(life, tmp_path / "repo", f'{SAYS}; [ "$STOWPLAN_ATTEMPT" = 1 ] && exit 0; {waits}', max=0)
    life.await_note("attempt 0")
    (pod,) = life.client.list("v1", "Pod", life.namespace, "stowplan.dev/name=llm")
    eviction = {**ref("policy/v1", "Eviction", pod["metadata"]["name"], life.namespace)}
    life.client.request("POST", life.client.path(pod, "eviction"), eviction)
    status = await_end(life, job_set)
    assert (status["restarts"], status.get("restartsCountTowardsMax", 0)) == (1, 0)
    assert life.notes() == ["attempt 0", "attempt 1"]
