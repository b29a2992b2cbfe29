"""The Lua scripts by which Argo CD judges our kinds, run in its sandbox on its own layout of test cases."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from stowplan.library.health import FOLDER, scripts
from tests.lua_sandbox import assess

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
    assert assess((folder / "health.lua").read_text(), document) == case["healthStatus"]


def test_every_fixture_is_used() -> None:
    assert set(FOLDER.rglob("testdata/*.yaml")) == {folder / case["inputPath"] for folder, case in CASES}


def test_there_is_a_script_for_each_kind() -> None:
    kinds = ("PaddleJob", "SampleJob", "SampleSet")
    assert sorted(scripts()) == [f"batch.paddlepaddle.org_{kind}" for kind in kinds]


def test_the_sandbox_has_no_more_than_argo_cd_offers() -> None:
    health = assess("return { status = tostring(string == nil and math == nil and io == nil), message = '' }", {})
    assert health["status"] == "true"


def test_a_script_that_never_ends_is_stopped() -> None:
    with pytest.raises(TimeoutError):
        assess("while true do end", {})
