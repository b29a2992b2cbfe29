"""Specs compile to the same files however they are distributed over processes."""

import shutil
from contextlib import closing
from pathlib import Path

import pytest

from stowplan.compiler.compiling import compile_all, processes
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.environments.target import Target
from stowplan.compiler.lowering.composer_pool import ComposerPool
from stowplan.compiler.pipeline import Compiler, Options
from stowplan.compiler.repository.layout import Repository
from stowplan.compiler.repository.load import Checkout
from tests.repositories import EXAMPLES, INVALID_CASES, validated

WAYS = [(1, 1), (2, 3)]
"""Specs in a batch, and processes."""


def divide(monkeypatch: pytest.MonkeyPatch, size: int, number: int) -> None:
    monkeypatch.setattr(compile_all, "SIZE", size)
    monkeypatch.setattr(compile_all, "WORTH_PROCESSES", 0)
    monkeypatch.setattr(processes, "processes", lambda: number)


def test_one_composer_serves_several_outputs_that_processes_compile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As for the environments of a repository."""
    found = []
    with closing(ComposerPool(lasting=False)) as composer:
        for name, number in (("dev", 1), ("stage", 4), ("prod", 4)):
            divide(monkeypatch, 1, number)
            checkout, report = Checkout(Repository(EXAMPLES["training"])), Report()
            target = Target.whole(checkout.platform)
            found.append(Compiler(checkout, composer).synth(target, tmp_path / name, Options(), report).files)
            assert not report.failed, report.diagnostics
    assert len({tuple(sorted(files)) for files in found}) == 1


def test_diagnostics_of_many_specs_do_not_depend_on_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All invalid cases as one repository: they fail in every stage, and collide with each other."""
    (tmp_path / "specs").mkdir()
    (tmp_path / "stowplan.yaml").write_text("{}")
    for name, path in INVALID_CASES.items():
        if path.is_file():
            shutil.copy(path, tmp_path / "specs" / f"{name}.yaml")
    said = []
    for way in ((1000, 1), (2, 3)):
        divide(monkeypatch, *way)
        report = Report()
        validated(tmp_path, report)
        said.append(report.diagnostics)
    assert len(said[0]) > 200
    assert said[0] == said[1]


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
        assert validated(tmp_path, report).objects == 0
        assert report.failed
