"""The output of `--format sarif` is valid SARIF 2.1.0, and every result points to a file of the repository."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from jsonschema import Draft4Validator
from typer.testing import CliRunner

from stowplan.compiler.cli import app
from stowplan.compiler.diagnostics.locations import Location
from stowplan.compiler.diagnostics.report import Diagnostic
from stowplan.compiler.diagnostics.sarif import sarif
from stowplan.schema.diagnostics import Severity
from tests.nightly.editor.npm import needed
from tests.repositories import INVALID_CASES
from tests.test_cases_invalid import PLATFORM

ONE_OF_EACH_CODE = {name.partition("-")[0]: name for name in reversed(INVALID_CASES) if INVALID_CASES[name].is_file()}


@pytest.fixture(scope="module")
def validator() -> Draft4Validator:
    schema = json.loads((needed() / "@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json").read_text())
    return Draft4Validator(schema, format_checker=Draft4Validator.FORMAT_CHECKER)


def faults(validator: Draft4Validator, log: Any) -> list[str]:
    return [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(log)]


@pytest.mark.parametrize("name", ONE_OF_EACH_CODE.values(), ids=ONE_OF_EACH_CODE.keys())
def test_logs_of_mistakes_are_valid(
    validator: Draft4Validator, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = tmp_path / f"data/specs/{name.partition('-')[2]}.yaml"
    spec.parent.mkdir(parents=True)
    spec.write_bytes(INVALID_CASES[name].read_bytes())
    (tmp_path / "data/stowplan.yaml").write_text(PLATFORM)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["validate", "data", "--format", "sarif"], catch_exceptions=False)
    log = json.loads(done.stdout)
    assert faults(validator, log) == []
    (run,) = log["runs"]
    assert name.partition("-")[0] in {each["ruleId"] for each in run["results"]}
    for each in run["results"]:
        place = each["locations"][0]["physicalLocation"]
        file = tmp_path / unquote(place["artifactLocation"]["uri"])
        assert file.is_file()
        assert place["region"]["startLine"] <= len(file.read_bytes().splitlines()) + 1


@pytest.mark.parametrize(
    "file", ["specs/ä b%.yaml", "specs/a:b#c?.yaml", "specs/\udcff.yaml", "../out/a.yaml", "/a\\b"]
)
def test_odd_file_names_become_valid_addresses(validator: Draft4Validator, file: str) -> None:
    odd = Diagnostic("SP201", Severity.ERROR, Location(file, 1, 1), "", "\x1b[31m\ud800", "")
    assert faults(validator, json.loads(sarif([odd], "."))) == []


def test_a_log_without_results_is_valid(validator: Draft4Validator) -> None:
    assert faults(validator, json.loads(sarif([], "."))) == []


def test_the_schema_finds_faults(validator: Draft4Validator) -> None:
    log = json.loads(sarif([Diagnostic("SP201", Severity.ERROR, Location("a", 0, 1), "", "x", "y")], "."))
    assert len(faults(validator, log)) == 1
    assert len(faults(validator, {"runs": []})) == 1
