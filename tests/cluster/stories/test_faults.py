"""Reports of faults, at most a minute after the API shows their cause. Each fault is a row of a table.

The reporter and the await agents are real processes; nodes, kubelets and users' training are played. Faults of real
nodes are in `tests/nightly/node`; here are those of the API's objects, of a node that nobody brings back, and of the
reporter.
"""

import json
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.cluster import nodes
from tests.cluster.client import Manifest, ref, wait_for
from tests.cluster.control_plane import Cluster
from tests.cluster.stories.conftest import Begin, Compile
from tests.cluster.stories.story import Story
from tests.cluster.stories.telling import health_of, masked
from tests.tier import KILLS

SECONDS = 60
"""That may pass from the moment at which the API shows a cause."""
LOST = "node-lost"
PLAYED = "kwok.stowplan.dev/node"
"""Label of the nodes that KWOK plays."""
FAULTY = "stowplan.dev/story-faults"
"""Label of the node that the pods go to that will lose it, and taint that keeps others away."""
LIBRARIES = (
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
)

PLATFORM = """\
kind: Platform
defaultNamespace: {home}
images: {{registry: registry.example.com/ml, tag: "1"}}
---
"""
JOB = """\
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {{name: {name}}}
spec:
  worker:
    replicas: {replicas}
    template:
      spec: {{containers: [{{name: main, image: local/train:1}}]{more}}}
---
"""
WALLTIME = """\
apiVersion: paddlepaddle.org/v1alpha1
kind: TrainingJob
metadata: {name: deadline}
spec:
  image: local/train:1
  local_job: true
  annotations: {walltime: 600}
  trainer: {min-instance: 1, entrypoint: train}
---
"""
ON_FAULTY = (
    f', nodeSelector: {{{FAULTY}: "yes"}}, tolerations: '
    "[{key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 5}, "
    f"{{key: {FAULTY}, operator: Exists}}]"
)
NAMES = ("recreated", "edited")


def _specs(home: str, *jobs: str) -> str:
    return PLATFORM.format(home=home) + "".join(jobs)


def _job(name: str, replicas: int = 1, more: str = "") -> str:
    return JOB.format(name=name, replicas=replicas, more=more)


@dataclass
class Table:
    """Rows of a table in Markdown, each from one fault."""

    story: Story
    rows: list[str] = field(default_factory=list)

    def row(self, cause: str, name: str, kind: str = "PaddleJob", **fields: Any) -> None:
        """Waits until the status of a resource has these fields; a condition is given by its reason."""
        self.story.reaches(kind, name, SECONDS, **fields)
        live = self.story.live(kind, name)
        health = health_of(live)
        conditions = live["status"]["conditions"]
        telling = [each for each in conditions if each["status"] == "True"] or [
            each for each in conditions if each["type"] == "Complete"
        ]
        told = "; ".join(f"{each['type']}={each['status']} {each['reason']}" for each in telling)
        state = "/".join(live["status"][key] for key in ("phase", "state") if live["status"].get(key))
        self.rows.append(f"| {cause} | {state} | {told} | {health['status']}: {health['message']} |")

    def text(self) -> str:
        head = "| Cause | Phase | Conditions | Health in Argo CD |\n| --- | --- | --- | --- |\n"
        return masked(head + "\n".join(self.rows) + "\n", self.story.pods.names, self.story.runs())


def test_fault_table(cluster: Cluster, begin: Begin, compile_specs: Compile, kept: SnapshotAssertion) -> None:
    story = begin("story-faults")
    table = Table(story)
    with _node(cluster):
        jobs = [_job(name) for name in NAMES]
        story.apply(compile_specs(_specs("story-faults", *jobs, _job("lost", more=ON_FAULTY), WALLTIME)))
        for name in (*NAMES, "lost"):
            story.reaches("PaddleJob", name, 90, phase="Running")
        _silence(cluster)
        _deadline(table)
        _recreated(table)
        _edited(table, lambda: compile_specs(_specs("story-faults", _job("edited", replicas=2))))
        _node_lost(table)
    print(table.text())  # noqa: T201
    assert table.text() == kept


@contextmanager
def _node(cluster: Cluster) -> Iterator[None]:
    """One more node, which will be lost."""
    manifest = nodes.node(LOST)
    manifest["metadata"]["labels"][FAULTY] = "yes"
    manifest["spec"] = {"taints": [{"key": FAULTY, "effect": "NoSchedule"}]}
    cluster.admin.create(manifest)
    try:
        wait_for(lambda: _taints(cluster.admin.get(manifest)) == [FAULTY], what="a ready node")
        yield
    finally:
        if cluster.admin.find(manifest):
            cluster.admin.delete(manifest)
        cluster.admin.patch(ref("v1", "Node", "node-0"), {"metadata": {"labels": {FAULTY: None}}})


def _taints(node: Manifest) -> list[str]:
    return [each["key"] for each in node["spec"].get("taints", [])]


def _silence(cluster: Cluster) -> None:
    """Nobody speaks for the node any more."""
    cluster.admin.patch(ref("v1", "Node", LOST), {"metadata": {"labels": {PLAYED: None}}})


def _deadline(table: Table) -> None:
    """Walltime, made short when all is under way."""
    job = next(
        each for each in table.story.manifests if each["kind"] == "Job" and "deadline" in each["metadata"]["name"]
    )
    table.story.cluster.admin.patch(job, {"spec": {"activeDeadlineSeconds": 2}})
    table.row("The deadline has passed", "deadline", "TrainingJob", phase="Timeout", Failed="DeadlineExceeded")


