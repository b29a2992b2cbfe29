"""Compiled pods with their sidecar: training jobs that share a lineage of checkpoints."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from stowplan.schema.agents.lineage_state import MARKER_FILE, state_directory
from tests.cluster import container_image
from tests.cluster.client import Manifest, wait_for
from tests.nightly.node.lifecycle.life import SECONDS, Life, ends
from tests.repositories import compiled

SHARED = f"""\
apiVersion: stowplan.dev/v1alpha1
kind: Training
metadata: {{name: NAME, namespace: HOME}}
spec:
  framework: none
  image: {container_image.NAME}
  command: [/bin/sh, -c, "SCRIPT"]
  checkpoints: {{claim: {{name: models}}, lineage: sft, shareLineage: true}}
  template: {{spec: {{securityContext: {{runAsUser: 1000}}, terminationGracePeriodSeconds: 5}}}}
"""
SAVES = "echo one > $STOWPLAN_CHECKPOINT_DIR/state; while [ ! -e /checkpoints/go ]; do sleep 0.2; done"
GOES_ON = "cat $STOWPLAN_CHECKPOINT_DIR/state > $STOWPLAN_CHECKPOINT_DIR/seen"
TRAININGS = {"first": SAVES, "second": GOES_ON}


@pytest.fixture
def claim(life: Life) -> Path:
    return life.claim("models")


@pytest.fixture
def jobs(agents: None, life: Life, tmp_path: Path) -> Iterator[Manifest]:
    """The Jobs of two Trainings as compiled."""
    own = SHARED.replace("HOME", life.namespace)
    specs = {name: own.replace("NAME", name).replace("SCRIPT", script) for name, script in TRAININGS.items()}
    result = compiled(tmp_path, {f"{name}.yaml": text for name, text in specs.items()})
    assert result.errors == []
    return iter([output.manifest.body for output in result.outputs if "/job-" in output.path])


def test_the_next_run_starts_once_the_run_before_has_ended(life: Life, claim: Path, jobs: Iterator[Manifest]) -> None:
    first = life.client.create(next(jobs))
    wait_for((claim / "sft/state").exists, SECONDS, what="a checkpoint")
    assert _marker(claim)["run"] == first["metadata"]["name"].replace("-node", "")
    second = life.client.create(next(jobs))
    wait_for(lambda: _has_another(claim), SECONDS, what="the wait of the second run")
    (status,) = _sidecar(life, second)
    assert (status["started"], "running" in status["state"]) == (False, True)
    assert not (claim / "sft/seen").exists()
    (claim / "go").touch()
    life.await_condition(first, "Complete")
    life.await_condition(second, "Complete")
    assert (claim / "sft/seen").read_text() == "one\n"
    assert _marker(claim)["run"] == second["metadata"]["name"].replace("-node", "")
    (pod,) = life.pods(second["metadata"]["name"])
    assert ends(pod) == {"hold-lineage": 0, "trainer": 0}


def test_a_run_whose_pod_is_deleted_releases_the_lineage(life: Life, claim: Path, jobs: Iterator[Manifest]) -> None:
    first = life.client.create(next(jobs))
    wait_for((claim / "sft/state").exists, SECONDS, what="a checkpoint")
    life.client.delete(first)
    second = life.client.create(next(jobs))
    life.await_condition(second, "Complete")
    assert (claim / "sft/seen").read_text() == "one\n"


def _marker(claim: Path) -> Manifest:
    found: Manifest = json.loads((claim / state_directory("sft") / MARKER_FILE).read_text())
    return found


def _has_another(claim: Path) -> bool:
    """Whether the second sidecar has looked at the lineage: it tells the time there before it waits."""
    clock = claim / state_directory("sft") / "lock/clock"
    marker = claim / state_directory("sft") / MARKER_FILE
    return clock.stat().st_mtime_ns > marker.stat().st_mtime_ns


def _sidecar(life: Life, job: Manifest) -> list[Manifest]:
    (pod,) = life.pods(job["metadata"]["name"])
    return [each for each in pod["status"]["initContainerStatuses"] if each["name"] == "hold-lineage"]
