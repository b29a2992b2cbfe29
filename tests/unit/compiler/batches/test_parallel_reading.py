"""Specs that several processes read are those that one reads, and the same is said of them."""

from pathlib import Path

import pytest

from stowplan.compiler.batches import parallel_reading
from stowplan.compiler.batches.front_end import Reading, read
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.incremental.pickled_specs import Packed
from stowplan.compiler.incremental.spec_cache import Before
from stowplan.compiler.model import Spec
from tests.repositories import EXAMPLES, INVALID_CASES, lay_out
from tests.unit.edits import JOB, PASSING, SECRET, SET

WRONG = [path for path in INVALID_CASES.values() if path.is_file()]
MIXED = f"{SECRET}---\n{SET.replace('NAME', 'mixed')}"


@pytest.fixture(autouse=True)
def a_file_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file is a share, and the smallest repository is worth it."""
    monkeypatch.setattr(parallel_reading, "_WORTH", 0)
    monkeypatch.setattr(parallel_reading, "_SHARE", 1)


def specs(reading: Reading) -> list[Spec]:
    found = (spec for part in reading.parts for spec in (part.specs() if isinstance(part, Packed) else part))
    return sorted(found, key=lambda spec: spec.id)


def compare(repo: Path) -> tuple[Reading, Report]:
    alone_said, shared_said = Report(), Report()
    alone, shared = read(repo, alone_said), read(repo, shared_said, processes=2)
    assert shared_said.diagnostics == alone_said.diagnostics
    assert shared.texts(shared_said) == {file: alone.texts(alone_said)[file] for file in shared.texts(shared_said)}
    assert {each.location.file for each in shared_said.diagnostics} <= {*shared.texts(shared_said), "specs"}
    assert sorted(shared.said, key=lambda each: each.sort_key) == sorted(alone.said, key=lambda each: each.sort_key)
    assert shared.facts == alone.facts
    assert shared.sources.digests == alone.sources.digests
    assert not shared.sources.unread
    for own, other in zip(specs(shared), specs(alone), strict=True):
        assert (own.id, own.model, own.digest) == (other.id, other.model, other.digest)
        assert own.document.root == other.document.root
        assert own.document.refused == other.document.refused
    for name in ("platform", "version", "sample_sets", "sources", "refused"):
        assert getattr(shared.context, name) == getattr(alone.context, name), name
    for name in ("platform", "passed_through", "secret_keys", "refused"):
        assert getattr(shared.program, name) == getattr(alone.program, name), name
    return shared, shared_said


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name: str) -> None:
    reading, _ = compare(EXAMPLES[name])
    extended = bool(reading.program.platform.extensions)
    assert all(isinstance(part, Packed) for part in reading.parts) is not extended


@pytest.mark.parametrize("path", WRONG[::12], ids=lambda path: path.stem)
def test_what_is_wrong(path: Path, tmp_path: Path) -> None:
    lay_out(tmp_path, {"a.yaml": path.read_text(), "b.yaml": MIXED.replace("mixed", "other")})
    compare(tmp_path)


def test_a_file_that_holds_other_things_too(tmp_path: Path) -> None:
    job = JOB.replace("NAME", "mixed")
    lay_out(tmp_path, {"a.yaml": job, "b.yaml": MIXED, "c.yaml": SET.replace("NAME", "c")})
    (tmp_path / "stowplan.yaml").write_text(PASSING)
    reading, said = compare(tmp_path)
    assert not said.failed
    assert [spec.id.name for spec in reading.program.specs] == ["mixed"]
    assert "+" in next(each.digest for each in reading.facts if each.id.name == "mixed-warm")
    (tmp_path / "specs/d.yaml").write_text(JOB.replace("warmup", "warm"))
    assert compare(tmp_path)[1].failed


def test_files_without_a_document(tmp_path: Path) -> None:
    lay_out(tmp_path, {"a.yaml": "# nothing\n", "b.yaml": "---\n"})
    assert "SP115" in {each.code for each in compare(tmp_path)[1].diagnostics}


def test_one_identity_twice(tmp_path: Path) -> None:
    one = SET.replace("NAME", "one")
    lay_out(tmp_path, {"a.yaml": one, "b.yaml": one})
    assert "SP301" in {each.code for each in compare(tmp_path)[1].diagnostics}


def test_contents_that_were_read_before(tmp_path: Path) -> None:
    lay_out(tmp_path, {"a.yaml": SET.replace("NAME", "now")})
    content = SET.replace("NAME", "before").encode()
    reading = read(tmp_path, Report(), Before(contents={"specs/a.yaml": content}), processes=2)
    assert [each.id.name for each in reading.facts] == ["before"]
    assert [spec.id.name for spec in specs(reading)] == ["before"]
