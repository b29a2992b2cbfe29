"""A repository without specs, or with files that only resemble specs, causes a diagnostic."""

from pathlib import Path

import pytest

from stowplan.compiler.diagnostics.report import Diagnostic, Report
from stowplan.compiler.environments.target import Target
from stowplan.compiler.repository.layout import Repository
from stowplan.compiler.repository.load import Checkout
from tests.unit.users import PLATFORM, SPEC


def loaded(repo: Path, *files: str, platform: str = PLATFORM, text: str = SPEC) -> list[Diagnostic]:
    (repo / "stowplan.yaml").write_text(platform)
    (repo / "specs").mkdir()
    for name in files:
        (repo / "specs" / name).parent.mkdir(parents=True, exist_ok=True)
        (repo / "specs" / name).write_text(text)
    report = Report()
    checkout = Checkout(Repository(repo))
    checkout.sources(Target.whole(checkout.platform), report)
    return report.diagnostics


def codes(found: list[Diagnostic]) -> list[str]:
    return [f"{each.severity} {each.code}" for each in found]


def test_a_missing_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "stowplan.yaml").write_text("")
    report = Report()
    checkout = Checkout(Repository(tmp_path))
    checkout.sources(Target.whole(checkout.platform), report)
    (found,) = report.diagnostics
    assert (found.code, found.severity, found.location.file) == ("SP115", "warning", "specs")
    assert "no folder specs" in found.message


def test_an_empty_folder_is_reported(tmp_path: Path) -> None:
    (found,) = loaded(tmp_path)
    assert (found.code, found.severity, found.location.file) == ("SP115", "warning", "specs")
    assert ".yaml or .yml" in found.message


@pytest.mark.parametrize("text", ["", "---\n---\n", "# apiVersion: v1\n"])
def test_files_without_documents_are_reported(tmp_path: Path, text: str) -> None:
    (found,) = loaded(tmp_path, "a.yaml", "b.yml", text=text)
    assert found.code == "SP115"
    assert "2 files" in found.message


def test_skipped_files_are_named_in_order(tmp_path: Path) -> None:
    names = [f"{letter}.txt" for letter in "gfedcba"]
    (found,) = loaded(tmp_path, *names, "sub/README")
    assert found.code == "SP115"
    assert "specs/a.txt, specs/b.txt, specs/c.txt, specs/d.txt, specs/e.txt and 3 more" in found.message


@pytest.mark.parametrize(
    "name",
    [
        "a.YAML",
        "a.Yml",
        "a.yml.txt",
        "a.yaml.TXT",
        "a.yaml.j2",
        "a.yaml.tpl",
        "a.yml.jinja2",
        "sub/a.yaml.tmpl",
        "a.json",
    ],
)
def test_a_misspelt_file_name_is_reported_among_other_files(tmp_path: Path, name: str) -> None:
    (found,) = loaded(tmp_path, "right.yaml", name)
    assert (found.code, found.severity, found.location.file) == ("SP116", "warning", f"specs/{name}")
    assert ".yaml" in found.hint


def test_a_misspelt_file_name_is_reported_as_the_only_file(tmp_path: Path) -> None:
    assert codes(loaded(tmp_path, "a.YAML")) == ["warning SP115", "warning SP116"]


@pytest.mark.parametrize(
    "name",
    ["a.yml", "a.yaml.off", "a.yaml~", "a.yaml.bak", ".a.YAML", ".sub/a.YAML", "README.md", "a.json.off", "yaml"],
)
def test_files_disabled_on_purpose_are_not_reported(tmp_path: Path, name: str) -> None:
    assert loaded(tmp_path, "right.yaml", name) == []


def test_extensions_need_no_specs(tmp_path: Path) -> None:
    assert loaded(tmp_path, platform="extensions: [{path: a.py}]\n") == []


def test_unreadable_files_cause_no_second_diagnostic(tmp_path: Path) -> None:
    assert codes(loaded(tmp_path, "a.yaml", text="a: [")) == ["error SP101"]
