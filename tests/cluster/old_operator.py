"""Objects of paddle-operator for a SampleSet (branch `sampleset`, v0.4-alpha), and a cluster as it left it."""

from dataclasses import dataclass
from typing import Any

from tests.cluster.client import Client, Manifest, ref, true_conditions, wait_for
from tests.cluster.shared import legacy_crd

OPERATOR = "manager"
"""The field manager of its writes: the name of its program."""
KUBECTL = "kubectl-client-side-apply"
"""The field manager of what users applied."""

_CREATED_BY = {"CreatedBy": "paddle-operator"}
_CAPACITY = "10Pi"


@dataclass(frozen=True)
class Dataset:
    """A SampleSet of one partition by namespace and name, and the names of what the operator made of it."""

    namespace: str
    name: str

    @property
    def label(self) -> dict[str, str]:
        return {f"paddlepaddle.org/juicefs-{self.name}": "true"}

    @property
    def resource(self) -> Manifest:
        return ref("batch.paddlepaddle.org/v1alpha1", "SampleSet", self.name, self.namespace)

    @property
    def volume(self) -> Manifest:
        return ref("v1", "PersistentVolume", self.name)

    @property
    def claim(self) -> Manifest:
        return ref("v1", "PersistentVolumeClaim", self.name, self.namespace)

    @property
    def service(self) -> Manifest:
        return ref("v1", "Service", f"{self.name}-runtime-service", self.namespace)

    @property
    def runtime(self) -> Manifest:
        return ref("apps/v1", "StatefulSet", f"{self.name}-runtime", self.namespace)


STATUS: Manifest = {
    "phase": "Ready",
    "cacheStatus": {
        "totalSize": "58 MiB",
        "totalFiles": "1,281",
        "cachedSize": "200 B",
        "diskSize": "12 GiB",
        "diskUsed": "200 B",
        "diskAvail": "12 GiB",
        "diskUsageRate": "0.1%",
        "errorMassage": "",
    },
    "runtimeStatus": {"specReplicas": 1, "readyReplicas": 1, "runtimeReady": "1/1"},
    "jobsName": {"syncJobName": "5f776557-0e1c-4b43-9d2e-7f3a8d1b2c4d"},
}
"""Of a dataset that is filled."""


def install_crds(client: Client) -> None:
    """The CRDs as users applied them."""
    for plural in ("samplesets", "samplejobs"):
        crd = legacy_crd(f"batch.paddlepaddle.org_{plural}")
        body = {**ref(crd["apiVersion"], crd["kind"], crd["metadata"]["name"]), "spec": crd["spec"]}
        _create(client, body, KUBECTL)
        _await_established(client, body)


def _await_established(client: Client, crd: Manifest) -> None:
    wait_for(lambda: "Established" in true_conditions(client.get(crd)), what=f"the old {crd['metadata']['name']}")


def install(client: Client, dataset: Dataset, spec: dict[str, Any]) -> None:
    """The SampleSet as a user applied it, and all that the operator made of it, until it is at work."""
    _create(client, {**dataset.resource, "spec": spec}, KUBECTL)
    client.patch(dataset.resource, {"metadata": {"finalizers": [f"paddlepaddle.org/sampleset-{dataset.name}"]}})
    for manifest in (_volume(dataset), _claim(dataset), _service(dataset), _runtime(dataset)):
        _create(client, manifest, OPERATOR)
    wait_for(lambda: client.get(dataset.runtime)["status"].get("readyReplicas"), what="the old cache pod")
    wait_for(lambda: bound(client, dataset.claim), what="the old claim")
    pod = client.get(ref("v1", "Pod", f"{dataset.name}-runtime-0", dataset.namespace))
    node = ref("v1", "Node", pod["spec"]["nodeName"])
    client.patch(node, {"metadata": {"labels": dict.fromkeys(dataset.label, pod["metadata"]["name"])}})
    parameters = {"fieldManager": OPERATOR, "fieldValidation": "Strict"}
    path = client.path(dataset.resource, "status")
    client.request("PATCH", path, {"status": STATUS}, "application/merge-patch+json", parameters)


