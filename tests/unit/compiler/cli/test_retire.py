"""`stowplan retire`: runs that are over leave the output, and never come back."""

import re
from errno import ENOSPC
from pathlib import Path

import pytest

from stowplan.compiler.repository import own_files
from stowplan.compiler.yaml.run_list import with_runs
from tests.unit.compiler.committed.test_scaling import LEGACY, NATIVE, PLATFORM, compiled, jobs, runs, scaled
from tests.unit.outputs import in_one_file
from tests.unit.users import codes, diagnostics_of, laid_out, run

LIST = "stowplan.runs.yaml"


def retired(repo: Path, *names: str) -> str:
    result = run("retire", *names, "--repo", str(repo))
    assert result.exit_code == 0, result.output
    return result.output


def names(repo: Path) -> set[str]:
    return {name[:-9] for name in jobs(runs(repo))}


def test_a_run_that_is_retired_leaves_the_output_and_its_spec_stays(tmp_path: Path) -> None:
    compiled(tmp_path, LEGACY)
    before = names(tmp_path)
    assert "retired SampleJob default/rmr" in retired(tmp_path, "rmr")
    (found,) = [each for each in diagnostics_of("synth", str(tmp_path)) if each["code"] == "SP757"]
    assert (found["severity"], found["file"], found["line"]) == ("info", LIST, 4)
    assert "SampleJob default/rmr" in found["message"]
    assert names(tmp_path) == before - {"rmr-samplejob"}
    left = sorted(path.name for path in (tmp_path / "out/default/samplejob-rmr").iterdir())
    assert "samplejob-rmr.yaml" in left
    assert not [each for each in left if each.startswith(("job-", "configmap-"))]


