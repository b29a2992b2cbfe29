"""Compiled objects for job and gang engines, checked by the schemas of the engines' own CRDs.

These CRDs are not part of this repository. The check is as strict as the API server with strict field validation;
rules in CEL and webhooks are tested on a cluster.
"""

from functools import cache
from typing import Any

import pytest
import yaml

from stowplan.compiler.checks.objects.strict_schema import strict_schema
from stowplan.compiler.kubernetes.schema_checker import Checker
from tests.repositories import CASES, REPOSITORY, case

FOLDER = REPOSITORY.parent / "shared" / "crds" / "engines"
CRDS = {
    "JobSet": "jobset.x-k8s.io_jobsets.yaml",
    "scheduling.volcano.sh": "scheduling.volcano.sh_podgroups.yaml",
    "scheduling.x-k8s.io": "scheduling.x-k8s.io_podgroups.yaml",
}
TRAINING = [name for name in CASES if name.startswith("paddle-job-")]

pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="the CRDs of the engines are not beside this repository")


@cache
def checker(file: str, version: str) -> Checker:
    """The strict schema of one version of a CRD."""
    spec = yaml.safe_load((FOLDER / file).read_text())["spec"]
    (schema,) = [each["schema"]["openAPIV3Schema"] for each in spec["versions"] if each["name"] == version]
    return Checker(strict_schema(schema))


def problems(body: dict[str, Any]) -> list[str]:
    group, _, version = body["apiVersion"].partition("/")
    found = checker(CRDS.get(body["kind"]) or CRDS[group], version).problems(body)
    return [f"{problem.path}: {problem.message}" for problem in found]


def objects() -> dict[str, dict[str, Any]]:
    """The JobSets and PodGroups of all cases, each by its case and name."""
    return {
        f"{name} {output.manifest.kind} {output.manifest.stem}": output.manifest.body
        for name in TRAINING
        for output in case(name).outputs
        if output.manifest.kind in ("JobSet", "PodGroup")
    }


def test_every_object_fits_the_schema_of_its_engine() -> None:
    found = objects()
    assert {(each["kind"], each["apiVersion"]) for each in found.values()} == {
        ("JobSet", "jobset.x-k8s.io/v1alpha2"),
        ("PodGroup", "scheduling.volcano.sh/v1beta1"),
        ("PodGroup", "scheduling.x-k8s.io/v1alpha1"),
    }
    assert {name: wrong for name, body in found.items() if (wrong := problems(body))} == {}


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        ("JobSet", {"replicatedJob": []}),
        ("JobSet", {"network": {"publishNotReady": True}}),
        ("JobSet", {"failurePolicy": {"restartStrategy": "Never"}}),
        ("PodGroup", {"minMembers": 2}),
        ("PodGroup", {"minMember": "2"}),
    ],
)
def test_a_mistake_would_be_found(kind: str, wrong: dict[str, Any]) -> None:
    for body in (each for each in objects().values() if each["kind"] == kind):
        assert problems({**body, "spec": {**body["spec"], **wrong}})
