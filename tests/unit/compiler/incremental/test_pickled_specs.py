"""Specs that wait as bytes, and documents that are read again."""

from pathlib import Path

import pytest

from stowplan.compiler import pipeline
from stowplan.compiler.batches import parallel_reading, worker_pool
from stowplan.compiler.batches.front_end import read
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.incremental.pickled_specs import Packed, Texts, pack
from stowplan.compiler.pipeline import validate_repository
from tests.repositories import EXAMPLES, INVALID_CASES

TWO = """---
---
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleSet
metadata: {name: a, namespace: ml}
spec: {partitions: 1, source: {uri: s3://bucket/a, secretRef: {name: s}}, secretRef: {name: s}}
---
kind: SampleSet
apiVersion: batch.paddlepaddle.org/v1alpha1
metadata: {name: b, namespace: ml}
spec: {partitions: 1, source: {uri: s3://bucket/b, secretRef: {name: s}}, secretRef: {name: s}}
"""


def repository(folder: Path, text: str) -> Path:
    (folder / "specs").mkdir(parents=True)
    (folder / "stowplan.yaml").write_text("{}")
    (folder / "specs/all.yaml").write_text(text)
    return folder


@pytest.mark.parametrize("name", EXAMPLES)
def test_specs_come_back_as_they_were(name: str) -> None:
    reading = read(EXAMPLES[name], Report())
    specs = reading.program.specs
    back = Packed(pack(specs), Texts(reading.sources.texts)).specs()
    assert [(each.id, each.model, each.digest) for each in back] == [(s.id, s.model, s.digest) for s in specs]
    for own, spec in zip(back, specs, strict=True):
        assert (own.document.file, own.document.index) == (spec.document.file, spec.document.index)
        assert own.document.data == spec.document.data
        assert own.document.root == spec.document.root


def test_documents_are_found_without_the_specs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = repository(tmp_path, TWO)
    specs = read(repo, Report()).program.specs
    assert [each.document.index for each in specs] == [1, 2], "an empty document counts"
    monkeypatch.setattr(parallel_reading, "_WORTH", 0)
    again = read(repo, Report(), processes=2)
    assert not again.program.specs
    assert not again.sources.documents
    for spec in specs:
        found = again.find(spec.id)
        assert found is not None
        assert found.root == spec.document.root
        assert again.find(spec.id._replace(name="c")) is None
        assert again.find(spec.id._replace(name="")) is None


@pytest.mark.parametrize("case", ["SP302-job", "SP407-renamed", "SP411-cache-dir", "SP514-container", "SP620-root"])
def test_what_is_said_of_packed_specs(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what is only found when they are lowered, or in their objects."""
    repo = repository(tmp_path, INVALID_CASES[case].read_text())
    before = Report()
    read(repo, before)
    said = []
    for number in (1, 2):
        monkeypatch.setattr(pipeline, "_WORTH_PROCESSES", 0)
        monkeypatch.setattr(parallel_reading, "_WORTH", 0)
        monkeypatch.setattr(worker_pool, "processes", lambda number=number: number)
        report = Report()
        validate_repository(repo, report, keep_objects=False)
        said.append(report.diagnostics)
    assert not before.failed
    assert case[:5] in {each.code for each in said[0]}
    assert said[0] == said[1]
