"""No string of a spec or of a plain object reaches the shell of the CSI driver's mount pod.

The JuiceFS CSI driver joins mount options into a command line for `sh -c`, in a privileged container that runs as root.
"""

from pathlib import Path
from typing import Any

import pytest
import yaml

from stowplan.schema.juicefs.mount_options import MountOptions
from stowplan.schema.juicefs.option_forms import MOUNT_FORMS, SYNC_FORMS
from stowplan.schema.juicefs.sync_options import SyncOptions
from tests.hostile.datasets import DATASET, codes
from tests.repositories import compiled

ATTACK = "/a'&touch${IFS}/tmp/pwned;#"
"""Ends the quote that the driver opens for dash, and starts a command of its own."""

STRINGS = ["metrics", "cache-dir", "cache-expire", "cache-scan-interval", "cache-mode", "backup-meta", "sub-dir"]

PLATFORM = """\
kind: Platform
images: {registry: registry.example.com/ml, tag: "1"}
passThrough: [{kind: PersistentVolume}, {group: storage.k8s.io, kind: StorageClass, clusterScoped: true}]
"""


def with_options(**options: Any) -> str:
    return DATASET + "  csi: " + yaml.safe_dump({"juiceFSMountOptions": options}, default_flow_style=True, width=10**6)


def with_volume(driver: str = "csi.juicefs.com", **spec: Any) -> str:
    """A plain volume, as `passThrough` lets one stand among the specs."""
    csi = {"driver": driver, "volumeHandle": "plain", **spec.pop("csi", {})}
    body = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {
            "name": "plain",
            "annotations": {"argocd.argoproj.io/sync-options": "Prune=false,Delete=false"},
        },
        "spec": {
            "accessModes": ["ReadWriteMany"],
            "capacity": {"storage": "1Gi"},
            "claimRef": {"name": "plain", "namespace": "ml"},
            "csi": csi,
            "persistentVolumeReclaimPolicy": "Retain",
            "storageClassName": "",
            **spec,
        },
    }
    return f"{PLATFORM}---\n{yaml.safe_dump(body)}"


@pytest.mark.parametrize("option", STRINGS)
def test_shell_syntax_in_a_mount_option_is_an_error(tmp_path: Path, option: str) -> None:
    assert codes(tmp_path, with_options(**{option: ATTACK})) & {"SP206", "SP405"}


@pytest.mark.parametrize("character", [*";&|<>$`'\"(){}!*?[]~#\\^ \t\n\r\0\x7f\x85\u2028", "$(id)", "é"])
def test_no_character_outside_the_list_passes(tmp_path: Path, character: str) -> None:
    text = with_options(**dict.fromkeys(STRINGS, f"/a{character}b"))
    result = compiled(tmp_path, {"data.yaml": text})
    named = {found.field_path.rpartition(".")[2] for found in result.errors}
    # A control character may be refused before, with all of the file.
    assert named == set(STRINGS) or {found.code for found in result.errors} <= {"SP101", "SP104"}


def test_shell_syntax_in_a_cache_level_is_an_error(tmp_path: Path) -> None:
    assert codes(tmp_path, DATASET + f'  cache: {{levels: [{{path: "{ATTACK}", cacheSize: 1}}]}}\n') == {"SP405"}


@pytest.mark.parametrize(
    "options",
    [
        {"metrics": "0.0.0.0:9567"},
        {"metrics": "localhost:0"},
        {"metrics": ":9567"},
        {"cache-expire": "24h", "cache-scan-interval": "1h30m", "backup-meta": "0"},
        {"cache-expire": "1.5h", "cache-scan-interval": "3600", "backup-meta": "7d"},
        {"cache-mode": "0600"},
        {"cache-mode": "640"},
        {"sub-dir": "/team/data.v1_2-x@y%20+z:1/"},
        {"cache-dir": "/data/a:/data/b"},
        {"cache-dir": "memory"},
        {"free-space-ratio": "0.25"},
    ],
)
def test_what_users_write_is_taken(tmp_path: Path, options: dict[str, str]) -> None:
    assert codes(tmp_path, with_options(**options)) == set()