def _recreated(table: Table) -> None:
    story, before = table.story, table.story.live("PaddleJob", "recreated")
    (body,) = (each for each in story.manifests if each["metadata"]["name"] == "recreated")
    story.cluster.admin.delete(body)
    story.cluster.admin.apply(body)
    table.row("The resource was deleted and made again", "recreated", phase="Running", observedGeneration=1)
    assert story.live("PaddleJob", "recreated")["metadata"]["uid"] != before["metadata"]["uid"]


def _edited(table: Table, compiled: Callable[[], list[Manifest]]) -> None:
    """The Job of before runs on until it is pruned."""
    story, before = table.story, table.story.status("PaddleJob", "edited")["run"]
    story.apply(compiled())
    table.row("An edit replaced the running Job", "edited", phase="Running", observedGeneration=2)
    after = story.status("PaddleJob", "edited")
    assert after["run"] != before
    assert after["worker"]["running"] == 2


def _node_lost(table: Table) -> None:
    story, admin = table.story, table.story.cluster.admin
    story.until(lambda: _ready(admin.get(ref("v1", "Node", LOST))) == "Unknown", 120, what="a lost node")
    table.row("A node does not answer", "lost", Complete="NodeLost")
    admin.patch(ref("v1", "Node", "node-0"), {"metadata": {"labels": {FAULTY: "yes"}}})
    (pod,) = story.users_pods("lost")
    story.until(lambda: "deletionTimestamp" in admin.get(pod)["metadata"], what="the end of the toleration")
    told = "Taint manager: deleting"
    story.until(lambda: told in health_of(story.live("PaddleJob", "lost"))["message"], SECONDS, what=told)
    table.row("Its pods were told to leave, and nobody there hears it", "lost", Complete="NodeLost")
    # What Kubernetes has for it. A pod that is deleted by force alone is never replaced: its Job waits for its end.
    taint = {"key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown", "effect": "NoExecute"}
    node = admin.get(ref("v1", "Node", LOST))
    admin.patch(node, {"spec": {"taints": [*node["spec"].get("taints", []), taint]}})
    story.until(lambda: pod["metadata"]["uid"] not in _uids(story, "lost"), 90, what="the end of the pod")
    table.row("The node was declared out of service", "lost", phase="Running", Complete="Running")


def _uids(story: Story, name: str) -> set[str]:
    return {each["metadata"]["uid"] for each in story.users_pods(name)}


def _ready(node: Manifest) -> str:
    return next(str(each["status"]) for each in node["status"]["conditions"] if each["type"] == "Ready")


def test_reporter_killed_at_any_moment(begin: Begin, compile_specs: Compile, kept: SnapshotAssertion) -> None:
    """As the kubelet, start it again each time; the end is the same as without."""
    story = begin("story-kills")
    table = Table(story)
    story.apply(compile_specs(_specs("story-kills", _job("killed", replicas=2))))
    story.reaches("PaddleJob", "killed", 90, phase="Running")
    chance, usual = random.Random(7), _seconds_to_work(story)  # noqa: S311 - no secret
    started = story.status("PaddleJob", "killed")["startTime"]
    phases = set()
    for number in range(KILLS):
        time.sleep(chance.uniform(0, 1.5 * usual))
        story.pods.restart("reporter")
        status = story.status("PaddleJob", "killed")
        assert status["startTime"] == started
        phases.add(status["phase"])
        if number == KILLS // 2:
            story.end(story.users_pods("killed"))
    table.row(
        "The reporter was killed at any moment, again and again", "killed", phase="Completed", Complete="Succeeded"
    )
    assert story.status("PaddleJob", "killed")["startTime"] == started
    # Under load it may be killed each time before it can tell of the end.
    assert phases <= {"Running", "Completed"}
    assert table.text() == kept


def _seconds_to_work(story: Story) -> float:
    """What a reporter takes on this machine from its start until it reports."""
    (reporter,) = story.pods.of("reporter")
    known = "All objects are known"
    before, begun = reporter.log.count(known), time.monotonic()
    story.pods.restart("reporter")
    wait_for(lambda: reporter.log.count(known) > before, what="a reporter at work")
    return time.monotonic() - begun


@pytest.mark.parametrize("offset", ["+3h", "-4m"])
def test_clock_that_is_wrong(offset: str, begin: Begin, compile_specs: Compile, kept: SnapshotAssertion) -> None:
    """That of the reporter's node: all times are those of the objects. Further back, no certificate would be valid."""
    library = next((path for path in LIBRARIES if Path(path).exists()), None)
    if library is None:
        pytest.skip("no libfaketime on this machine (Debian: libfaketime)")
    skewed = {"LD_PRELOAD": library, "FAKETIME": offset, "DONT_FAKE_MONOTONIC": "1", "FAKETIME_NO_CACHE": "1"}
    story = begin("story-clock", environment=skewed)
    table = Table(story)
    story.apply(compile_specs(_specs("story-clock", _job("skewed"))))
    table.row("The reporter's clock is wrong while the job runs", "skewed", phase="Running")
    story.end(story.users_pods("skewed"))
    table.row("The reporter's clock is wrong when the job ends", "skewed", phase="Completed", Complete="Succeeded")
    live = story.live("PaddleJob", "skewed")
    job = next(each for each in story.manifests if each["kind"] == "Job")
    said = story.cluster.admin.get(job)["status"]["completionTime"]
    assert live["metadata"]["creationTimestamp"] <= live["status"]["startTime"] <= said
    assert live["status"]["completionTime"] == said
    (reporter,) = story.pods.of("reporter")
    own = datetime.fromisoformat(json.loads(reporter.log.splitlines()[-1])["time"])
    assert abs((datetime.now(UTC) - own).total_seconds()) > 200
    assert table.text() == kept
