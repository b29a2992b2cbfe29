"""The server accepts Kueue's changes at the admission of a job, and a later sync leaves them alone.

Kueue itself does not run here: the test holds and admits jobs as Kueue's integrations of Job and JobSet do. Kueue's
webhook suspends created jobs. Here they are created suspended, since a Job that was ever started accepts no other
nodes.
"""

import re
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from stowplan.library.engines.gang.kueue import Kueue
from tests.cluster import sync
from tests.cluster.client import Client, Manifest, true_conditions, wait_for
from tests.cluster.control_plane import Cluster
from tests.cluster.edits import accepts
from tests.repositories import compiled

HOME = "kueue-admission"
_PLATFORM = """\
kind: Platform
defaultNamespace: {home}
engines: {{jobs: {jobs}, gang: kueue, queue: training}}
paddle: {{elasticServers: ["etcd.ml:2379"]}}
---
"""
_PADDLE_JOB = """\
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {{name: a}}
spec:
  {policy}
  worker:
    replicas: 4
    template:
      metadata: {{annotations: {{kwok.stowplan.dev/hold: "true"}}}}
      spec:
        nodeSelector: {{kubernetes.io/os: linux}}
        tolerations: [{{key: gpu, operator: Exists}}]
        containers: [{{name: main, image: local/train}}]
"""
_TRAINING = """\
apiVersion: stowplan.dev/v1alpha1
kind: Training
metadata: {{name: a}}
spec:
  framework: torch
  image: local/train:1
  numNodes: 4
  {policy}
  activeDeadlineSeconds: 3600
  scheduling: {{priority: high, topology: {{required: example.com/rack}}}}
  template:
    metadata: {{annotations: {{kwok.stowplan.dev/hold: "true"}}}}
    spec:
      nodeSelector: {{kubernetes.io/os: linux}}
      tolerations: [{{key: gpu, operator: Exists}}]
"""
_SPECS = {
    ("PaddleJob", "core"): (_PADDLE_JOB, "elastic: 1\n  schedulingPolicy: {minAvailable: 2}"),
    ("PaddleJob", "jobset"): (_PADDLE_JOB, "cleanPodPolicy: Never"),
    ("Training", "core"): (_TRAINING, "elastic: {min: 2, max: 4}"),
    ("Training", "jobset"): (_TRAINING, "numProcPerNode: auto"),
}
"""By kind and job engine: a spec, and fields of it. Those on `core` are elastic."""
_NODES = {
    "nodeSelector": {"kubernetes.io/os": "linux", "kubernetes.io/hostname": "node-1"},
    "tolerations": [{"key": "gpu", "operator": "Exists"}, {"key": "spot", "operator": "Exists"}],
}
_MARKS = {"labels": {"kueue.x-k8s.io/podset": "main"}}
_GATES = {"schedulingGates": [{"name": "kueue.x-k8s.io/topology"}]}
"""What Kueue adds to pods that ask for a topology, until it knows the domain of each pod."""


@pytest.fixture(params=_SPECS, ids="-".join)
def admitted(jobset_cluster: Cluster, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Manifest]:
    """A synced Job or JobSet that was held back, then admitted."""
    admin, (kind, jobs) = jobset_cluster.admin, request.param
    home = jobset_cluster.namespace(f"{HOME}-{kind.lower()}-{jobs}", "baseline")
    spec, policy = _SPECS[kind, jobs]
    result = compiled(tmp_path, {"a.yaml": (_PLATFORM + spec).format(home=home, jobs=jobs, policy=policy)})
    assert result.errors == []
    manifests = [output.manifest.body for output in result.outputs]
    (manifest,) = (each for each in manifests if each["kind"] in {"Job", "JobSet"})
    held_back = {**manifest, "spec": {**manifest["spec"], "suspend": True}}
    admin.apply(held_back, manager="kueue")
    sync.apply(admin, manifests)
    wait_for(lambda: "Suspended" in true_conditions(admin.get(manifest)), what="suspension")
    _admit(admin, manifest, _NODES | _GATES if kind == "Training" else _NODES)
    yield manifest
    sync.remove(admin, [each for each in manifests if each["kind"] != "CustomResourceDefinition"])


def _admit(admin: Client, manifest: Manifest, chosen: dict[str, Any]) -> None:
    """One update, as Kueue makes it: what it chose, and the end of the suspension. Only a Job may get fewer pods."""
    if manifest["kind"] == "Job":
        template = {"metadata": _MARKS, "spec": chosen}
        admin.patch(manifest, {"spec": {"completions": 2, "parallelism": 2, "suspend": False, "template": template}})
        return
    roles = deepcopy(admin.get(manifest)["spec"]["replicatedJobs"])
    for role in roles:
        template = role["template"]["spec"]["template"]
        template["spec"] |= chosen
        template["metadata"]["labels"] |= _MARKS["labels"]
    admin.patch(manifest, {"spec": {"replicatedJobs": roles, "suspend": False}})


def test_later_sync_leaves_it_alone(jobset_cluster: Cluster, admitted: Manifest) -> None:
    admin = jobset_cluster.admin
    before = admin.get(admitted)
    assert before["spec"]["suspend"] is False
    after = admin.apply(_as_argo_cd_sends(admitted, before), dry_run=True)
    assert after["spec"] == before["spec"]
    assert "suspend" not in admitted["spec"]


def test_sync_that_ignores_nothing_would_undo_it(jobset_cluster: Cluster, admitted: Manifest) -> None:
    """So the fields have to be ignored."""
    admin = jobset_cluster.admin
    refused = not accepts(admin, admitted)
    assert refused or admin.apply(admitted, dry_run=True)["spec"] != admin.get(admitted)["spec"]


def _as_argo_cd_sends(manifest: Manifest, live: Manifest) -> Manifest:
    """With `RespectIgnoreDifferences` the ignored fields get the values of the live object."""
    sent = deepcopy(manifest)
    for shared in Kueue().shared_fields():
        if shared.kind == manifest["kind"]:
            for path in (*shared.paths, *shared.queries):
                _take_over(sent, live, re.findall(r"[^./\[\]]+|\[\]", path))
    return sent


def _take_over(sent: Any, live: Any, path: list[str]) -> None:
    first, *rest = path
    if first == "[]":
        for own, other in zip(sent, live, strict=True):
            _take_over(own, other, rest)
    elif rest:
        _take_over(sent[first], live[first], rest)
    elif first in live:
        sent[first] = live[first]
