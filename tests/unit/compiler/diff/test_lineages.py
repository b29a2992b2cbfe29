"""What `stowplan diff` says of a run that takes the place of another one with checkpoints."""

from typing import Any

import pytest

from stowplan.compiler.diff.change import Pair
from stowplan.compiler.diff.risks.pods import Pods
from stowplan.compiler.diff.risks.rules import risks
from stowplan.library.manifest import Json
from tests.unit.trainings import compiled, training, workload

KEPT = {"claim": {"name": "models"}, "lineage": "sft"}
IMAGE = "registry.example.com/ml/train"


def run(jobs: str = "core", checkpoints: Any = KEPT, **spec: Any) -> Json:
    own = {"checkpoints": checkpoints} if checkpoints else {}
    return workload(compiled(training(**own, **spec), engines={"jobs": jobs}))


def said(before: Json, after: Json) -> list[str]:
    found = risks(Pair("ml/job.yaml", "specs/train.yaml", before, after), Pods())
    return [each.text for each in found if "lineage" in each.text]


@pytest.mark.parametrize("jobs", ["core", "jobset"])
def test_a_run_with_another_image_continues_the_lineage(jobs: str) -> None:
    text = f"It continues lineage sft with another image: {IMAGE}:2 in the place of {IMAGE}:1."
    assert said(run(jobs), run(jobs, image=f"{IMAGE}:2")) == [text]


@pytest.mark.parametrize(
    ("after", "text"),
    [
        ({"args": ["--more"]}, "It continues lineage sft."),
        ({"checkpoints": {**KEPT, "lineage": "new"}}, "It begins or continues lineage new, and not sft."),
        ({"checkpoints": None}, "It does not continue lineage sft: it has no checkpoints."),
    ],
)
def test_a_run_in_the_place_of_another_one(after: dict[str, Any], text: str) -> None:
    assert said(run(), run(**after)) == [text]


def test_nothing_is_said_of_runs_without_checkpoints_or_of_the_same_run() -> None:
    assert said(run(checkpoints=None), run(checkpoints=None, args=["--more"])) == []
    assert said(run(), run(suspend=True)) == []