def test_a_list_that_cannot_be_written_is_wrong_usage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled(tmp_path, LEGACY)

    def full(path: Path, *_: object) -> None:
        raise OSError(ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(own_files, "replace", full)
    result = run("retire", "rmr", "--repo", str(tmp_path))
    assert result.exit_code == 2
    assert "No space left on device" in result.output


@pytest.mark.parametrize("old", [False, True], ids=["one file for each spec", "the only file of 0.1.0"])
def test_only_the_inventory_of_its_spec_changes(tmp_path: Path, *, old: bool) -> None:
    compiled(tmp_path, LEGACY)
    lists = {path: path.read_bytes() for path in (tmp_path / "out/_inventory").rglob("*.jsonl")}
    if old:
        in_one_file(tmp_path / "out")
    retired(tmp_path, "rmr")
    compiled(tmp_path, LEGACY)
    after = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*.jsonl")}
    assert after.keys() == lists.keys()
    assert [path.name for path in lists if after[path] != lists[path]] == ["samplejob-rmr.jsonl"]
    assert run("synth", str(tmp_path), "--check").exit_code == 0


def test_the_list_says_in_each_later_command_what_is_kept_out(tmp_path: Path) -> None:
    compiled(tmp_path, LEGACY)
    retired(tmp_path, "default/rmr", "SampleJob default/clear")
    for _ in range(2):
        assert codes("synth", str(tmp_path)).count("info SP757") == 2
    assert codes("validate", str(tmp_path)).count("info SP757") == 2
    assert run("synth", str(tmp_path), "--check").exit_code == 0


@pytest.mark.parametrize(("spec", "field"), [(LEGACY, "partitions: 1"), (NATIVE, "nodes: 1")])
def test_a_retired_run_does_not_come_back_with_an_older_branch_or_more_nodes(
    tmp_path: Path, spec: str, field: str
) -> None:
    compiled(tmp_path, spec)
    retired(tmp_path, "data", "warmup", "rmr")
    compiled(tmp_path, spec)
    left = names(tmp_path)
    assert not [each for each in left if each.startswith(("data-", "warmup-", "rmr-"))]
    compiled(tmp_path, spec.partition("---")[0])
    compiled(tmp_path, spec)
    assert names(tmp_path) == left
    compiled(tmp_path, scaled(spec, field, 2), "2")
    assert not [each for each in names(tmp_path) if each.startswith(("data-", "warmup-", "rmr-"))]


def test_an_edited_spec_runs_again(tmp_path: Path) -> None:
    compiled(tmp_path, LEGACY)
    retired(tmp_path, "rmr")
    compiled(tmp_path, LEGACY)
    compiled(tmp_path, LEGACY.replace("paths: [old]", "paths: [older]"))
    assert "rmr-samplejob" in names(tmp_path)
    assert "info SP757" not in codes("synth", str(tmp_path))


def test_an_entry_that_is_removed_brings_the_run_back(tmp_path: Path) -> None:
    compiled(tmp_path, LEGACY)
    before = runs(tmp_path)
    retired(tmp_path, "rmr")
    compiled(tmp_path, LEGACY)
    (tmp_path / LIST).unlink()
    compiled(tmp_path, LEGACY)
    assert runs(tmp_path) == before


@pytest.mark.parametrize("name", ["nothing", "ml/rmr"])
def test_what_has_no_run_is_not_retired(tmp_path: Path, name: str) -> None:
    compiled(tmp_path, LEGACY)
    result = run("retire", name, "--repo", str(tmp_path))
    assert result.exit_code == 2
    assert f"There is no run of {name}" in " ".join(result.output.split())
    assert not (tmp_path / LIST).exists()


def test_a_run_is_listed_once(tmp_path: Path) -> None:
    compiled(tmp_path, LEGACY)
    retired(tmp_path, "rmr", "default/rmr")
    listed = (tmp_path / LIST).read_text()
    assert listed.count("SampleJob default/rmr") == 1
    assert run("retire", "rmr", "--repo", str(tmp_path)).exit_code == 2, "before the next synth"
    compiled(tmp_path, LEGACY)
    assert run("retire", "rmr", "--repo", str(tmp_path)).exit_code == 2
    assert (tmp_path / LIST).read_text() == listed


def test_comments_of_the_list_stay() -> None:
    before = "# Reviewed by Ada.\nruns:\n- spec: SampleJob ml/a # done in May\n  run: aaaaaaaa\n"
    after = with_runs(before, [{"spec": "SampleJob ml/b", "run": "bbbbbbbb"}], {}, "")
    assert after == f"{before}- spec: SampleJob ml/b\n  run: bbbbbbbb\n"


def test_a_list_of_before_stays_and_the_next_command_completes_it(tmp_path: Path) -> None:
    """Its entries have no digests; their runs do not come back."""
    compiled(tmp_path, LEGACY)
    retired(tmp_path, "rmr")
    compiled(tmp_path, LEGACY)
    left, whole = names(tmp_path), (tmp_path / LIST).read_text()
    assert whole.count("digest: sha256:") == 1
    before = "".join(line for line in whole.splitlines(keepends=True) if "digest" not in line)
    (tmp_path / LIST).write_text(before)
    compiled(tmp_path, LEGACY)
    assert names(tmp_path) == left
    assert (tmp_path / LIST).read_text() == before
    retired(tmp_path, "clear")
    assert (tmp_path / LIST).read_text().startswith(whole)
    compiled(tmp_path, LEGACY)
    assert names(tmp_path) < left


def test_another_run_with_the_same_hash_is_not_over(tmp_path: Path) -> None:
    compiled(tmp_path, LEGACY)
    before = names(tmp_path)
    retired(tmp_path, "rmr")
    text = (tmp_path / LIST).read_text()
    (tmp_path / LIST).write_text(re.sub("sha256:[0-9a-f]{64}", f"sha256:{'0' * 64}", text))
    compiled(tmp_path, LEGACY)
    assert names(tmp_path) == before


@pytest.mark.parametrize("text", ["runs: 1\n", "a: b\n", "runs: [\n", "- a\n"])
def test_a_file_that_is_no_list_is_not_written(text: str) -> None:
    assert with_runs(text, [{"spec": "SampleJob ml/b", "run": "bbbbbbbb"}], {}, "") is None


@pytest.mark.parametrize("text", ["runs: [{spec: rmr, run: aaaaaaaa}]", "runs: [{spec: SampleJob ml/a}]", "run: []"])
def test_a_wrong_list_is_an_error_at_its_line(tmp_path: Path, text: str) -> None:
    laid_out(tmp_path, LEGACY, PLATFORM.format(tag="1"))
    (tmp_path / LIST).write_text(text)
    found = [each for each in diagnostics_of("synth", str(tmp_path)) if each["severity"] == "error"]
    assert {each["file"] for each in found} == {LIST}
    assert found


ENVIRONMENTS = """\
environments:
- name: dev
- name: prod
  clusters:
  - {name: prod-a, server: https://a.example.com}
  - {name: prod-b, server: https://b.example.com}
"""


def test_a_run_is_over_in_the_environment_that_is_named(tmp_path: Path) -> None:
    laid_out(tmp_path, LEGACY, PLATFORM.format(tag="1") + ENVIRONMENTS)
    assert run("synth", str(tmp_path)).exit_code == 0
    refused = run("retire", "rmr", "--repo", str(tmp_path))
    assert refused.exit_code == 2
    assert "Name one of the environments: dev, prod." in refused.output
    result = run("retire", "rmr", "--repo", str(tmp_path), "--env", "prod")
    assert (result.exit_code, result.output.count("retired SampleJob default/rmr")) == (0, 1), result.output
    assert (tmp_path / LIST).read_text().count("environment: prod") == 1
    (found,) = [each for each in diagnostics_of("synth", str(tmp_path)) if each["code"] == "SP757"]
    assert found["message"].startswith("In prod: ")
    folders = {
        name: tmp_path / "out" / name / "default/samplejob-rmr" for name in ("dev", "prod/prod-a", "prod/prod-b")
    }
    assert {name: bool([*folder.glob("job-*")]) for name, folder in folders.items()} == {
        "dev": True,
        "prod/prod-a": False,
        "prod/prod-b": False,
    }
    assert run("synth", str(tmp_path), "--check").exit_code == 0
    assert run("retire", "rmr", "--repo", str(tmp_path), "--env", "prod").exit_code == 2