def test_every_string_option_has_a_form() -> None:
    """Also one that is added to the models later."""

    def strings(model: type[MountOptions] | type[SyncOptions]) -> set[str]:
        fields = model.model_fields.items()
        return {field.alias or name for name, field in fields if field.annotation == str | None}

    assert strings(MountOptions) == set(MOUNT_FORMS)
    # Neither of the two reaches JuiceFS.
    assert strings(SyncOptions) - {"manager", "worker"} == set(SYNC_FORMS)


@pytest.mark.parametrize(
    "spec",
    [
        {"mountOptions": [f"subdir={ATTACK}"]},
        {"mountOptions": ["ro", "$(id)"]},
        {"mountOptions": ["a b"]},
        {"csi": {"volumeAttributes": {"mountOptions": f"ro,subdir={ATTACK}"}}},
        {"csi": {"volumeAttributes": {"subPath": ATTACK}}},
        {"csi": {"volumeHandle": "a;id"}},
        {"mountOptions": ["cache-dir=/etc/kubernetes/manifests"]},
        {"csi": {"volumeAttributes": {"mountOptions": "ro, cache-dir=/usr/local/bin"}}},
    ],
)
def test_a_plain_volume_is_held_to_the_same_list(tmp_path: Path, spec: dict[str, Any]) -> None:
    assert codes(tmp_path, with_volume(**spec)) & {"SP457", "SP458"}


def test_a_driver_of_another_name_does_not_free_the_usual_one(tmp_path: Path) -> None:
    text = with_volume(mountOptions=["cache-dir=/etc"]).replace(
        "kind: Platform", "kind: Platform\njuicefs: {csiDriver: a.b}"
    )
    assert codes(tmp_path, text) == {"SP458"}


def test_a_volume_of_another_driver_is_held_to_the_list_too(tmp_path: Path) -> None:
    assert codes(tmp_path, with_volume("csi.example.com", mountOptions=["a;b"])) == {"SP457"}


@pytest.mark.parametrize("options", [["nfsvers=4.1", "rw"], ["dir_mode=0777", "uid=1000"], ["--cache-size=1"]])
def test_a_plain_volume_with_usual_options_is_taken(tmp_path: Path, options: list[str]) -> None:
    assert codes(tmp_path, with_volume("csi.example.com", mountOptions=options)) == set()


def test_a_storage_class_is_held_to_the_same_list(tmp_path: Path) -> None:
    body = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "fast"},
        "provisioner": "csi.juicefs.com",
        "mountOptions": [f"subdir={ATTACK}"],
    }
    assert codes(tmp_path, f"{PLATFORM}---\n{yaml.safe_dump(body)}") == {"SP457"}
    (tmp_path / "parameters").mkdir()
    body |= {"mountOptions": [], "parameters": {"mountOptions": "ro,cache-dir=/etc"}}
    assert codes(tmp_path / "parameters", f"{PLATFORM}---\n{yaml.safe_dump(body)}") == {"SP458"}


@pytest.mark.parametrize(("options", "code"), [(f"subdir={ATTACK}", "SP457"), ("cache-dir=/etc", "SP458")])
def test_a_volume_in_a_pod_template_is_held_to_the_same_list(tmp_path: Path, options: str, code: str) -> None:
    csi = {"driver": "csi.juicefs.com", "volumeAttributes": {"mountOptions": options}}
    pod = {"containers": [{"name": "paddle", "image": "paddle:1"}], "volumes": [{"name": "data", "csi": csi}]}
    body = {
        "apiVersion": "batch.paddlepaddle.org/v1",
        "kind": "PaddleJob",
        "metadata": {"name": "train", "namespace": "ml"},
        "spec": {"worker": {"replicas": 1, "template": {"spec": pod}}},
    }
    assert codes(tmp_path, yaml.safe_dump(body)) == {code}


def test_a_secret_of_another_namespace_is_refused_in_a_plain_volume_of_juicefs(tmp_path: Path) -> None:
    csi = {"nodePublishSecretRef": {"name": "prod", "namespace": "finance"}}
    assert codes(tmp_path, with_volume(csi=csi)) == {"SP303"}
