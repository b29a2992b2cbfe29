"""A report lists each diagnostic once, and of many similar ones in one file only the first."""

import json
from pathlib import Path

import pytest

from stowplan.compiler.diagnostics.locations import Location
from stowplan.compiler.diagnostics.report import MOST_ALIKE, Diagnostic, Report
from stowplan.compiler.yaml.reader import read
from stowplan.schema.diagnostics import Severity
from tests.unit.users import laid_out, run


def diagnostic(line: int, *, file: str = "a.yaml", code: str = "SP102", severity: str = "error") -> Diagnostic:
    return Diagnostic(code, Severity(severity), Location(file, line, 1), "", "It is so.", "Do so.")


def report(*found: Diagnostic) -> Report:
    made = Report()
    made.add(*found)
    return made


def test_each_diagnostic_is_listed_once() -> None:
    assert report(diagnostic(1), diagnostic(2), diagnostic(1)).diagnostics == [diagnostic(1), diagnostic(2)]


def test_only_the_first_of_many_similar_diagnostics_are_listed() -> None:
    found = report(*(diagnostic(line) for line in range(1, MOST_ALIKE + 31))).diagnostics
    assert found[:-1] == [diagnostic(line) for line in range(1, MOST_ALIKE + 1)]
    assert (found[-1].code, found[-1].severity, found[-1].location.line) == ("SP102", "error", MOST_ALIKE + 1)
    assert (found[-1].more, "30 more" in found[-1].message) == (30, True)


def test_each_file_code_and_severity_counts_by_itself() -> None:
    many = [
        diagnostic(line, file=file, code=code, severity=severity)
        for line in range(MOST_ALIKE)
        for file in ("a.yaml", "b.yaml")
        for code in ("SP101", "SP102")
        for severity in ("error", "warning")
    ]
    assert len(report(*many).diagnostics) == len(many)


def test_counts_of_omitted_diagnostics_are_added_up() -> None:
    first = report(*(diagnostic(line) for line in range(1, MOST_ALIKE + 31)))
    second = report(*(diagnostic(line) for line in range(1001, MOST_ALIKE + 1041)), *first.diagnostics)
    (rest,) = (each for each in second.diagnostics if each.more)
    assert len(second.diagnostics) == MOST_ALIKE + 1
    assert rest.more == 40 + MOST_ALIKE + 30
    assert rest.location.line == 1


def test_each_omitted_diagnostic_is_counted_once() -> None:
    found = [diagnostic(line) for line in range(MOST_ALIKE + 30)]
    assert report(*found, *found).diagnostics[-1].more == 30


def test_omitted_errors_count_as_errors() -> None:
    warnings = (diagnostic(line, severity="warning") for line in range(MOST_ALIKE + 5))
    assert not report(*warnings).failed
    assert report(*(diagnostic(line) for line in range(MOST_ALIKE + 5))).failed


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(laid_out(tmp_path))
    (tmp_path / "specs/dup.yaml").write_text(("---\n" + "a: 1\n" * 11) * 200)
    return tmp_path


def test_the_reader_has_the_same_limit(repo: Path) -> None:
    _, diagnostics = read((repo / "specs/dup.yaml").read_text(), "dup.yaml")
    assert len(diagnostics) == MOST_ALIKE + 1
    assert diagnostics[-1].more == 2000 - MOST_ALIKE


def test_the_summary_counts_omitted_diagnostics(repo: Path) -> None:
    (repo / "specs/imagenet.yaml").unlink()
    lines = run("validate").stdout.splitlines()
    assert len([line for line in lines if "SP102" in line]) == MOST_ALIKE + 1
    assert f"{2000 - MOST_ALIKE:,} more" in "".join(lines)
    assert lines[-1].startswith("2200 errors")  # 200 documents have no kind


def test_machine_formats_contain_the_number_of_omitted_diagnostics(repo: Path) -> None:
    found = json.loads(run("validate", "--format", "json").stdout)["diagnostics"]
    assert [each["more"] for each in found if "more" in each] == [2000 - MOST_ALIKE, 100]


def test_infos_come_last_and_can_be_silenced() -> None:
    info, warning = diagnostic(1, code="SP536", severity="info"), diagnostic(2, code="SP536", severity="warning")
    found = report(info, diagnostic(3), warning)
    assert found.diagnostics == [warning, diagnostic(3), info]
    found.silence(["SP536", "SP102"])
    assert found.diagnostics == [warning, diagnostic(3)]
    assert found.failed
