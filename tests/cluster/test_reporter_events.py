"""What the reporter tells of pods that cannot begin, by events of the kubelet, schedulers and controllers."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from stowplan.compiler.live.spec_status import spec_status
from stowplan.schema.meta import SpecId
from tests.cluster.client import Manifest, ref
from tests.cluster.control_plane import Cluster
from tests.cluster.nodes import cordoned
from tests.cluster.reporters import Site, data_cube, paddle_job

NOT_FOUND = (
    'MountVolume.SetUp failed for volume "data" : kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: '
    "driver name csi.juicefs.com not found in the list of registered CSI drivers"
)
TIMED_OUT = "Unable to attach or mount volumes: unmounted volumes=[data]: timed out waiting for the condition"
TOLD_SECONDS = 60
"""After that long the cause must be known."""

DATASET: Manifest = {
    **ref("batch.paddlepaddle.org/v1alpha1", "SampleSet", "data"),
    "spec": {"partitions": 1, "source": {"uri": "s3://bucket/data"}, "secretRef": {"name": "volume"}},
}
REMOVAL: Manifest = {
    **ref("batch.paddlepaddle.org/v1alpha1", "SampleJob", "rmr"),
    "spec": {"type": "rmr", "sampleSetRef": {"name": "data"}, "rmrOptions": {"paths": ["old"]}},
}
CONTAINER = paddle_job("x")["spec"]["worker"]["template"]["spec"]["containers"][0]
TEMPLATE: Manifest = {"spec": {"containers": [{**CONTAINER, "name": "mxnet"}]}}
TRAINING: Manifest = {
    **ref("paddlepaddle.org/v1alpha1", "TrainingJob", "train"),
    "spec": {"local_job": True, "trainer": {"min-instance": 1, "max-instance": 1, "entrypoint": "train"}},
}
MXNET: Manifest = {
    **ref("mxnet.mlkube.io/v1beta1", "MxJob", "mx"),
    "spec": {"jobMode": "local", "replicaSpecs": [{"mxReplicaType": "WORKER", "replicas": 1, "template": TEMPLATE}]},
}
SPECS = [DATASET, REMOVAL, data_cube("cube"), paddle_job("job"), TRAINING, MXNET]
WAITING = {each["kind"]: "Ready" if each["kind"] == "SampleSet" else "Complete" for each in SPECS}
"""For each kind, the condition that says what it waits for."""


@pytest.fixture
def site(cluster: Cluster, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Site]:
    """A namespace of the test's own, with one spec of each kind; no node takes a pod."""
    name = "events-" + request.node.originalname.removeprefix("test_").replace("_", "-")[:40].rstrip("-")
    made = Site(cluster, cluster.namespace(name), tmp_path)
    # The pods of a TrainingJob are not restricted.
    level = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "baseline"}}}
    cluster.admin.patch({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": made.namespace}}, level)
    with cordoned(cluster.admin):
        yield made
        cluster.admin.delete({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": made.namespace}})


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def write(site: Site, about: Manifest, reason: str, message: str, count: int = 1) -> None:
    """An event as the kubelet writes it, by the API `v1`."""
    metadata = about["metadata"]
    name = f"{metadata['name']}.{reason.lower()}.{abs(hash(message)) % 10**6}"
    event = {
        **ref("v1", "Event", name, site.namespace),
        "involvedObject": {
            "apiVersion": "v1",
            "kind": "Pod",
            "namespace": site.namespace,
            "name": metadata["name"],
            "uid": metadata["uid"],
        },
        "reason": reason,
        "message": message,
        "type": "Warning",
        "source": {"component": "kubelet", "host": "nobody"},
        "reportingComponent": "kubelet",
        "firstTimestamp": now(),
        "lastTimestamp": now(),
        "count": count,
    }
    site.cluster.admin.apply(event, manager="kubelet")


def bind(site: Site, pod: Manifest) -> None:
    """Gives a pod a node, as the scheduler does. Nobody runs pods there."""
    body = {**ref("v1", "Binding", pod["metadata"]["name"], site.namespace), "target": ref("v1", "Node", "nobody")}
    body["target"] = {"apiVersion": "v1", "kind": "Node", "name": "nobody"}
    site.cluster.admin.request("POST", site.cluster.admin.path(pod, "binding"), body)


def pods(site: Site) -> list[Manifest]:
    return site.cluster.admin.list("v1", "Pod", site.namespace, "stowplan.dev/kind")


def names() -> list[tuple[str, str]]:
    return [(each["kind"], each["metadata"]["name"]) for each in SPECS]


def health(site: Site, kind: str, name: str) -> tuple[str, str]:
    """What `stowplan status` shows: the health, and its reason."""
    (body,) = (each for each in site.made(kind) if each["metadata"]["name"] == name)
    told = spec_status(SpecId(kind, site.namespace, name), site.cluster.admin.get(body), datetime.now(UTC))
    return told.health, told.reason


def test_volume_that_mounts_in_the_end(site: Site) -> None:
    """Events outlive their cause by an hour. A reporter that starts later sees them too."""
    site.apply([paddle_job("job")])
    with site.reporter("first"):
        site.until("PaddleJob", "job", Complete="Unschedulable")
        (pod,) = pods(site)
        bind(site, pod)
        write(site, pod, "FailedMount", TIMED_OUT)
        write(site, pod, "FailedMount", NOT_FOUND)
        site.until("PaddleJob", "job", Complete="FailedMount", Stalled="NotStalled")
        state, reason = health(site, "PaddleJob", "job")
        assert (state, "csi.juicefs.com not found" in reason) == ("Progressing", True)
        write(site, pod, "FailedAttachVolume", "Multi-Attach error for volume", count=3)
        site.until("PaddleJob", "job", Stalled="FailedAttachVolume")
    with site.reporter("second"):
        site.until("PaddleJob", "job", Stalled="FailedAttachVolume")
        mounted = {"type": "PodReadyToStartContainers", "status": "True", "lastTransitionTime": now()}
        site.patch_status(pod, {"conditions": [mounted]})
        site.until("PaddleJob", "job", Stalled="NotStalled", Complete="Running")


def test_scheduler_that_only_writes_events(site: Site) -> None:
    """By the API `events.k8s.io`, which serves the same objects."""
    site.apply([paddle_job("job", schedulerName="another")])
    with site.reporter():
        site.until("PaddleJob", "job", Complete="Running")
        (pod,) = pods(site)
        metadata = pod["metadata"]
        event: dict[str, Any] = {
            **ref("events.k8s.io/v1", "Event", "of-scheduler", site.namespace),
            "regarding": {"apiVersion": "v1", "kind": "Pod", "namespace": site.namespace, "name": metadata["name"]},
            "eventTime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "reportingController": "another",
            "reportingInstance": "another-0",
            "action": "Scheduling",
            "reason": "FailedScheduling",
            "note": "0/4 nodes are available: 4 Insufficient nvidia.com/gpu",
            "type": "Warning",
            "series": {"count": 5, "lastObservedTime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")},
        }
        event["regarding"]["uid"] = metadata["uid"]
        site.cluster.admin.create(event)
        site.until("PaddleJob", "job", Complete="FailedScheduling", Stalled="NotStalled")
        state, reason = health(site, "PaddleJob", "job")
        assert (state, "Insufficient nvidia.com/gpu" in reason) == ("Progressing", True)


def test_pods_that_a_quota_refuses(site: Site) -> None:
    """Of every kind, by events of the real controllers. Other pods may end, so it is not for ever."""
    quota = {**ref("v1", "ResourceQuota", "none", site.namespace), "spec": {"hard": {"pods": "0"}}}
    site.cluster.admin.create(quota)
    site.apply(SPECS)
    with site.reporter():
        for kind, name in names():
            site.until(kind, name, TOLD_SECONDS, **{WAITING[kind]: "FailedCreate", "Stalled": "NotStalled"})
            state, reason = health(site, kind, name)
            assert (state, "exceeded quota: none" in reason) == ("Progressing", True), (kind, reason)
        site.cluster.admin.delete(quota)


def test_pods_that_pod_security_refuses(site: Site) -> None:
    """Each attempt of the controller names another pod, so each is an event of its own."""
    level = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}
    site.cluster.admin.patch({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": site.namespace}}, level)
    site.apply([TRAINING])
    with site.reporter():
        site.until("TrainingJob", "train", TOLD_SECONDS, Stalled="FailedCreate")
        state, reason = health(site, "TrainingJob", "train")
        assert (state, "violates PodSecurity" in reason) == ("Degraded", True)


def test_pods_of_an_account_that_is_missing(site: Site) -> None:
    site.apply([paddle_job("job", serviceAccountName="nobody")])
    with site.reporter():
        site.until("PaddleJob", "job", TOLD_SECONDS, Stalled="FailedCreate")
        state, reason = health(site, "PaddleJob", "job")
        assert (state, 'serviceaccount "nobody" not found' in reason) == ("Degraded", True)


def test_reporter_with_the_role_of_before(site: Site) -> None:
    """Without the right to read events, it does all the rest."""
    site.apply([paddle_job("job")])
    (role,) = (each for each in site.made("Role") if each["metadata"]["name"] == "stowplan-reporter")
    rules = [each for each in role["rules"] if "events" not in each["resources"]]
    pods_rule = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}
    site.cluster.admin.apply({**role, "rules": [*rules, pods_rule]})
    with site.reporter():
        site.until("PaddleJob", "job", Complete="Unschedulable")
