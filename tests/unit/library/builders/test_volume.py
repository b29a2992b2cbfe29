"""A volume and a claim that can only bind each other."""

from stowplan.library.builders.volume import persistent_volume, persistent_volume_claim
from tests.unit.specs import ORIGIN

PROTECTED = {
    "argocd.argoproj.io/compare-options": "IgnoreExtraneous",
    "argocd.argoproj.io/sync-options": "Prune=false,Delete=false",
    "stowplan.dev/source": "specs/data.yaml",
}


def test_persistent_volume() -> None:
    made = persistent_volume(
        "ml.data",
        ORIGIN,
        claim="data",
        storage_class="",
        csi={"driver": "csi.example.com"},
        mount_options=["a=1", "b"],
        extra_labels={},
    ).body
    assert made["metadata"]["annotations"] == PROTECTED
    assert "namespace" not in made["metadata"]
    assert made["spec"] == {
        "accessModes": ["ReadWriteMany"],
        "capacity": {"storage": "10Pi"},
        "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "name": "data", "namespace": "ml"},
        "csi": {"driver": "csi.example.com"},
        "mountOptions": ["a=1", "b"],
        "persistentVolumeReclaimPolicy": "Retain",
        "storageClassName": "",
        "volumeMode": "Filesystem",
    }


def test_persistent_volume_claim() -> None:
    made = persistent_volume_claim(
        "data", ORIGIN, volume="ml.data", storage_class="", selector=None, extra_labels={}
    ).body
    assert made["metadata"]["annotations"] == PROTECTED
    assert made["spec"] == {
        "accessModes": ["ReadWriteMany"],
        "resources": {"requests": {"storage": "10Pi"}},
        "storageClassName": "",
        "volumeMode": "Filesystem",
        "volumeName": "ml.data",
    }


def test_claim_with_a_selector() -> None:
    made = persistent_volume_claim(
        "data", ORIGIN, volume="data", storage_class="old", selector={"a": "b"}, extra_labels={}
    ).body
    assert made["spec"]["selector"] == {"matchLabels": {"a": "b"}}
