"""What `stowplan diff` says of a dataset whose source moves."""

from typing import Any

import pytest

from stowplan.compiler.diff.change import Danger
from stowplan.compiler.diff.comparison import compare
from stowplan.compiler.model import OutputFile
from stowplan.compiler.output.render import render
from stowplan.library.manifest import Json, Manifest
from stowplan.library.values import labels

S3 = {"s3": {"uri": "s3://images/v3/", "secretRef": {"name": "keys"}}}
GONE = "Its source moves: what earlier syncs brought and the new source lacks is deleted."


def made(kind: str, name: str, owner: tuple[str, str], spec: Json, version: str = "v1") -> Json:
    own = {labels.SPEC_KIND: owner[0], labels.SPEC_NAME: owner[1]}
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": name, "namespace": "ml", "labels": own},
        "spec": spec,
    }


def dataset(source: Json) -> Json:
    return made("Dataset", "images", ("Dataset", "images"), {"source": source}, "stowplan.dev/v1alpha1")


def job(owner: str, name: str, claim: str = "images") -> Json:
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]
    template = {"spec": {"containers": [{"name": "trainer"}], "volumes": volumes}}
    return made("Job", name, ("Training", owner), {"template": template}, "batch/v1")


def outputs(*bodies: Json) -> list[OutputFile]:
    claim = made("PersistentVolumeClaim", "images", ("Dataset", "images"), {})
    return [
        OutputFile(f"ml/{number}.yaml", Manifest(body, "a"), None, "specs/data.yaml")
        for number, body in enumerate((claim, *bodies))
    ]


def said(before: list[OutputFile], after: list[OutputFile]) -> list[str]:
    changes = compare({each.path: render(each) for each in before}, after)
    return [risk.text for each in changes for risk in each.risks if risk.danger is Danger.DATA]


@pytest.mark.parametrize(
    "source",
    [
        {"s3": {**S3["s3"], "uri": "s3://images/v4/"}},
        {"s3": {**S3["s3"], "endpoint": "https://other.example.com"}},
        {"huggingface": {"repo": "owner/images"}},
        {"storage": {"uri": "oss://images/v3"}},
    ],
)
def test_jobs_that_mount_the_data_are_named(source: dict[str, Any]) -> None:
    jobs = [job("bert", "bert-a"), job("gpt", "gpt-a"), job("other", "other-a", claim="others")]
    after = [job("bert", "bert-a"), job("gpt", "gpt-b"), jobs[2]]
    found = said(outputs(dataset(S3), *jobs), outputs(dataset(source), *after))
    assert found == [f"{GONE} 2 jobs mount it (bert, gpt); 1 starts again."]


def test_no_job_mounts_it() -> None:
    moved = {"s3": {**S3["s3"], "uri": "s3://images/v4/"}}
    assert said(outputs(dataset(S3)), outputs(dataset(moved))) == [f"{GONE} No job mounts it."]


@pytest.mark.parametrize("source", [{"s3": {**S3["s3"], "secretRef": {"name": "new"}, "include": ["*.png"]}}, {}])
def test_a_source_that_stays_or_goes_deletes_nothing(source: dict[str, Any]) -> None:
    assert said(outputs(dataset(S3)), outputs(dataset(source))) == []
