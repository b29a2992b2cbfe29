"""The Lua scripts for Argo CD's health, run in its sandbox on its own layout of test cases."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from stowplan.compiler.diagnostics.locations import PLATFORM_FILE
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.live.spec_status import assess
from stowplan.library.health import FOLDER, scripts
from stowplan.schema.export.crd import custom_resource_definition
from stowplan.schema.kinds import table
from tests.repositories import synthesised

CASES = [
    (tests.parent, case)
    for tests in sorted(FOLDER.glob("*/*/health_test.yaml"))
    for case in yaml.safe_load(tests.read_text())["tests"]
]


@pytest.mark.parametrize(
    ("folder", "case"), CASES, ids=[f"{folder.name}-{Path(case['inputPath']).stem}" for folder, case in CASES]
)
def test_each_case_of_the_upstream_layout(folder: Path, case: dict[str, Any]) -> None:
    document = yaml.safe_load((folder / case["inputPath"]).read_text())
    assert assess(scripts()[f"{folder.parent.name}_{folder.name}"], document) == case["healthStatus"]


def test_every_fixture_is_used() -> None:
    assert set(FOLDER.rglob("testdata/*.yaml")) == {folder / case["inputPath"] for folder, case in CASES}


KINDS = [
    "batch.paddlepaddle.org_PaddleJob",
    "batch.paddlepaddle.org_SampleJob",
    "batch.paddlepaddle.org_SampleSet",
    "mxnet.mlkube.io_MxJob",
    "paddlepaddle.org_TrainingJob",
    "stowplan.dev_Dataset",
    "stowplan.dev_DatasetTask",
    "stowplan.dev_Training",
    "tensorstack.dev_DataCube",
]


def test_there_is_a_script_for_each_kind() -> None:
    specs = [custom_resource_definition(kind.model)["spec"] for kind in table.KINDS.values()]
    assert sorted(f"{spec['group']}_{spec['names']['kind']}" for spec in specs) == KINDS
    assert sorted(scripts()) == sorted(["batch_Job", *KINDS])


PLATFORM = """
apiVersion: stowplan.dev/v1alpha1
kind: Platform
engines: {gang: %s}
argocd: {repoURL: https://git.example.com/ml/specs.git, path: out}
"""


@pytest.mark.parametrize("gang", ["none", "volcano", "coscheduling", "kueue"])
def test_jobs_are_judged_otherwise_with_any_gang_engine(gang: str, tmp_path: Path) -> None:
    """Queues suspend and resume them, and so do gates."""
    (tmp_path / PLATFORM_FILE).write_text(PLATFORM % gang)
    outputs = synthesised(tmp_path, tmp_path / "out", Report()).outputs
    (patch,) = [output.manifest.body for output in outputs if output.path == "argocd-cm.patch.txt"]
    kinds = [*KINDS, "batch_Job"]
    assert patch["data"] == {f"resource.customizations.health.{kind}": scripts()[kind] for kind in kinds}


def test_the_sandbox_has_no_more_than_argo_cd_offers() -> None:
    health = assess("return { status = tostring(string == nil and math == nil and io == nil), message = '' }", {})
    assert health["status"] == "true"


def test_a_script_that_never_ends_is_stopped() -> None:
    with pytest.raises(TimeoutError):
        assess("while true do end", {})
