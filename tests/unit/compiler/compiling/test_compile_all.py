"""Specs compile to the same files however they are distributed over processes."""

import shutil
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from stowplan.compiler import pipeline
from stowplan.compiler.committed.runs import Recompile, Start
from stowplan.compiler.compiling import compile_all, compile_specs, processes
from stowplan.compiler.diagnostics.report import Diagnostic, Report
from stowplan.compiler.lowering.composer_pool import ComposerPool
from stowplan.compiler.output.render import Rendered
from stowplan.compiler.output.write import write
from stowplan.compiler.pipeline import compile_repository, validate_repository
from stowplan.compiler.repository.layout import Repository
from tests.repositories import CASES, EXAMPLES, INVALID_CASES

WAYS = [(1, 1), (2, 3)]
"""Specs in a batch, and processes."""


@dataclass(frozen=True, slots=True)
class Result:
    files: tuple[Rendered, ...]
    objects: int
    starts: tuple[Start, ...]
    diagnostics: tuple[Diagnostic, ...]


def compiled(repo: Path, out: Path, recompile: Recompile = pipeline.NOTHING) -> Result:
    report = Report()
    found = compile_repository(Repository(repo), out, report, recompile, keep_objects=False)
    return Result(tuple(sorted(found.files)), found.objects, found.starts, tuple(report.diagnostics))


def divide(monkeypatch: pytest.MonkeyPatch, size: int, number: int) -> None:
    monkeypatch.setattr(compile_specs, "SIZE", size)
    monkeypatch.setattr(compile_all, "WORTH_PROCESSES", 0)
    monkeypatch.setattr(processes, "processes", lambda: number)


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_output_of_a_first_run_and_of_the_next_one(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo, out = EXAMPLES[name], tmp_path / "out"
    first = compiled(repo, out)
    assert first.files
    report = Report()
    whole = compile_repository(Repository(repo), out, report)
    write(whole.files, out, whole.committed, report)
    assert sorted(output.path for output in whole.outputs) == [file.path for file in first.files]
    again, renewed = compiled(repo, out), compiled(repo, out, Recompile(everything=True))
    assert all(file.content is None for file in again.files if file.path.endswith(".yaml"))
    for way in WAYS:
        divide(monkeypatch, *way)
        assert compiled(repo, tmp_path / "nothing") == first
        assert compiled(repo, out) == again
        assert compiled(repo, out, Recompile(everything=True)) == renewed
        monkeypatch.undo()


def test_one_composer_serves_several_outputs_that_processes_compile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As for the environments of a repository."""
    divide(monkeypatch, 1, 4)
    repo, found = EXAMPLES["training"], []
    with closing(ComposerPool(lasting=False)) as composer:
        for name in ("dev", "stage", "prod"):
            report = Report()
            found.append(compile_repository(Repository(repo), tmp_path / name, report, composer=composer).files)
            assert not report.failed, report.diagnostics
    assert len({tuple(sorted(files)) for files in found}) == 1


def test_the_next_run_uses_the_same_node_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    divide(monkeypatch, 2, 3)
    repo = EXAMPLES["two-tier-cache"]
    alone = compiled(repo, tmp_path)
    with closing(ComposerPool()) as memory:
        nodes = []
        for _ in range(2):
            found = compile_repository(Repository(repo), tmp_path, Report(), composer=memory)
            assert tuple(sorted(found.files)) == alone.files
            nodes.append(memory._composer)
        assert nodes[0] is nodes[1] is not None


@pytest.mark.parametrize("cases", [CASES, INVALID_CASES], ids=["valid", "invalid"])
def test_diagnostics_of_many_specs_do_not_depend_on_batches(
    cases: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All cases as one repository: they collide with each other, and the invalid ones fail in every stage."""
    (tmp_path / "specs").mkdir()
    (tmp_path / "stowplan.yaml").write_text("{}")
    for name, path in cases.items():
        if path.is_file():
            shutil.copy(path, tmp_path / "specs" / f"{name}.yaml")
    said = []
    for way in [(1000, 1), *WAYS]:
        divide(monkeypatch, *way)
        for keep_objects in (True, False):
            report = Report()
            validate_repository(Repository(tmp_path), report, keep_objects=keep_objects)
            said.append(report.diagnostics)
    assert len(said[0]) > 200
    assert all(each == said[0] for each in said)


def test_errors_in_one_batch_prevent_all_checks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = (
        "apiVersion: batch.paddlepaddle.org/v1alpha1\nkind: SampleJob\nmetadata: {name: %s, namespace: ml}\nspec: %s\n"
    )
    (tmp_path / "specs").mkdir()
    (tmp_path / "stowplan.yaml").write_text("{}")
    (tmp_path / "specs/a.yaml").write_text(job % ("a", "{type: rmr, sampleSetRef: {name: nowhere}}"))
    (tmp_path / "specs/b.yaml").write_text("apiVersion: v1\nkind: SampleSet\n")
    for way in WAYS:
        divide(monkeypatch, *way)
        report = Report()
        assert validate_repository(Repository(tmp_path), report).objects == 0
        assert report.failed
