"""`synth` over a committed output: an edit of where an output goes copies again, and does not train again."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.unit.users import laid_out, run

PLATFORM = """\
images: {{registry: registry.example.com/ml, tag: "{tag}"}}
engines: {{jobs: {jobs}}}
"""
SPECS = """\
apiVersion: stowplan.dev/v1alpha1
kind: Dataset
metadata: {name: runs}
spec:
  volume: {juicefs: {secretRef: {name: jfs}}}
---
apiVersion: stowplan.dev/v1alpha1
kind: Training
metadata: {name: llm}
spec:
  framework: torch
  image: registry.example.com/ml/llm:1
  numNodes: 2
  datasets: [{name: runs, mountPath: /runs, readOnly: false}]
  outputs:
    - {path: /runs/final, to: {claim: {name: archive}}}
    - {path: /runs/logs, to: {claim: {name: logs}}}
"""
ENGINES = ["core", "jobset"]


def compiled(repo: Path, specs: str = SPECS, *arguments: str, jobs: str, tag: str = "1") -> str:
    """Write the specs and return the output of `synth`."""
    laid_out(repo, specs, PLATFORM.format(tag=tag, jobs=jobs))
    result = run("synth", str(repo), *arguments)
    assert result.exit_code == 0, result.output
    return result.output


def files(repo: Path) -> dict[str, str]:
    """The committed Jobs and JobSets."""
    found = sorted((repo / "out/default/training-llm").glob("job*.yaml"))
    return {path.name.removeprefix("job").removeprefix("set").strip("-"): path.read_text() for path in found}


@pytest.mark.parametrize("jobs", ENGINES)
def test_another_place_copies_one_output_again_and_nothing_else(tmp_path: Path, jobs: str) -> None:
    compiled(tmp_path, jobs=jobs)
    before = files(tmp_path)
    said = compiled(tmp_path, SPECS.replace("archive", "elsewhere"), jobs=jobs)
    after = files(tmp_path)
    assert before.keys() == after.keys()
    assert [name for name in before if before[name] != after[name]] == ["llm-training-output-0.yaml"]
    assert "SP54" not in said


@pytest.mark.parametrize("jobs", ENGINES)
def test_newer_agents_leave_run_and_outputs_alone(tmp_path: Path, jobs: str) -> None:
    compiled(tmp_path, jobs=jobs)
    before = files(tmp_path)
    assert "SP54" not in compiled(tmp_path, jobs=jobs, tag="2")
    assert files(tmp_path) == before


@pytest.mark.parametrize("jobs", ENGINES)
def test_an_edit_of_the_training_trains_and_copies_again(tmp_path: Path, jobs: str) -> None:
    compiled(tmp_path, jobs=jobs)
    before = files(tmp_path)
    assert "SP542" in compiled(tmp_path, SPECS.replace("llm:1", "llm:2"), jobs=jobs)
    after = files(tmp_path)
    assert [name for name in before if before[name] == after[name]] == []


@pytest.mark.parametrize("jobs", ENGINES)
def test_an_output_that_is_added_is_copied_from_the_run_that_there_is(tmp_path: Path, jobs: str) -> None:
    less = SPECS.replace("    - {path: /runs/logs, to: {claim: {name: logs}}}\n", "")
    compiled(tmp_path, less, jobs=jobs)
    before = files(tmp_path)
    assert "SP54" not in compiled(tmp_path, jobs=jobs)
    after = files(tmp_path)
    assert {name: after[name] for name in before} == before
    assert after.keys() - before.keys() == {"llm-training-output-1.yaml"}


EDITS = {
    "another place": ("archive", "elsewhere"),
    "when": ("{path: /runs/logs,", "{path: /runs/logs, when: always,"),
    "one less": ("    - {path: /runs/logs, to: {claim: {name: logs}}}\n", ""),
    "none": (SPECS[SPECS.index("  outputs:") :], ""),
    "one more": (
        "    - {path: /runs/logs,",
        "    - {path: /runs/more, to: {claim: {name: more}}}\n    - {path: /runs/logs,",
    ),
}


def bodies(repo: Path, pattern: str) -> list[dict[str, Any]]:
    """The committed objects of the Training with file names of this pattern, in the order of their names."""
    return [yaml.safe_load(path.read_text()) for path in sorted((repo / "out/default/training-llm").glob(pattern))]


def trains(repo: Path) -> str:
    """The name of the Job or JobSet that trains."""
    found = [each["metadata"]["name"] for each in bodies(repo, "job*.yaml")]
    (name,) = (each for each in found if "-output-" not in each)
    return str(name)


def follow(repo: Path) -> set[str]:
    """The names of the runs that the Jobs of outputs wait for, and may read."""
    pods = [each["spec"]["template"]["spec"] for each in bodies(repo, "job-*-output-*.yaml")]
    arguments = [pod["initContainers"][0]["args"] for pod in pods]
    named = {args[args.index("--job" if "--job" in args else "--job-set") + 1] for args in arguments}
    read = {name for each in bodies(repo, "role-*-outputs.yaml") for name in each["rules"][0]["resourceNames"]}
    assert named == read
    for role, binding in zip(
        bodies(repo, "role-*-outputs.yaml"), bodies(repo, "rolebinding-*-outputs.yaml"), strict=True
    ):
        assert role["metadata"]["name"] == binding["roleRef"]["name"] == binding["metadata"]["name"]
    return named


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("jobs", ENGINES)
def test_an_edit_of_the_outputs_with_newer_agents_does_not_train_again(tmp_path: Path, jobs: str, edit: str) -> None:
    compiled(tmp_path, jobs=jobs)
    before, name = files(tmp_path), trains(tmp_path)
    assert "SP54" not in compiled(tmp_path, SPECS.replace(*EDITS[edit]), jobs=jobs, tag="2")
    after = files(tmp_path)
    assert trains(tmp_path) == name
    assert [each for each in before if "output" not in each and before[each] != after[each]] == []
    assert follow(tmp_path) == ({name} if edit != "none" else set())


@pytest.mark.parametrize("jobs", ENGINES)
def test_copies_of_a_committed_run_stay_as_they_are_until_their_outputs_change(tmp_path: Path, jobs: str) -> None:
    compiled(tmp_path, jobs=jobs)
    other, third = SPECS.replace("archive", "elsewhere"), SPECS.replace("archive", "third")
    compiled(tmp_path, other, jobs=jobs, tag="2")
    before, name = files(tmp_path), trains(tmp_path)
    for tag in ("2", "3", "1"):
        said = compiled(tmp_path, other, jobs=jobs, tag=tag)
        assert "SP51" not in said
        assert "SP54" not in said
        assert files(tmp_path) == before
    compiled(tmp_path, third, jobs=jobs, tag="2")
    assert follow(tmp_path) == {trains(tmp_path)} == {name}
    after = files(tmp_path)
    named = {path: [yaml.safe_load(each[path])["metadata"]["name"] for each in (before, after)] for path in after}
    assert [path for path, (old, new) in named.items() if old != new] == ["llm-training-output-0.yaml"]


def test_a_committed_run_of_another_engine_is_the_one_that_is_copied(tmp_path: Path) -> None:
    compiled(tmp_path, jobs="core")
    name = trains(tmp_path)
    for arguments in (
        ("init", "-q"),
        ("add", "-A"),
        ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"),
    ):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True)
    compiled(tmp_path, SPECS.replace("archive", "elsewhere"), "--base", "HEAD", jobs="jobset", tag="2")
    assert trains(tmp_path) == name
    assert follow(tmp_path) == {name}
    (role,) = bodies(tmp_path, "role-*-outputs.yaml")
    assert role["rules"][0]["apiGroups"] == ["batch"]


def test_a_copy_on_the_node_of_the_trainer_stays_near_the_committed_run(tmp_path: Path) -> None:
    claim = "{template: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}"
    near = SPECS.replace("numNodes: 2", f"checkpoints: {{mountPath: /runs, claim: {claim}}}")
    near = near.replace("  datasets: [{name: runs, mountPath: /runs, readOnly: false}]\n", "")
    compiled(tmp_path, near, jobs="core")
    name = trains(tmp_path)
    compiled(tmp_path, near.replace("archive", "elsewhere"), jobs="core", tag="2")
    assert follow(tmp_path) == {trains(tmp_path)} == {name}
    for body in bodies(tmp_path, "job-*-output-*.yaml"):
        (term,) = body["spec"]["template"]["spec"]["affinity"]["podAffinity"][
            "requiredDuringSchedulingIgnoredDuringExecution"
        ]
        assert name.endswith(term["labelSelector"]["matchLabels"]["stowplan.dev/run-hash"])


def test_a_copy_that_was_changed_by_hand_is_compiled_anew_and_nothing_trains(tmp_path: Path) -> None:
    compiled(tmp_path, jobs="core")
    before = files(tmp_path)
    path = tmp_path / "out/default/training-llm/job-llm-training-output-0.yaml"
    path.write_text(path.read_text().replace("cpu", "gpu"))
    laid_out(tmp_path, SPECS, PLATFORM.format(tag="2", jobs="core"))
    assert run("synth", str(tmp_path)).exit_code == 0
    assert follow(tmp_path) == {trains(tmp_path)}
    after = files(tmp_path)
    assert [each for each in before if "output" not in each and before[each] != after[each]] == []