def install_finished_job(client: Client, job: Manifest) -> None:
    """A SampleJob that succeeded."""
    _create(client, job, KUBECTL)
    client.patch(job, {"metadata": {"finalizers": [f"paddlepaddle.org/samplejob-{job['metadata']['name']}"]}})
    status = {"phase": "Succeeded", "jobName": "6ce533f1-2d1e-4f0a-8d5c-0c9a4b7e1f22"}
    client.patch(job, {"status": status}, subresource="status")


def bound(client: Client, claim: Manifest) -> bool:
    """Whether the claim has its volume."""
    return bool(client.get(claim).get("status", {}).get("phase") == "Bound")


def _create(client: Client, manifest: Manifest, manager: str) -> None:
    parameters = {"fieldManager": manager, "fieldValidation": "Strict"}
    client.request("POST", client.collection(manifest), manifest, parameters=parameters)


def _made(dataset: Dataset, manifest: Manifest, spec: dict[str, Any]) -> Manifest:
    metadata = {**manifest["metadata"], "labels": dataset.label, "annotations": _CREATED_BY}
    return {**manifest, "metadata": metadata, "spec": spec}


def _volume(dataset: Dataset) -> Manifest:
    csi = {
        "driver": "csi.juicefs.com",
        "fsType": "juicefs",
        "volumeHandle": f"{dataset.namespace}-{dataset.name}",
        "volumeAttributes": {"mountOptions": f"cache-dir=/dev/shm/{dataset.name},cache-size=1073741824"},
        "nodePublishSecretRef": {"name": "volume", "namespace": dataset.namespace},
    }
    spec = {
        "accessModes": ["ReadWriteMany"],
        "capacity": {"storage": _CAPACITY},
        "volumeMode": "Filesystem",
        "persistentVolumeReclaimPolicy": "Retain",
        "storageClassName": "paddle-operator",
        "csi": csi,
    }
    return _made(dataset, dataset.volume, spec)


def _claim(dataset: Dataset) -> Manifest:
    spec = {
        "accessModes": ["ReadWriteMany"],
        "resources": {"requests": {"storage": _CAPACITY}},
        "selector": {"matchLabels": dataset.label},
        "storageClassName": "paddle-operator",
    }
    return _made(dataset, dataset.claim, spec)


def _service(dataset: Dataset) -> Manifest:
    ports = [{"name": "service", "port": 7716}]
    return _made(dataset, dataset.service, {"clusterIP": "None", "selector": _pod_labels(dataset), "ports": ports})


def _runtime(dataset: Dataset) -> Manifest:
    spec = {
        "replicas": 1,
        "serviceName": dataset.service["metadata"]["name"],
        "podManagementPolicy": "OrderedReady",
        "selector": {"matchLabels": _pod_labels(dataset)},
        "template": {"metadata": {"labels": _pod_labels(dataset)}, "spec": _pod_spec(dataset)},
    }
    return _made(dataset, dataset.runtime, spec)


def _pod_labels(dataset: Dataset) -> dict[str, str]:
    return {**dataset.label, "name": f"{dataset.name}-runtime"}


def _pod_spec(dataset: Dataset) -> dict[str, Any]:
    term = {
        "topologyKey": "kubernetes.io/hostname",
        "namespaces": [dataset.namespace],
        "labelSelector": {"matchLabels": _pod_labels(dataset)},
    }
    directory, data = f"dev-shm-{dataset.name}", f"/mnt/{dataset.name}"
    cache = f"/cache/{directory}"
    server = ["nuwa", "server", "--driver=juicefs", "--development", f"--cacheDirs={cache}", f"--dataDir={data}"]
    return {
        "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}},
        "containers": [
            {
                "name": "runtime",
                "image": "registry.baidubce.com/paddle-operator/manager:v0.4-alpha",
                "command": server,
                "ports": [{"name": dataset.name, "containerPort": 7716}],
                "securityContext": {"privileged": True},
                "lifecycle": {"preStop": {"exec": {"command": ["/bin/sh", "-c", f"rm -rf {cache}/*"]}}},
                "volumeMounts": [
                    {"name": directory, "mountPath": cache, "mountPropagation": "Bidirectional"},
                    {"name": dataset.name, "mountPath": data, "mountPropagation": "Bidirectional"},
                ],
            }
        ],
        "volumes": [
            {"name": directory, "hostPath": {"path": f"/dev/shm/{dataset.name}", "type": "DirectoryOrCreate"}},
            {"name": dataset.name, "persistentVolumeClaim": {"claimName": dataset.name}},
        ],
    }
