"""Names of objects and names inside them."""

from typing import Any

import pytest

from stowplan.compiler.checks.per_spec import names
from stowplan.library.manifest import Json
from tests.unit.compiler.checks.given import (
    body,
    changed,
    config_map,
    fields,
    job,
    objects,
    role,
    service,
    stateful_set,
    volume,
)

CRON_JOB = body("CronJob", "nightly", api="batch/v1", spec={"jobTemplate": {"spec": job()["spec"]}})


def named(made: Json, name: str) -> Json:
    return changed(made, "metadata.name", name)


@pytest.mark.parametrize(
    ("made", "limit"),
    [
        (service(), 63),
        (stateful_set(), 52),
        (job(), 63),
        (CRON_JOB, 52),
        (config_map(), 253),
        (volume(), 253),
        (body("Namespace", "a", namespace=""), 63),
        (body("ServiceAccount", "a"), 253),
        (body("Thing", "a", api="example.com/v1"), 253),
    ],
    ids=lambda value: value["kind"] if isinstance(value, dict) else value,
)
def test_a_name_as_long_as_its_kind_allows_and_one_longer(made: Json, limit: int) -> None:
    assert names.check(objects(named(made, "a" * limit))) == []
    assert fields(names.check(objects(named(made, "a" * (limit + 1))))) == [("SP504", "metadata.name")]


@pytest.mark.parametrize(
    ("made", "name"),
    [
        (service(), "1st"),
        (service(), "a.b"),
        (stateful_set(), "a.b"),
        (job(), "Work"),
        (job(), "a_b"),
        (config_map(), "a..b"),
        (config_map(), "-a"),
        (config_map(), "a-"),
        (config_map(), "ünïcode"),
        (role(), "a/b"),
        (role(), ".."),
    ],
)
def test_a_name_of_another_form(made: Json, name: str) -> None:
    assert fields(names.check(objects(named(made, name)))) == [("SP514", "metadata.name")]


@pytest.mark.parametrize(
    ("made", "name"),
    [(service(), "a1"), (job(), "a.b"), (config_map(), "1.a-b.c"), (role(), "system:agent A")],
)
def test_a_name_of_the_right_form(made: Json, name: str) -> None:
    assert names.check(objects(named(made, name))) == []


def test_names_of_indexed_jobs_leave_space_for_the_index() -> None:
    spec = {"completionMode": "Indexed", "completions": 100}
    assert names.check(objects(job("a" * 60, **spec))) == []
    assert fields(names.check(objects(job("a" * 61, **spec)))) == [("SP504", "metadata.name")]
    assert fields(names.check(objects(job("a.b", **spec)))) == [("SP514", "metadata.name")]


CONTAINER = "spec.template.spec.containers.0"


@pytest.mark.parametrize(
    ("path", "value", "code"),
    [
        (f"{CONTAINER}.name", "Main", "SP514"),
        (f"{CONTAINER}.name", "a" * 64, "SP504"),
        (f"{CONTAINER}.ports", [{"containerPort": 1, "name": "a" * 16}], "SP504"),
        (f"{CONTAINER}.ports", [{"containerPort": 1, "name": "80"}], "SP514"),
        (f"{CONTAINER}.ports", [{"containerPort": 1, "name": "a--b"}], "SP514"),
        ("spec.template.spec.volumes", [{"name": "a.b", "emptyDir": {}}], "SP514"),
        ("spec.template.spec.subdomain", "a_b", "SP514"),
        ("spec.template.spec.hostname", "a" * 64, "SP504"),
    ],
)
def test_a_name_inside_a_pod(path: str, value: Any, code: str) -> None:
    assert [found for found, _ in fields(names.check(objects(changed(job(), path, value))))] == [code]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (f"{CONTAINER}.ports", [{"containerPort": 1, "name": "http-8080"}, {"containerPort": 2}]),
        ("spec.template.spec.volumes", [{"name": "a-1", "emptyDir": {}}]),
    ],
)
def test_good_names_inside_a_pod(path: str, value: Any) -> None:
    assert names.check(objects(changed(job(), path, value))) == []


def test_ports_of_a_service_are_labels() -> None:
    ports = [{"name": "a" * 16, "port": 1}, {"name": "A", "port": 2}]
    assert fields(names.check(objects(service(ports=ports)))) == [("SP514", "spec.ports[1].name")]


@pytest.mark.parametrize("key", ["a/b", "..", "..a", "a b", ""])
def test_a_key_that_is_no_file_name(key: str) -> None:
    assert [code for code, _ in fields(names.check(objects(config_map(**{key: "x"}))))] == ["SP514"]


def test_keys_that_are_file_names() -> None:
    assert names.check(objects(config_map(**{"config.json": "x", ".hidden": "y", "A_b-1": "z"}))) == []
