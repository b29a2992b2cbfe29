"""An edit that replaces an object, or is not allowed, is reported at the edited field."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.unit.users import PLATFORM, SPEC, diagnostics_of, laid_out, run

TASK = """\
---
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleJob
metadata:
  name: more
spec:
  type: sync
  sampleSetRef:
    name: imagenet
  secretRef:
    name: imagenet
  syncOptions:
    source: s3://more.s3.eu-west-1.amazonaws.com/
    threads: 5
"""


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(laid_out(tmp_path, SPEC + TASK))
    assert run("synth").exit_code == 0
    return tmp_path


def places(repo: Path, before: str, after: str, platform: str = PLATFORM) -> set[tuple[str, str, int]]:
    """Return code, field and line of the diagnostics after an edit."""
    edited = (SPEC + TASK).replace(before, after)
    assert edited != SPEC + TASK
    laid_out(repo, edited, platform)
    return {(each["code"], each["fieldPath"], each["line"]) for each in diagnostics_of("synth")}


@pytest.mark.parametrize(
    ("before", "after", "field", "line"),
    [
        ("/train/", "/test/", "spec.source.uri", 8),
        ("  cache:\n", "  csi: {juiceFSMountOptions: {sub-dir: /a}}\n  cache:\n", "spec.csi", 11),
    ],
)
def test_a_replaced_run_is_reported_at_the_edited_field(
    repo: Path, before: str, after: str, field: str, line: int
) -> None:
    found = {place for place in places(repo, before, after) if place[0] == "SP542"}
    assert ("SP542", field, line) in found
    assert found <= {("SP542", field, line), *((code, path, at) for code, path, at in found if "sampleSetRef" in path)}


def test_a_replaced_task_is_reported_at_its_own_edit(repo: Path) -> None:
    assert places(repo, "threads: 5", "threads: 7") == {("SP542", "spec.syncOptions.threads", 28)}


def test_a_task_of_an_edited_dataset_is_reported_at_its_reference(repo: Path) -> None:
    edited = SPEC.replace("  cache:\n", "  csi: {juiceFSMountOptions: {sub-dir: /a}}\n  cache:\n")
    laid_out(repo, edited + TASK)
    found = {(each["fieldPath"], each["line"]) for each in diagnostics_of("synth") if each["code"] == "SP542"}
    assert found == {("spec.csi", 11), ("spec.sampleSetRef.name", 24)}


def test_the_first_of_several_edits_is_reported(repo: Path) -> None:
    edited = SPEC.replace("/train/", "/test/").replace("partitions: 1", "partitions: 2")
    laid_out(repo, edited)
    assert {(each["fieldPath"], each["line"]) for each in diagnostics_of("synth")} == {("spec.partitions", 6)}


def test_a_fixed_field_is_reported_at_its_source_field(repo: Path) -> None:
    edited = SPEC.replace("partitions: 1", "partitions: 2").replace("    name: imagenet", "    name: other")
    laid_out(repo, edited)
    found = {each["code"]: each["fieldPath"] for each in diagnostics_of("synth")}
    assert found["SP540"] == "spec.secretRef.name"


def test_a_finding_without_an_edit_is_placed_at_the_name_of_the_spec(repo: Path) -> None:
    laid_out(repo, platform=PLATFORM + "names: upstream\n")
    assert {each["fieldPath"] for each in diagnostics_of("synth") if each["code"] == "SP540"} == {"metadata.name"}


def test_the_two_merges_that_the_hint_names_pass_the_check(repo: Path) -> None:
    committed(repo)
    edited = SPEC.replace("    name: imagenet", "    name: other")
    laid_out(repo, edited)
    (hint,) = {each["hint"] for each in diagnostics_of("synth") if each["code"] == "SP540"}
    assert hint.endswith(
        "or merge a change without it, delete the PersistentVolume from the cluster if it is there, and merge it again."
    )
    for spec in (SPEC.replace("imagenet", "mnist"), edited):
        laid_out(repo, spec)
        assert run("synth").exit_code == 0
        assert run("synth", "--check", "--base", "HEAD").exit_code == 0
        committed(repo)


def committed(repo: Path) -> None:
    git = ("git", "-c", "user.name=author", "-c", "user.email=author@example.com", "-C", str(repo))
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "Merge"]):
        subprocess.run([*git, *words], check=True)


# Names of the platform.


def hints(repo: Path, platform: str) -> list[dict[str, Any]]:
    laid_out(repo, SPEC + TASK, platform)
    return diagnostics_of("synth")


def test_renamed_data_is_reported_with_the_reason(repo: Path) -> None:
    found = hints(repo, PLATFORM + "names: upstream\n")
    assert {each["code"] for each in found} >= {"SP540", "SP541"}
    assert all("`names`" in each["hint"] for each in found if each["code"] in ("SP540", "SP541"))


def test_a_removed_dataset_has_nothing_to_do_with_names(repo: Path) -> None:
    (repo / "specs/imagenet.yaml").write_text(SPEC.replace("name: imagenet\nspec", "name: speech\nspec"))
    assert [each["code"] for each in diagnostics_of("synth") if "`names`" in each["hint"]] == []
