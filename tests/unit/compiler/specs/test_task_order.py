"""Order between tasks on one dataset."""

from pathlib import Path

import pytest

from tests.repositories import compiled

SET = """\
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleSet
metadata: {name: data, namespace: ml}
spec: {partitions: 1, noSync: true, secretRef: {name: data}}
"""
SYNC = ", secretRef: {name: data}, syncOptions: {source: 's3://more.s3.eu-west-1.amazonaws.com/'}"
RMR = ", rmrOptions: {paths: [a]}"


def task(name: str, kind: str, options: str = "", after: str = "") -> str:
    note = f', annotations: {{stowplan.dev/run-after: "{after}"}}' if after else ""
    return f"""\
---
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleJob
metadata: {{name: {name}, namespace: ml{note}}}
spec: {{type: {kind}, sampleSetRef: {{name: data}}{options}}}
"""


def codes(repo: Path, *tasks: str) -> list[str]:
    found = compiled(repo, {"data.yaml": SET + "".join(tasks)}).diagnostics
    return [each.code for each in found if each.code.startswith("SP75")]


def test_two_tasks_that_undo_each_other_need_an_order(tmp_path: Path) -> None:
    assert codes(tmp_path, task("a", "sync", SYNC), task("b", "rmr", RMR)) == ["SP754"]


@pytest.mark.parametrize("after", ["SampleJob/a", "SampleJob/c"])
def test_an_order_by_way_of_another_task_is_enough(tmp_path: Path, after: str) -> None:
    between = task("c", "warmup", after="SampleJob/a")
    assert codes(tmp_path, task("a", "sync", SYNC), between, task("b", "rmr", RMR, after)) == []


@pytest.mark.parametrize("options", [", terminate: true", ", schedule: '@daily'"])
def test_a_task_that_is_suspended_or_repeats_contradicts_none(tmp_path: Path, options: str) -> None:
    assert codes(tmp_path, task("a", "warmup"), task("b", "clear", options)) == []


def test_tasks_on_two_datasets_contradict_none(tmp_path: Path) -> None:
    other = f"---\n{SET.replace('name: data,', 'name: other,')}"
    tasks = task("a", "warmup"), task("b", "clear").replace("{name: data}", "{name: other}")
    assert codes(tmp_path, other, *tasks) == []


def test_what_has_errors_is_not_reported_as_missing(tmp_path: Path) -> None:
    assert codes(tmp_path, task("a", "warmup", ", nonsense: 1"), task("b", "rmr", RMR, "SampleJob/a")) == []
