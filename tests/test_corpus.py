"""Real documents of the replaced systems. They lie beside this repository and are no part of it.

What they compile to is held by asserts rather than by snapshots, which would be committed.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from stowplan.compiler.kinds import MODELS
from tests.repositories import CORPUS, PLACEHOLDER, Result, compiled, corpus

pytestmark = pytest.mark.skipif(not CORPUS, reason="the documents of the old systems are not beside this repository")

WITH_PLACEHOLDERS = [name for name, text in CORPUS.items() if PLACEHOLDER.search(json.dumps(yaml.safe_load(text)))]


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """All documents of the kinds there are, compiled together."""
    return compiled(tmp_path_factory.mktemp("corpus"), corpus())


def test_documents_compile(result: Result) -> None:
    assert result.errors == []
    assert len(corpus()) >= 5


def test_warnings_are_none(result: Result) -> None:
    """Nothing in the quick start is dead or risky; infos say where a default differs."""
    assert [found for found in result.diagnostics if found.severity == "warning"] == []


def test_dataset_becomes_a_volume(result: Result) -> None:
    volume = _object(result, "PersistentVolume", "paddle-system.imagenet")["spec"]
    claim = _object(result, "PersistentVolumeClaim", "imagenet")["spec"]
    assert volume["csi"]["nodePublishSecretRef"] == {"name": "imagenet", "namespace": "paddle-system"}
    assert volume["csi"]["volumeHandle"] == claim["volumeName"] == "paddle-system.imagenet"
    assert (volume["claimRef"]["namespace"], volume["claimRef"]["name"]) == ("paddle-system", "imagenet")
    assert volume["mountOptions"] == ["cache-dir=/dev/shm/imagenet", "cache-size=4096", "free-space-ratio=0.1"]


def test_dataset_becomes_a_cache_pod_on_one_node(result: Result) -> None:
    runtime = _object(result, "StatefulSet", "imagenet-runtime")["spec"]
    assert runtime["replicas"] == 1
    assert runtime["serviceName"] == "imagenet-runtime-service"
    (container,) = runtime["template"]["spec"]["containers"]
    assert container["image"] == "registry.example.com/ml/stowplan-cache:1"
    assert container["command"] == ["python", "-m", "stowplan.agents.cache"]
    assert container["args"] == ["runtime"]


@pytest.mark.parametrize(
    ("stem", "args"),
    [
        ("imagenet-sync", ["sync"]),
        ("imagenet-warmup-0", ["warmup", "--partition", "0"]),
        ("imagenet-sync-samplejob", ["sync"]),
        ("imagenet-warmup-samplejob-0", ["warmup", "--partition", "0"]),
        ("imagenet-rmr-samplejob", ["rmr"]),
        ("imagenet-clear-samplejob-0", ["clear", "--partition", "0"]),
    ],
)
def test_tasks_become_jobs(result: Result, stem: str, args: list[str]) -> None:
    assert _container(result, stem)["args"] == args


@pytest.mark.parametrize(
    ("stem", "source"),
    [
        ("imagenet-sync", "bos://paddleflow-public.hkg.bcebos.com/imagenet/demo/"),
        ("imagenet-sync-samplejob", "bos://paddleflow-public.hkg.bcebos.com/imagenet/"),
    ],
)
def test_syncs_copy_to_the_root_of_the_volume(result: Result, stem: str, source: str) -> None:
    configuration = _configuration(result, stem)
    assert (configuration["source"], configuration["destination"]) == (source, "/")
    secrets = {
        variable["valueFrom"]["secretKeyRef"]["name"]
        for variable in _container(result, stem)["env"]
        if "secretKeyRef" in variable.get("valueFrom", {})
    }
    assert secrets == {"imagenet"}


def test_paths_are_removed_below_the_mount(result: Result) -> None:
    configuration = _configuration(result, "imagenet-rmr-samplejob")
    assert (configuration["mountPath"], configuration["paths"]) == ("/mnt/imagenet", ["n01514859"])


@pytest.mark.parametrize("name", WITH_PLACEHOLDERS)
def test_each_placeholder_is_told(name: str, tmp_path: Path) -> None:
    document = yaml.safe_load(CORPUS[name])
    placeholders = PLACEHOLDER.findall(json.dumps(document))
    found = compiled(tmp_path, {"raw.yaml": CORPUS[name]}).errors
    unknown = [] if document["kind"] in MODELS else ["SP207"]
    assert sorted(problem.code for problem in found) == ["SP114"] * len(placeholders) + unknown


def _objects(result: Result) -> dict[tuple[str, str], dict[str, Any]]:
    return {(output.manifest.kind, output.manifest.stem): output.manifest.body for output in result.outputs}


def _object(result: Result, kind: str, stem: str) -> dict[str, Any]:
    return _objects(result)[kind, stem]


def _container(result: Result, stem: str) -> dict[str, Any]:
    (container,) = _object(result, "Job", stem)["spec"]["template"]["spec"]["containers"]
    assert isinstance(container, dict)
    return container


def _configuration(result: Result, stem: str) -> dict[str, Any]:
    """What the agent of a Job reads."""
    volumes = _object(result, "Job", stem)["spec"]["template"]["spec"]["volumes"]
    name = next(volume["configMap"]["name"] for volume in volumes if "configMap" in volume)
    maps = (body for (kind, _), body in _objects(result).items() if kind == "ConfigMap")
    text = next(body["data"]["config.json"] for body in maps if body["metadata"]["name"] == name)
    configuration = json.loads(text)
    assert isinstance(configuration, dict)
    return configuration
