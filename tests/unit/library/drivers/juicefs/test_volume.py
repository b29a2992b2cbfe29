"""A volume and a claim that can only bind each other."""

from typing import Any

from stowplan.library.dialects.sample_set.sample_set import cached_dataset
from stowplan.library.drivers.juicefs import DRIVER
from stowplan.library.manifest import Json
from tests.unit.specs import context, sample_set, site

PROTECTED = {
    "argocd.argoproj.io/compare-options": "IgnoreExtraneous",
    "argocd.argoproj.io/sync-options": "Prune=false,Delete=false",
}


def made(**platform: Any) -> list[Json]:
    dataset = cached_dataset(sample_set(), context(**platform))
    return [each.body for each in DRIVER.volume(dataset, site(**platform))]


def test_a_static_volume_of_the_claim() -> None:
    volume, _ = made(juicefs={"csiDriver": "csi.example.com"})
    assert volume["metadata"]["annotations"] == PROTECTED
    assert "namespace" not in volume["metadata"]
    mounted = volume["spec"].pop("mountOptions")
    assert "cache-size=4096" in mounted
    assert volume["spec"] == {
        "accessModes": ["ReadWriteMany"],
        "capacity": {"storage": "10Pi"},
        "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "name": "data", "namespace": "ml"},
        "csi": {
            "driver": "csi.example.com",
            "fsType": "juicefs",
            "nodePublishSecretRef": {"name": "volume", "namespace": "ml"},
            "volumeHandle": "ml.data",
        },
        "persistentVolumeReclaimPolicy": "Retain",
        "storageClassName": "",
        "volumeMode": "Filesystem",
    }


def test_a_claim_on_the_volume() -> None:
    _, claim = made()
    assert claim["metadata"]["annotations"] == PROTECTED
    assert claim["spec"] == {
        "accessModes": ["ReadWriteMany"],
        "resources": {"requests": {"storage": "10Pi"}},
        "storageClassName": "",
        "volumeMode": "Filesystem",
        "volumeName": "ml.data",
    }


def test_a_claim_of_the_old_operator_keeps_its_selector() -> None:
    _, claim = made(names="upstream")
    assert claim["spec"]["storageClassName"] == "paddle-operator"
    assert claim["spec"]["selector"] == {"matchLabels": {"paddlepaddle.org/juicefs-data": "true"}}
