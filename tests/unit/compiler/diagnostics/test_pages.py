"""The pages of the codes: they are complete, and their examples are correct."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from stowplan.compiler.compiling.destinations import destinations
from stowplan.compiler.diagnostics import pages
from stowplan.compiler.diagnostics.pages import page
from stowplan.compiler.diagnostics.report import Diagnostic, Report
from stowplan.compiler.environments.together import Result, judged
from stowplan.compiler.migrate.native import files
from stowplan.compiler.repository.layout import Repository
from stowplan.compiler.repository.load import Checkout
from stowplan.schema.codes import CATALOGUE
from stowplan.schema.diagnostics import Severity
from stowplan.schema.kinds.table import KINDS
from tests.repositories import validated

FOLDER = Path(pages.__file__).parent
SECTIONS = ["What it means", "Why it matters", "Wrong", "Right"]

FILES = "about files, not about what stands in them"
SYNTH = "is said by `synth`"
HISTORY = "needs the output of an earlier run"
EXTENSION = "needs an extension"
MIGRATION = "is about a rewriting of specs"
LOCK = "needs a lock file"
REMOTE = "is about what a remote answers"
MIGRATED = ("SP427", "SP428", "SP429")
NOT_COMPILED = {
    **dict.fromkeys(
        ("SP104", "SP105", "SP108", "SP109", "SP112", "SP113", "SP115", "SP116", "SP532", "SP551", "SP757", "SP758"),
        FILES,
    ),
    **dict.fromkeys(
        (
            "SP508",
            "SP509",
            "SP510",
            "SP511",
            "SP512",
            "SP513",
            "SP516",
            "SP517",
            "SP518",
            "SP519",
            "SP526",
            "SP537",
            "SP538",
            "SP539",
            "SP562",
        ),
        HISTORY,
    ),
    **dict.fromkeys(("SP540", "SP541", "SP542", "SP543", "SP812"), HISTORY),
    **dict.fromkeys(MIGRATED, MIGRATION),
    **dict.fromkeys(("SP901", "SP903", "SP904"), LOCK),
    "SP906": REMOTE,
    **dict.fromkeys(("SP808", "SP810", "SP813", "SP814", "SP815", "SP816"), SYNTH),
    **dict.fromkeys(("SP533", "SP560", "SP561", "SP604", "SP605"), EXTENSION),
}
"""Codes whose examples are no repository; `test_cases_invalid.py` has one for each."""

PLATFORM = """\
images: {registry: registry.example.com/ml, tag: "1"}
argocd: {repoURL: https://git.example.com/ml/data.git}
"""


def sections(code: str) -> dict[str, str]:
    text = page(code)
    assert text is not None
    parts = re.split(r"^## (.+)\n\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def examples(code: str, section: str) -> list[tuple[str, str]]:
    """Language and text of the fenced blocks of a section."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", sections(code)[section], flags=re.MULTILINE | re.DOTALL)


def compiled(text: str, code: str, repo: Path) -> list[Diagnostic]:
    """Return the diagnostics of a repository with only the example: a platform file, then specs, or one of the two."""
    documents = _mappings(text)
    platform, _, specs = text.partition("\n---\n") if documents[:1] == _platforms(documents) else ("", "", text)
    (repo / "specs").mkdir()
    (repo / "stowplan.yaml").write_text(platform or PLATFORM + _pass_through(documents, code))
    if specs:
        (repo / "specs/example.yaml").write_text(specs)
    report = Report()
    results = []
    for target in destinations(Checkout(Repository(repo)), repo / "out", report):
        own = Report()
        found = validated(repo, own, target=target)
        results += [] if own.failed else [Result(target, found.placed, None)]
        report.add(*own.diagnostics)
    report.add(*judged(results))
    return report.diagnostics


def _mappings(text: str) -> list[dict[str, Any]]:
    try:
        return [document for document in yaml.safe_load_all(text) if isinstance(document, dict)]
    except yaml.YAMLError:
        return []


def _platforms(documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [document for document in documents if document.get("kind") == "Platform"]


def _pass_through(documents: list[dict[str, Any]], code: str) -> str:
    """Accept plain objects, unless the page is about refusing them."""
    kinds = [
        {"group": str(document["apiVersion"]).rpartition("/")[0], "kind": document["kind"]}
        for document in documents
        if "kind" in document and document["kind"] not in KINDS
    ]
    return yaml.safe_dump({"passThrough": kinds}) if kinds and code not in ("SP207", "SP209") else ""


@pytest.mark.parametrize("code", CATALOGUE)
def test_a_page_is_complete(code: str) -> None:
    text = page(code)
    assert text is not None
    assert text.startswith(f"# {code}: {CATALOGUE[code].title}\n\n")
    assert list(sections(code)) == SECTIONS
    assert all(content.strip() for content in sections(code).values())
    assert [len(examples(code, section)) for section in SECTIONS] == [0, 0, 1, 1]


def test_no_page_without_a_code() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.md")) == sorted(CATALOGUE)


def test_a_code_is_found_in_any_case() -> None:
    assert page("sp204") == page("SP204") is not None


@pytest.mark.parametrize("code", ["541", "SP 541", "sp-541", " SP541 ", "SP541:", "[SP541]"])
def test_a_code_is_found_as_people_write_it(code: str) -> None:
    assert page(code) == page("SP541")


@pytest.mark.parametrize("code", ["SP999", "999", "SP", "", "54", "SP5410", "5 41", "../SP541"])
def test_an_unknown_code_has_no_page(code: str) -> None:
    assert page(code) is None


@pytest.mark.parametrize("code", [code for code in CATALOGUE if code not in NOT_COMPILED])
def test_the_examples_show_the_code_and_its_absence(code: str, tmp_path: Path) -> None:
    found = {}
    for section in ("Wrong", "Right"):
        ((language, text),) = examples(code, section)
        assert language == "yaml"
        (tmp_path / section).mkdir()
        found[section] = compiled(text, code, tmp_path / section)
    assert code in [diagnostic.code for diagnostic in found["Wrong"]]
    assert code not in [diagnostic.code for diagnostic in found["Right"]]
    assert [str(bad) for bad in found["Right"] if bad.severity is Severity.ERROR] == []


@pytest.mark.parametrize("code", MIGRATED)
def test_the_examples_of_the_migration_show_the_code_and_its_absence(code: str) -> None:
    found = {}
    for section in ("Wrong", "Right"):
        ((_, text),) = examples(code, section)
        report = Report()
        made = files.migrated({"example.yaml": text}, report)
        found[section] = ([each.code for each in report.diagnostics], made.get("example.yaml", text))
    assert code in found["Wrong"][0]
    assert code not in found["Right"][0]
    if code == "SP429":
        assert found["Wrong"][1] == found["Right"][1]
