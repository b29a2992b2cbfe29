"""The content of a run's hash: exactly the fields of a Job that Kubernetes does not allow to change."""

import json
from collections.abc import Callable
from dataclasses import replace
from importlib import resources
from typing import Any

import pytest

from stowplan.library.builders.job import MUTABLE
from stowplan.library.engines.gang.registry import GANG_ENGINES
from stowplan.library.engines.registry import JOB_ENGINES
from stowplan.library.frameworks.paddle_job import Elastic, Paddle
from stowplan.library.ir.training import Role, TrainingGroup, with_hosts
from stowplan.library.values.names import BLANK_RUN, TrainingNames
from stowplan.schema.platform.settings import KUBERNETES_VERSIONS
from tests.unit.specs import ORIGIN, site

FIXED = {
    "backoffLimitPerIndex",
    "completionMode",
    "completions",
    "managedBy",
    "manualSelector",
    "podFailurePolicy",
    "scheduling",
    "selector",
    "successPolicy",
    "template",
}
FAIL: dict[str, Any] = {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}
TEMPLATE: dict[str, Any] = {"spec": {"containers": [{"name": "paddle", "image": "paddle:1"}]}}
ELASTIC = Paddle(elastic=Elastic("ml-train", ("etcd:2379",), ("train-size", "np")))


def group(
    *, minimum: int | None = None, worker: dict[str, Any] | None = None, servers: int = 1, name: str = "train"
) -> TrainingGroup:
    fields: dict[str, Any] = {"size": 4, "template": TEMPLATE, "decides": True, "ports": (36000,), **(worker or {})}
    roles = [Role("worker", **fields)]
    if servers:
        roles.insert(0, Role("ps", servers, TEMPLATE, decides=False, ports=(36000,)))
    framework = Paddle() if minimum is None else ELASTIC
    return TrainingGroup(ORIGIN, TrainingNames(name, "paddlejob"), framework, tuple(roles), minimum=minimum)


def run(given: TrainingGroup, jobs: str = "core", gang: str = "none", **engines: Any) -> str:
    platform = site(engines={"jobs": jobs, "gang": gang, **engines})
    engine = JOB_ENGINES[jobs]
    environments = given.framework.environments(given, engine.hosts(given, BLANK_RUN))
    return engine.run(given, environments, GANG_ENGINES[gang], platform)


@pytest.mark.parametrize("version", KUBERNETES_VERSIONS)
def test_each_field_of_a_job_is_either_fixed_or_not(version: str) -> None:
    schemas = resources.files("kubernetes_validate") / "kubernetes-json-schema" / f"v{version}.0-local-strict"
    definitions = json.loads((schemas / "_definitions.json").read_text())["$defs"]
    known = set(definitions["io.k8s.api.batch.v1.JobSpec"]["properties"])
    assert known - MUTABLE == FIXED & known
    assert known >= MUTABLE


EDITS: dict[str, dict[str, Any]] = {
    "template": {"template": {"spec": {"containers": [{"name": "paddle", "image": "paddle:2"}]}}},
    "podFailurePolicy": {"rules": (FAIL,)},
    "backoffLimitPerIndex": {"tolerant": True},
    "completions": {"size": 5},
}
KEPT: dict[str, dict[str, Any]] = {
    "activeDeadlineSeconds": {"deadline": 3600},
    "backoffLimit": {"restarts": 9, "restart": "OnFailure"},
}


@pytest.mark.parametrize("jobs", JOB_ENGINES)
@pytest.mark.parametrize("field", EDITS)
def test_a_fixed_field_renames_the_run(jobs: str, field: str) -> None:
    assert run(group(), jobs) != run(group(worker=EDITS[field]), jobs)


@pytest.mark.parametrize("field", KEPT)
def test_a_field_of_a_job_that_may_change_keeps_the_name(field: str) -> None:
    before = {"restart": KEPT[field].get("restart", "Never")}
    assert run(group(worker=before)) == run(group(worker=KEPT[field]))


