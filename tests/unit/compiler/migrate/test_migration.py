"""`stowplan migrate`: legacy spellings become the canonical ones, and nothing else in the file changes."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from stowplan.compiler.cli import app
from stowplan.compiler.migrate.migration import migrate
from stowplan.compiler.yaml import reader
from stowplan.schema.diagnostics import Severity
from stowplan.schema.kinds.table import KINDS
from stowplan.schema.legacy import modernise
from tests.repositories import CORPUS

JOB = """\
# A job of 2018.
apiVersion: paddlepaddle.org/v1   # never served
kind: TrainingJob
metadata:
  name: example   # the name
  uid: 0a1b
spec:
  image: "paddle:0.14"

  trainer:
    # how often
    passes: 50
    min-instance:   2
    resources:
      limits: {alpha.kubernetes.io/nvidia-gpu: 1, memory: '4Gi'}
"""
MIGRATED = """\
# A job of 2018.
apiVersion: paddlepaddle.org/v1alpha1   # never served
kind: TrainingJob
metadata:
  name: example   # the name
spec:
  image: "paddle:0.14"

  trainer:
    # how often
    min-instance:   2
    resources:
      limits: {nvidia.com/gpu: 1, memory: '4Gi'}
  passes: 50
"""


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ("migrate", *arguments), catch_exceptions=False)


def migrated(text: str) -> str | None:
    return migrate(text, "a.yaml").text


def test_only_legacy_spellings_change() -> None:
    result = migrate(JOB, "a.yaml")
    assert result.text == MIGRATED
    places = [(each.code, each.location.line) for each in result.diagnostics]
    assert places == [("SP212", 2), ("SP211", 6), ("SP212", 12), ("SP212", 15)]
    assert migrate(MIGRATED, "a.yaml").text is None


def test_lines_keep_their_ends() -> None:
    assert migrated(JOB.replace("\n", "\r\n")) == MIGRATED.replace("\n", "\r\n")


def test_a_file_without_a_last_line_end() -> None:
    spec = "kind: TrainingJob\napiVersion: paddlepaddle.org/v1alpha1\nspec:\n  trainer:\n    passes: 5\n    image: x"
    text = migrated(spec)
    assert text
    assert text.endswith("    image: x\n  passes: 5\n")


def test_every_document_of_a_file() -> None:
    text = "# top\n---\n{}---\n{}---\n{}"
    assert migrated(text.format(JOB, MIGRATED, JOB)) == text.format(MIGRATED, MIGRATED, MIGRATED)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("metadata: {uid: a, name: b}", "metadata: {name: b}"),
        ("metadata: {name: b, uid: a}", "metadata: {name: b}"),
        ("metadata: {name: b, uid: a, generation: 2}", "metadata: {name: b}"),
        ("metadata: {uid: a, generation: 2, name: b}", "metadata: {name: b}"),
        ("metadata: {uid: a, name: b, generation: 2}", "metadata: {name: b}"),
        (
            "metadata:\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: |\n      {}\n  name: b",
            "metadata:\n  name: b",
        ),
        (
            "metadata:\n  finalizers: [paddlepaddle.org/sampleset-protection, mine]\n  name: b",
            "metadata:\n  finalizers: [mine]\n  name: b",
        ),
        (
            "metadata:\n  finalizers:\n  - mine\n  - finalizers.paddlepaddle.org\n  name: b",
            "metadata:\n  finalizers:\n  - mine\n  name: b",
        ),
        (
            "spec:\n  csi:\n    juiceFSMountOptions:\n      subdir: a # where",
            "spec:\n  csi:\n    juiceFSMountOptions:\n      sub-dir: a # where",
        ),
        ("status:\n  phase: Ready\n  list:\n  - a\nspec: {}", "spec: {}"),
        ("spec:\n  - uid", None),
    ],
)
def test_places(before: str, after: str | None) -> None:
    head = "apiVersion: batch.paddlepaddle.org/v1alpha1\nkind: SampleSet\n"
    assert migrated(f"{head}{before}\n") == (None if after is None else f"{head}{after}\n")


def test_behind_an_alias_nothing_is_rewritten() -> None:
    text = "kind: SampleSet\nspec: &a {uid: c, namespace: d}\nmetadata: {<<: *a, name: b}\n"
    result = migrate(text, "a.yaml")
    assert result.text is None
    assert [(each.code, each.severity) for each in result.diagnostics] == [("SP211", Severity.ERROR)]
    assert "by hand" in result.diagnostics[0].hint


def test_a_file_that_cannot_be_parsed() -> None:
    result = migrate("kind: [", "a.yaml")
    assert result.text is None
    assert [each.code for each in result.diagnostics] == ["SP101"]


def test_foreign_kinds_are_unchanged() -> None:
    assert migrate("kind: Deployment\nmetadata: {uid: a}\n", "a.yaml").diagnostics == ()


def test_files_and_folders(tmp_path: Path) -> None:
    (tmp_path / "specs/.hidden").mkdir(parents=True)
    for name in ("a.yaml", "b.yml", "c.txt", ".hidden/d.yaml"):
        (tmp_path / "specs" / name).write_text(JOB)
    (tmp_path / "specs/a.yaml").chmod(0o640)
    done = run(str(tmp_path / "specs"))
    assert done.exit_code == 0
    assert f"rewrote {tmp_path}/specs/a.yaml\nrewrote {tmp_path}/specs/b.yml\n" in done.output
    texts = {path.name: path.read_text() for path in (tmp_path / "specs").rglob("*") if path.is_file()}
    assert texts == {"a.yaml": MIGRATED, "b.yml": MIGRATED, "c.txt": JOB, "d.yaml": JOB}
    assert (tmp_path / "specs/a.yaml").stat().st_mode & 0o777 == 0o640
    assert run(str(tmp_path / "specs")).output.endswith("Nothing to rewrite.\n")


def test_check_changes_nothing_and_fails(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(JOB)
    done = run(str(tmp_path / "a.yaml"), "--check", "--format", "json")
    assert done.exit_code == 1
    reported = json.loads(done.output)
    assert reported["files"] == [f"{tmp_path}/a.yaml"]
    assert len(reported["diagnostics"]) == 4
    assert (tmp_path / "a.yaml").read_text() == JOB
    run(str(tmp_path / "a.yaml"))
    assert run(str(tmp_path / "a.yaml"), "--check").exit_code == 0


def test_what_a_killed_command_left_is_removed(tmp_path: Path) -> None:
    """Also where every file was rewritten before the command was killed; by `--check`, which changes nothing, not."""
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs/a.yaml").write_text("apiVersion: v1\nkind: ConfigMap\n")
    left = tmp_path / "specs" / f".stowplan-{'0123456789abcdef' * 2}"
    left.write_text("half")
    assert run(str(tmp_path), "--check").exit_code == 0
    assert left.exists()
    assert run(str(tmp_path)).exit_code == 0
    assert [each.name for each in (tmp_path / "specs").iterdir()] == ["a.yaml"]


def test_a_byte_order_mark_is_kept(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"\xef\xbb\xbf" + JOB.encode())
    run(str(tmp_path / "a.yaml"))
    assert (tmp_path / "a.yaml").read_bytes() == b"\xef\xbb\xbf" + MIGRATED.encode()


def test_a_link_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    (tmp_path / "real.yaml").write_text(JOB)
    (tmp_path / "a.yaml").symlink_to("real.yaml")
    run(str(tmp_path / "a.yaml"))
    assert (tmp_path / "a.yaml").is_symlink()
    assert (tmp_path / "real.yaml").read_text() == MIGRATED


def test_a_missing_file(tmp_path: Path) -> None:
    done = run(str(tmp_path / "no.yaml"))
    assert done.exit_code == 1
    assert "SP112" in done.output


@pytest.mark.skipif(not CORPUS, reason="../shared/corpus is not there")
def test_documents_of_the_old_systems_mean_the_same_afterwards() -> None:
    """The result has no legacy spelling."""
    rewritten = 0
    for text in CORPUS.values():
        result = migrate(text, "a.yaml")
        assert not any(each.severity is Severity.ERROR for each in result.diagnostics)
        if result.text is None:
            continue
        rewritten += 1
        before, after = (reader.read(each, "a.yaml")[0] for each in (text, result.text))
        for old, new in zip(before, after, strict=True):
            kind = KINDS.get(old.root.data["kind"])
            assert new.root.data == (modernise(kind.model, old.root.data)[0] if kind else old.root.data)
    assert rewritten >= 2
