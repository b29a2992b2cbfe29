"""`diff --env all`: what the environments have of each spec, and what each is behind the one before it."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from stowplan.compiler import pipeline
from stowplan.compiler.compiling import compile_all
from stowplan.compiler.compiling.compile_all import Parts
from stowplan.compiler.compiling.steps import Validation
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.diff.environments import Cell, EnvironmentColumn, lags, other_images
from stowplan.schema.meta import SpecId
from tests.repositories import EXAMPLES
from tests.unit.users import run

SPEC = SpecId("Training", "ml", "resnet")


@pytest.fixture(autouse=True)
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the example with its output, which the test is in."""
    folder = tmp_path / "repo"
    shutil.copytree(EXAMPLES["environments"], folder)
    shutil.copytree(EXAMPLES["environments"].parent.parent / "out/environments", folder / "out")
    monkeypatch.chdir(folder)
    return folder


def diff(*options: str) -> str:
    result = run("diff", *options)
    assert result.exit_code == 0, result.output
    return result.stdout


def edit(file: Path, before: str, after: str) -> None:
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, after))


def test_each_environment_says_what_it_is_behind_the_one_before_it() -> None:
    lines = diff("--env", "all").splitlines()
    head = next(line.split() for line in lines if line.startswith("SPEC"))
    assert head == ["SPEC", "dev", "stage", "prod"], "equal clusters are one column"
    rows = {line.split()[1]: line for line in lines if line.startswith(("Training ml/", "Dataset ml/"))}
    assert "resnet:1.5.0-rc1" in rows["ml/playground"]
    assert rows["ml/resnet-finetune"].rstrip().endswith("a run waits")
    start = lines.index("stage is behind dev by 2 of 4 specs:")
    assert lines[start:] == [
        "stage is behind dev by 2 of 4 specs:",
        "  Training ml/playground is in dev only",
        "  Dataset ml/imagenet: dev has the image stowplan-transfer:0.2.0.dev1, stage stowplan-transfer:0.2.0.dev0",
        "prod is behind stage by 1 of 3 specs:",
        "  Training ml/resnet-finetune: stage has run a4n3xwlo, in prod a run waits to be started",
    ]


def test_a_change_is_in_front_in_the_environments_that_have_it(repo: Path) -> None:
    edit(repo / "specs/resnet.yaml", "resnet:1.4", "resnet:1.5")
    told = diff()
    assert "  Training ml/resnet: stage has run " in told
    assert "in prod a run waits to be started; fpcg6zd7 goes on" in told
    assert "Training ml/resnet: stage has the image resnet:1.5, prod resnet:1.4" in told


def test_programs_get_all_specs_and_what_is_behind() -> None:
    found: dict[str, Any] = json.loads(diff("--format", "json"))
    assert list(found["environments"]) == ["dev", "stage", "prod/prod-a", "prod/prod-b"]
    row = next(each for each in found["matrix"] if each["name"] == "resnet-finetune")
    assert row["in"]["stage"] == {"run": "a4n3xwlo", "waits": False, "images": ["resnet:1.4"], "revisions": []}
    assert row["in"]["prod"] == {"run": "", "waits": True, "images": [], "revisions": []}
    assert [(each["environment"], each["of"]) for each in found["behind"]] == [("stage", "dev"), ("prod", "stage")]
    assert [each["name"] for each in found["behind"][0]["missing"]] == ["playground"]
    assert [each["name"] for each in found["behind"][1]["older"]] == ["resnet-finetune"]


def test_a_comment_has_a_table() -> None:
    told = diff("--format", "markdown")
    assert "| `spec` | `dev` | `stage` | `prod` |\n| --- | --- | --- | --- |\n" in told
    assert "- `prod is behind stage by 1 of 3 specs:`\n  - `Training ml/resnet-finetune: stage has run " in told


def test_one_environment_is_compared_with_none() -> None:
    assert "behind" not in diff("--env", "prod")
    assert "matrix" not in json.loads(diff("--env", "stage", "--format", "json"))


def test_equal_clusters_are_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    real, compiled = compile_all.specs_alone, list[str]()

    def counting(steps: Validation, report: Report) -> Parts:
        compiled.append(steps.reading.target.name)
        return real(steps, report)

    monkeypatch.setattr(pipeline, "specs_alone", counting)
    diff()
    assert compiled == ["dev", "stage", "prod/prod-a"]


def test_clusters_that_differ_are_compared_one_by_one() -> None:
    old, new = Cell("b", images=("a:1",)), Cell("c", images=("a:2",))
    found = lags(
        [
            EnvironmentColumn("dev", "dev", {SPEC: new}),
            EnvironmentColumn("prod/a", "prod", {SPEC: new}),
            EnvironmentColumn("prod/b", "prod", {SPEC: old}),
        ]
    )
    assert [(each.name, each.of, each.number) for each in found] == [("prod/a", "dev", 0), ("prod/b", "dev", 1)]


@pytest.mark.parametrize(
    ("there", "here", "pairs"),
    [
        (("a:1", "b:1"), ("a:2",), [("a:1", "a:2")]),
        (("a:1", "b:1"), ("a:1",), []),
        (("a@sha256:1",), ("a:2",), [("a@sha256:1", "a:2")]),
        (("a:1",), ("b:1",), [("a:1", "b:1")]),
        (("a:1",), (), []),
    ],
)
def test_images_of_one_name_are_compared(
    there: tuple[str, ...], here: tuple[str, ...], pairs: list[tuple[str, str]]
) -> None:
    assert other_images(Cell(images=there), Cell(images=here)) == pairs