@pytest.mark.parametrize("field", KEPT)
def test_in_a_job_set_each_of_these_fields_renames_the_run(field: str) -> None:
    before = {"restart": KEPT[field].get("restart", "Never")}
    assert run(group(worker=before), "jobset") != run(group(worker=KEPT[field]), "jobset")


@pytest.mark.parametrize("jobs", JOB_ENGINES)
@pytest.mark.parametrize(
    ("gang", "kept"), [("none", True), ("volcano", True), ("coscheduling", True), ("kueue", False)]
)
def test_the_size_of_an_elastic_job(jobs: str, gang: str, *, kept: bool) -> None:
    """Kueue sets the size on admission and refuses changes, so under Kueue another size needs a new run."""
    sizes = [run(group(minimum=1, servers=0, worker={"size": size}), jobs, gang, queue="q") for size in (1, 2, 5000)]
    assert len(set(sizes)) == (1 if kept else 3)


@pytest.mark.parametrize("jobs", JOB_ENGINES)
def test_the_smallest_size_matters_to_kueue_alone(jobs: str) -> None:
    sizes = [group(minimum=minimum, servers=0) for minimum in (1, 2)]
    assert len({run(each, jobs, "volcano") for each in sizes}) == 1
    assert len({run(each, jobs, "kueue", queue="q") for each in sizes}) == 2


@pytest.mark.parametrize("jobs", JOB_ENGINES)
def test_the_queue_of_a_run_cannot_change(jobs: str) -> None:
    """Kueue refuses the change while the workload runs; Volcano's queue is a field of the pods."""
    for gang in ("kueue", "volcano"):
        assert run(group(), jobs, gang, queue="a") != run(group(), jobs, gang, queue="b")


def test_the_configuration_of_await_is_part_of_the_run() -> None:
    """Its ConfigMap is immutable too, and has the hash in its name."""
    assert run(group(), helperTimeoutSeconds=10) != run(group(), helperTimeoutSeconds=20)
    assert run(group(servers=0), helperTimeoutSeconds=10) == run(group(servers=0), helperTimeoutSeconds=20)
    assert run(group(), "jobset", helperTimeoutSeconds=10) == run(group(), "jobset", helperTimeoutSeconds=20)


@pytest.mark.parametrize("jobs", JOB_ENGINES)
@pytest.mark.parametrize(
    "edit",
    [
        lambda given: given._replace(run="2"),
        lambda given: given._replace(names=replace(given.names, name="other")),
        lambda given: given._replace(framework=Paddle(gloo=1)),
        lambda given: given._replace(roles=(given.roles[0]._replace(size=2), given.roles[1])),
    ],
    ids=["annotation", "name", "framework", "servers"],
)
def test_other_changes_that_rename_the_run(jobs: str, edit: Callable[[TrainingGroup], TrainingGroup]) -> None:
    assert run(group(), jobs) != run(edit(group()), jobs)


@pytest.mark.parametrize("jobs", JOB_ENGINES)
def test_where_the_spec_lies_is_no_part_of_its_run(jobs: str) -> None:
    moved = group()._replace(origin=replace(ORIGIN, source="specs/elsewhere.yaml"))
    assert run(group(), jobs) == run(moved, jobs)


@pytest.mark.parametrize("name", ["train", f"train-{BLANK_RUN}", f"a.{BLANK_RUN}-{BLANK_RUN}", "a" * 80])
@pytest.mark.parametrize("minimum", [None, 2])
@pytest.mark.parametrize("jobs", JOB_ENGINES)
def test_variables_with_other_hosts_equal_those_that_the_framework_makes(
    jobs: str, minimum: int | None, name: str
) -> None:
    given, engine = group(minimum=minimum, name=name), JOB_ENGINES[jobs]
    blank, hosts = engine.hosts(given, BLANK_RUN), engine.hosts(given, "abcdefgh")
    renamed = with_hosts(given.framework.environments(given, blank), blank, hosts)
    assert renamed == given.framework.environments(given, hosts)
