"""Migrated documents of the replaced systems compile to the objects of the old ones, but for what SP429 names."""

import json
import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml

from stowplan.library.values.names import HASH_LENGTH
from stowplan.schema.kinds.table import KINDS
from tests.repositories import CORPUS, compiled
from tests.test_corpus_native import IN_THE_WAY, migrated, title, without

pytestmark = pytest.mark.skipif(not CORPUS, reason="the documents of the old systems are not beside this repository")

Json = dict[str, Any]

_HASH = re.compile(rf"(?<=-)[a-z2-7]{{{HASH_LENGTH}}}\b(?!/)")
_RUN_HASH = "stowplan.dev/run-hash"
_GROUPS = re.compile(r"^(batch\.paddlepaddle\.org|tensorstack\.dev|mxnet\.mlkube\.io|stowplan\.dev)$")
_KINDS = re.compile(rf"(?i)\b({'|'.join(sorted(KINDS, key=len, reverse=True))})(?=s?\b)")
_TASKS = re.compile(rf"-(rmr|remove|clear|evict)(?=-[a-z2-7]{{{HASH_LENGTH}}}$)")
_ROLES = re.compile(r"((?<=-)|^)(worker|node)(?=-|$)")
_WORDS = ((_GROUPS, "<group>"), (_KINDS, "<kind>"), (_ROLES, "<role>"), (_TASKS, "-<task>"), (_HASH, "<hash>"))
_OLD_LABELS = ("paddle-res-type", "app", "job_type", "mxnet.mlkube.io", "runtime_id", "task_index")
"""Labels of pods that the old operators set."""

_OF_STOWPLAN = re.compile(r"STOWPLAN_|PADDLE_NPROC_PER_NODE$|PADDLE_RANK$")
"""Variables that only a Training sets."""


@cache
def sides() -> tuple[dict[str, list[Json]], dict[str, list[Json]]]:
    """The objects of each spec that became native, by the name of its file: before and after."""
    texts = without(*IN_THE_WAY)
    changed, _ = migrated(texts)
    return _objects({name: texts[name] for name in changed}), _objects(changed)


def _objects(texts: dict[str, str]) -> dict[str, list[Json]]:
    with TemporaryDirectory() as folder:
        result = compiled(Path(folder), texts)
    assert result.errors == []
    bodies = [output.manifest.body for output in result.outputs]
    found = {}
    for name, text in texts.items():
        spec = yaml.safe_load(text)
        labels = {"stowplan.dev/kind": spec["kind"], "stowplan.dev/name": spec["metadata"]["name"]}
        own = [body for body in bodies if labels.items() <= body["metadata"].get("labels", {}).items()]
        found[title(name)] = [body for body in own if body["kind"] not in KINDS]
    return found


def alike(value: Any) -> Any:
    """The value with one word for all kinds, API groups, tasks, roles and hashes, and without old labels."""
    if isinstance(value, list):
        return [alike(each) for each in value]
    if isinstance(value, dict):
        kept = {key: below for key, below in value.items() if not key.startswith(("paddlepaddle.org/", _RUN_HASH))}
        return {key: alike(json.loads(below) if key == "config.json" else below) for key, below in kept.items()}
    if isinstance(value, str):
        for pattern, word in _WORDS:
            value = pattern.sub(word, value)
    return value


def by_name(objects: list[Json]) -> dict[tuple[str, str], Json]:
    found = {(each["kind"], each["metadata"]["name"]): each for each in map(alike, objects)}
    assert len(found) == len(objects)
    return found


def test_a_dataset_keeps_its_claim_and_its_volume_to_the_letter() -> None:
    before, after = ({each["kind"]: each for each in side["sampleset-imagenet"]} for side in sides())
    for kind in ("PersistentVolume", "PersistentVolumeClaim"):
        assert after[kind]["spec"] == before[kind]["spec"]
        assert after[kind]["metadata"]["name"] == before[kind]["metadata"]["name"]


@pytest.mark.parametrize(
    "name", ["sampleset-imagenet", "samplejob-imagenet-clear", "samplejob-imagenet-rmr", "samplejob-imagenet-warmup"]
)
def test_a_dataset_and_its_tasks_differ_in_names_and_labels_alone(name: str) -> None:
    before, after = (by_name(side[name]) for side in sides())
    for key, new in after.items():
        if new["kind"] == "ConfigMap" and "afterRun" in new["data"]["config.json"]:
            # The warmup of a Dataset waits for the very run of the sync, that of a SampleSet for any.
            run, task = new["data"]["config.json"].pop("afterRun"), before[key]["data"]["config.json"].pop("after")
            assert run.startswith(task)
    assert after == before
    assert len(after) > 5


@pytest.mark.parametrize("name", ["paddlejob-resnet", "paddlejob-resnet50", "mxjob-example-local-job"])
def test_a_training_differs_in_what_the_note_says_alone(name: str) -> None:
    before, after = (by_name(side[name]) for side in sides())
    assert after.keys() == before.keys()
    for key, new in after.items():
        old = before[key]
        if new["kind"] == "Job":
            _note_old(old)
            _note_new(new)
        assert new == old


def _note_old(job: Json) -> None:
    """Take out of the old job what the note says, and what else differs of an MxJob."""
    pod = job["spec"]["template"]
    (trainer,) = pod["spec"]["containers"]
    trainer["name"] = "trainer"
    pod["metadata"].pop("annotations", None)
    pod["metadata"]["labels"] = {k: v for k, v in pod["metadata"]["labels"].items() if k not in _OLD_LABELS}
    trainer.setdefault("env", [])
    rules = job["spec"]["podFailurePolicy"]["rules"]
    if "onExitCodes" in rules[0] and rules[0]["onExitCodes"]["containerName"] == "mxnet":
        del rules[0]
        job["spec"]["backoffLimit"] = 0


def _note_new(job: Json) -> None:
    """Take out of the new job what the note says, which must be there."""
    pod = job["spec"]["template"]["spec"]
    (trainer,) = pod["containers"]
    assert pod.pop("automountServiceAccountToken") is False
    assert pod.pop("securityContext") == {"runAsNonRoot": False, "seccompProfile": {"type": "RuntimeDefault"}}
    restricted = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    assert trainer.pop("securityContext") == restricted
    trainer["env"] = [each for each in trainer["env"] if not _OF_STOWPLAN.match(each["name"])]


def test_a_copy_from_git_goes_to_the_same_place() -> None:
    before, after = (_copy(side["datacube-git-download"]) for side in sides())
    assert after[0].pop("depth") == 1
    assert after == before


def _copy(objects: list[Json]) -> tuple[Json, Json, list[Json]]:
    """The source and the sink of a copy, and the variables of its agent."""
    found = {each["kind"]: each for each in objects}
    config = json.loads(found["ConfigMap"]["data"]["config.json"])
    (agent,) = found["Job"]["spec"]["template"]["spec"]["containers"]
    return config["source"], config["sink"], alike(agent["env"])
