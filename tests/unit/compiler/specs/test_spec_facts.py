"""Facts replace specs that are not compiled: the diagnostics are the same as with all specs."""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from stowplan.compiler.diagnostics.document import Document
from stowplan.compiler.diagnostics.report import Diagnostic, Report
from stowplan.compiler.model import Program, Sources
from stowplan.compiler.repository.layout import Repository
from stowplan.compiler.repository.load import Loading
from stowplan.compiler.specs.resolve import resolve
from stowplan.compiler.specs.spec_facts import SpecFacts, of_spec
from stowplan.compiler.specs.validate import validate
from stowplan.library.dialects.shared.context import Context
from tests.repositories import EXAMPLES, INVALID_CASES, lay_out

ACROSS = {name: path for name, path in INVALID_CASES.items() if name.startswith("SP3") and path.is_file()}


def unreadable(spec: SpecFacts) -> Document:
    raise ValueError(spec)


def facts_of(program: Program) -> list[SpecFacts]:
    context = Context(program.platform, "")
    return [of_spec(spec, context) for spec in program.specs]


def resolved(
    program: Program, facts: Sequence[SpecFacts], sources: Sources
) -> tuple[Program, tuple[SpecFacts, ...], list[Diagnostic], list[SpecFacts]]:
    """Return the program and facts of all specs, the diagnostics, and the specs whose documents were read."""
    documents = {(document.file, document.index): document for document in sources.documents}
    report, asked = Report(), []

    def read(spec: SpecFacts) -> Document:
        asked.append(spec)
        return documents[spec.file, spec.index]

    found, every = resolve(program, facts, read, report)
    return found, every, report.diagnostics, asked


def assert_facts_stand_for_specs(repo: Path) -> list[Diagnostic]:
    sources = Loading(Repository(repo), Report(), {}).sources()
    program = validate(sources, Report())
    whole, facts, reported, _ = resolved(program, facts_of(program), sources)
    if len({spec.id for spec in program.specs}) < len(program.specs):
        return reported
    for changed in (None, *whole.specs):
        own = tuple(spec for spec in program.specs if changed and spec.id == changed.id)
        given = sorted(facts, key=lambda each: (each.file, each.index))
        part, everything, said, asked = resolved(replace(program, specs=own), given, sources)
        assert part.specs == ((changed,) if changed else ())
        assert everything == facts
        assert said == reported
        assert bool(asked) <= bool(reported)
    return reported


@pytest.mark.parametrize("name", ACROSS)
def test_conflicting_specs_are_reported(name: str, tmp_path: Path) -> None:
    lay_out(tmp_path, {"a.yaml": ACROSS[name].read_text()})
    assert_facts_stand_for_specs(tmp_path)


def test_the_cases_cover_all_diagnostics_across_specs(tmp_path: Path) -> None:
    reported = set()
    for name, path in ACROSS.items():
        lay_out(tmp_path / name, {"a.yaml": path.read_text()})
        reported |= {found.code for found in assert_facts_stand_for_specs(tmp_path / name)}
    assert reported >= {"SP301", "SP305", "SP307", "SP309", "SP310", "SP320", "SP321", "SP323", "SP324"}


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_compile_the_same_with_facts_of_other_specs(name: str, tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES[name], tmp_path / name)
    assert_facts_stand_for_specs(tmp_path / name)


def test_no_document_is_asked_for_where_nothing_is_wrong() -> None:
    program = validate(Loading(Repository(EXAMPLES["imagenet"]), Report(), {}).sources(), Report())
    report = Report()
    found, facts = resolve(program, facts_of(program), unreadable, report)
    assert len(found.specs) == len(facts)
    assert report.diagnostics == []
