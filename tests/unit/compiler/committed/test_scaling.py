"""`synth` after an edit of a dataset: what is over stays over, and cache nodes that were added are warmed."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.unit.outputs import in_one_file, last_inventory
from tests.unit.users import codes, laid_out, run

PLATFORM = 'images: {{registry: registry.example.com/ml, tag: "{tag}"}}\n'
SAMPLE_SET = """\
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleSet
metadata:
  name: data
spec:
  partitions: 1
  source:
    uri: s3://data.s3.eu-west-1.amazonaws.com/train/
  secretRef:
    name: data
"""
SAMPLE_JOB = """\
---
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleJob
metadata:
  name: {word}
spec:
  type: {word}
  sampleSetRef:
    name: data
"""
DATASET = """\
apiVersion: stowplan.dev/v1alpha1
kind: Dataset
metadata:
  name: data
spec:
  source:
    s3:
      uri: s3://data/train
      anonymous: true
  volume:
    juicefs:
      secretRef:
        name: data
  cache:
    nodes: 1
"""
DATASET_TASK = """\
---
apiVersion: stowplan.dev/v1alpha1
kind: DatasetTask
metadata:
  name: {word}
spec:
  datasetRef:
    name: data
  {field}
"""
LEGACY = SAMPLE_SET + "".join(
    SAMPLE_JOB.format(word=word) + options
    for word, options in (
        ("warmup", ""),
        ("clear", ""),
        ("rmr", "  rmrOptions: {paths: [old]}\n"),
        ("sync", "  secretRef: {name: data}\n  syncOptions: {source: 's3://more.s3.eu-west-1.amazonaws.com/'}\n"),
    )
)
NATIVE = DATASET + "".join(
    DATASET_TASK.format(word=word, field=field)
    for word, field in (
        ("warmup", "warmup: {}"),
        ("clear", "evict: {}"),
        ("rmr", "remove: {paths: [old]}"),
        ("sync", "sync: {}"),
    )
)
DIALECTS = [pytest.param(LEGACY, "partitions: 1", id="legacy"), pytest.param(NATIVE, "nodes: 1", id="native")]
WARMED = ("data-warmup", "warmup-{task}", "sync-{task}-warmup")
"""Stems of the Jobs of the cache nodes."""


def compiled(repo: Path, spec: str, tag: str = "1", *arguments: str) -> None:
    laid_out(repo, spec, PLATFORM.format(tag=tag))
    result = run("synth", str(repo), *arguments)
    assert result.exit_code == 0, result.output


def runs(repo: Path) -> dict[str, str]:
    """The committed files of all runs, by path."""
    found = last_inventory(repo / "out").entries
    return {each.path: (repo / "out" / each.path).read_text() for each in found if each.run}


def jobs(files: dict[str, str]) -> dict[str, dict[str, Any]]:
    bodies = map(yaml.safe_load, files.values())
    return {body["metadata"]["name"]: body for body in bodies if body["kind"] == "Job"}


def scaled(spec: str, field: str, nodes: int) -> str:
    return spec.replace(field, f"{field[:-1]}{nodes}")


@pytest.mark.parametrize(("spec", "field"), DIALECTS)
def test_nodes_that_are_added_are_warmed_and_nothing_else_runs(tmp_path: Path, spec: str, field: str) -> None:
    compiled(tmp_path, spec)
    before = runs(tmp_path)
    laid_out(tmp_path, scaled(spec, field, 3), PLATFORM.format(tag="2"))
    assert not [each for each in codes("synth", str(tmp_path)) if "SP54" in each]
    after = runs(tmp_path)
    assert {path: after[path] for path in before} == before
    new = jobs({path: text for path, text in after.items() if path not in before})
    task = "samplejob" if spec is LEGACY else "datasettask"
    stems = sorted(f"{stem.format(task=task)}-{number}" for stem in WARMED for number in (1, 2))
    assert sorted(name[:-9] for name in new) == stems


@pytest.mark.parametrize(("spec", "field"), DIALECTS)
def test_a_node_that_is_added_loads_its_share_of_the_nodes_at_that_time(tmp_path: Path, spec: str, field: str) -> None:
    compiled(tmp_path, spec)
    first = jobs(runs(tmp_path))
    compiled(tmp_path, scaled(spec, field, 2))
    second = jobs(runs(tmp_path))
    compiled(tmp_path, scaled(spec, field, 3))
    third = jobs(runs(tmp_path))
    assert first.items() <= second.items() <= third.items()
    (old,) = (body for name, body in first.items() if name.startswith("data-warmup-0"))
    for found, number in ((second, 1), (third, 2)):
        (new,) = (body for name, body in found.items() if name.startswith(f"data-warmup-{number}"))
        assert new["metadata"]["name"][-9:] == old["metadata"]["name"][-9:]
        pods = [body["spec"]["template"]["spec"] for body in (old, new)]
        assert pods[0]["containers"][0]["args"] == ["warmup", "--partition", "0"]
        wanted = ["warmup", "--partition", str(number), "--partitions", str(number + 1)]
        assert pods[1]["containers"][0]["args"] == wanted
        assert pods[0]["volumes"] == pods[1]["volumes"]


@pytest.mark.parametrize(("spec", "field"), DIALECTS)
def test_nodes_that_are_removed_lose_their_jobs_and_nothing_runs(tmp_path: Path, spec: str, field: str) -> None:
    compiled(tmp_path, scaled(spec, field, 3))
    before = runs(tmp_path)
    laid_out(tmp_path, spec, PLATFORM.format(tag="2"))
    assert not [each for each in codes("synth", str(tmp_path)) if "SP54" in each or "SP519" in each]
    after = runs(tmp_path)
    assert after.items() <= before.items()
    gone = sorted(path.partition("/job-")[2] for path in before.keys() - after.keys())
    task = "samplejob" if spec is LEGACY else "datasettask"
    stems = ("data-warmup", f"warmup-{task}", f"clear-{task}", f"sync-{task}-warmup")
    assert gone == sorted(f"{stem}-{number}.yaml" for stem in stems for number in (1, 2))


EDITS = [
    pytest.param(LEGACY, "  partitions: 1\n", "  partitions: 1\n  {}\n", id="legacy"),
    pytest.param(NATIVE, "    nodes: 1\n", "    nodes: 1\n    {}\n", id="native"),
]
NODES = {
    "legacy": [
        "tolerations: [{key: gpu, operator: Exists}]",
        "nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: []}",
    ],
    "native": [
        "tolerations: [{key: gpu, operator: Exists}]",
        "nodeSelector: {disk: nvme}",
    ],
}


@pytest.mark.parametrize("number", range(2))
@pytest.mark.parametrize(("spec", "field", "more"), EDITS)
def test_other_nodes_and_tolerations_start_nothing(
    tmp_path: Path, spec: str, field: str, more: str, number: int
) -> None:
    compiled(tmp_path, spec)
    before = runs(tmp_path)
    edit = NODES["legacy" if spec is LEGACY else "native"][number]
    laid_out(tmp_path, spec.replace(field, more.format(edit)), PLATFORM.format(tag="2"))
    assert not [each for each in codes("synth", str(tmp_path)) if each.startswith("error") or "SP54" in each]
    assert runs(tmp_path) == before


@pytest.mark.parametrize(
    ("spec", "before", "after"),
    [
        pytest.param(LEGACY, "amazonaws.com/train/", "amazonaws.com/test/", id="legacy-source"),
        pytest.param(LEGACY, "  secretRef:\n    name: data", "  secretRef:\n    name: other", id="legacy-secret"),
        pytest.param(
            LEGACY,
            "  partitions: 1\n",
            "  partitions: 1\n  csi: {juiceFSMountOptions: {sub-dir: /b}}\n",
            id="legacy-directory",
        ),
        pytest.param(NATIVE, "s3://data/train", "s3://data/test", id="native-source"),
        pytest.param(NATIVE, "        name: data\n", "        name: other\n", id="native-secret"),
        pytest.param(NATIVE, "    juicefs:\n", "    juicefs:\n      subPath: b\n", id="native-directory"),
    ],
)
def test_another_place_of_the_data_starts_all_tasks_again(tmp_path: Path, spec: str, before: str, after: str) -> None:
    compiled(tmp_path, spec)
    old = runs(tmp_path)
    laid_out(tmp_path, spec.replace(before, after, 1), PLATFORM.format(tag="2"))
    found = codes("synth", str(tmp_path))
    # To evict and to remove once more is an error, so nothing was written.
    assert found.count("error SP542") == 2
    assert found.count("warning SP542") == 3
    assert runs(tmp_path) == old


def test_other_paths_to_warm_are_warmed(tmp_path: Path) -> None:
    """By Jobs with another name, since those of the earlier paths are over. The copy of the data is not made again."""
    compiled(tmp_path, DATASET)
    before = jobs(runs(tmp_path))
    compiled(tmp_path, f"{DATASET}    warmupPaths: [train]\n")
    after = jobs(runs(tmp_path))
    assert {name[:-9] for name in before.keys() - after.keys()} == {"data-warmup-0"}
    assert {name[:-9] for name in after.keys() - before.keys()} == {"data-warmup-0"}


def as_of_first_version(repo: Path) -> None:
    """Give the inventory the digests of version 0.1.0, which covered all of a dataset, and no compiler marks."""
    from stowplan.compiler.diagnostics.report import Report  # noqa: PLC0415
    from tests.repositories import validated  # noqa: PLC0415

    found = {each.path: each for each in validated(repo, Report()).outputs}
    path = in_one_file(repo / "out")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for each in lines:
        each.pop("compiled", None)
        if each.get("path") in found:
            assert each["spec_digest"] == found[each["path"]].spec_digest
            each["spec_digest"] = found[each["path"]].content_digest
    path.write_text("".join(f"{json.dumps(each, sort_keys=True)}\n" for each in lines))


def test_a_repository_of_the_first_version_is_taken_over_and_scaled(tmp_path: Path) -> None:
    compiled(tmp_path, LEGACY)
    before = runs(tmp_path)
    as_of_first_version(tmp_path)
    compiled(tmp_path, LEGACY, "2")
    assert runs(tmp_path) == before
    compiled(tmp_path, scaled(LEGACY, "partitions: 1", 2), "2")
    after = runs(tmp_path)
    assert before.items() <= after.items()


def git(repo: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    subprocess.run(["git", "-C", str(repo), *identity, *arguments], check=True, capture_output=True)


@pytest.mark.parametrize(
    ("spec", "field", "first"),
    [pytest.param(LEGACY, "partitions: 1", True, id="legacy"), pytest.param(NATIVE, "nodes: 1", False, id="native")],
)
def test_nodes_are_added_and_removed_in_a_reviewed_branch(
    tmp_path: Path, spec: str, field: str, *, first: bool
) -> None:
    """`first` is an output of 0.1.0, which had no native kinds."""
    compiled(tmp_path, scaled(spec, field, 2))
    if first:
        as_of_first_version(tmp_path)
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "first")
    before = runs(tmp_path)
    if first:
        compiled(tmp_path, scaled(spec, field, 2), "2", "--base", "main")
        assert runs(tmp_path) == before
        git(tmp_path, "add", ".")
        git(tmp_path, "commit", "-q", "-m", "second")
    for nodes in (3, 4, 1):
        for _ in range(2):
            compiled(tmp_path, scaled(spec, field, nodes), "2", "--base", "main")
            after = runs(tmp_path)
            assert {path: text for path, text in after.items() if path in before} == {
                path: text for path, text in before.items() if path in after
            }
