"""Diagnostics in the formats of CI services: they point to the line of the spec."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from typer.testing import CliRunner

from stowplan.compiler.cli import app
from stowplan.compiler.diagnostics.escaping import logged
from stowplan.compiler.diagnostics.github_annotations import annotations
from stowplan.compiler.diagnostics.locations import Location
from stowplan.compiler.diagnostics.report import Diagnostic
from stowplan.compiler.diagnostics.sarif import sarif
from stowplan.schema.diagnostics import Severity

SPEC = """\
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleSet
metadata:
  name: imagenet
spec:
  partition: 2
  noSync: true
  secretRef: {name: imagenet}
"""
ODD = Diagnostic("SP201", Severity.ERROR, Location("specs/a, b:c.yaml", 3, 5), "spec.x", "100% wrong\nhere", "Do this.")


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository below the folder that the test is in, as in a monorepo."""
    (tmp_path / "data/specs").mkdir(parents=True)
    (tmp_path / "data/stowplan.yaml").touch()
    (tmp_path / "data/specs/imagenet.yaml").write_text(SPEC)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def output(*arguments: str) -> str:
    return CliRunner().invoke(app, arguments, catch_exceptions=False).output


def test_annotations_land_on_the_line(repo: Path, snapshot: SnapshotAssertion) -> None:
    assert output("validate", "data", "--format", "github") == snapshot


def test_annotations_escape_special_characters() -> None:
    first, total = annotations([ODD], ".")
    assert first == (
        "::error file=specs/a%2C b%3Ac.yaml,line=3,col=5,title=SP201 spec.x::100%25 wrong%0Ahere%0ADo this."
    )
    assert total == "1 error, 0 warnings, 0 infos"


HOSTILE = replace(ODD, field_path="a\x1b[2J", message="\r::error::a [page](https://b.example.com)\u202e", hint="c\x07")


def test_what_a_spec_holds_steers_no_log_and_makes_no_link() -> None:
    """A log of CI is shown with colours, and a viewer of SARIF makes links of what has the form of one."""
    first, _ = annotations([HOSTILE], ".")
    assert "title=SP201 a\\u001b[2J::\\r::error::a [page](https://b.example.com)\\u202e%0Ac\\u0007" in first
    (found,) = results(sarif([HOSTILE], "."))
    assert found["message"]["text"] == "\\r::error::a [page]\u200b(https://b.example.com)\\u202e c\\u0007"


def results(text: str) -> list[dict[str, Any]]:
    (run,) = json.loads(text)["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert all(rules[each["ruleIndex"]] == each["ruleId"] for each in run["results"])
    found: list[dict[str, Any]] = run["results"]
    return found


@pytest.mark.parametrize("line", ["::error::x", " \t::stop-commands::x", "  a: ##[add-mask]error", "###[group]"])
def test_what_a_difference_shows_is_no_command(line: str) -> None:
    """GitHub Actions looks for `::` behind the blanks at the beginning of a line, and for `##[` in all of it."""
    shown = logged(line)
    assert not shown.lstrip().startswith("::")
    assert "##[" not in shown
    assert len(shown) == len(line) + 5


def test_addresses_stay_as_they_are() -> None:
    assert logged("the range ::/0, and [::1]:443 # [a]") == "the range ::/0, and [::1]:443 # [a]"


def test_sarif_lands_on_the_line(repo: Path) -> None:
    (error,) = [each for each in results(output("validate", "data", "--format", "sarif")) if each["level"] == "error"]
    place = error["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "data/specs/imagenet.yaml"
    assert place["region"] == {"startLine": 6, "startColumn": 3}
    assert error["ruleId"] == "SP201"


def test_sarif_of_synth_prints_only_sarif(repo: Path) -> None:
    (repo / "data/specs/imagenet.yaml").write_text(SPEC.replace("partition:", "partitions:"))
    assert {each["level"] for each in results(output("synth", "data", "--format", "sarif"))} <= {"note", "warning"}


def test_sarif_of_one_mistake(snapshot: SnapshotAssertion) -> None:
    log = json.loads(sarif([ODD], "data"))
    log["runs"][0]["tool"]["driver"]["version"] = "…"
    assert json.dumps(log, indent=2, ensure_ascii=False) == snapshot


def test_an_error_keeps_its_fingerprint_when_lines_are_added_above_it() -> None:
    below = Diagnostic(ODD.code, ODD.severity, Location(ODD.location.file, 9, 5), ODD.field_path, ODD.message, ODD.hint)
    first, second = (results(sarif([each], "."))[0]["partialFingerprints"] for each in (ODD, below))
    assert first == second
