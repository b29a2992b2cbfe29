"""Environments for a repository that has an output already: `adopts: .`."""

import json
import os
import re
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import stowplan.library.constructs  # noqa: F401 - brings the Node that `synth` needs, before a test changes folder
from stowplan.compiler.cli import app
from stowplan.compiler.output.inventory_files import is_inventory
from tests.repositories import REPOSITORY
from tests.unit.outputs import in_one_file

ALONE = """\
images: {registry: registry.example.com/ml, tag: "1"}
argocd: {repoURL: https://git.example.com/ml/data.git}
"""
PLATFORM = (
    ALONE
    + """\
environments:
- name: dev
  set: {argocd: {destination: {server: https://dev.example.com}}}
- name: prod
  clusters:
  - {name: prod-a, adopts: .}
  - {name: prod-b, server: https://b.example.com}
"""
)
SPEC = """\
apiVersion: stowplan.dev/v1alpha1
kind: Training
metadata: {name: mnist, namespace: ml}
spec: {framework: torch, image: "registry.example.com/ml/mnist:1", command: [python, train.py]}
"""
PLACE = Path("out/prod/prod-a")


@pytest.fixture(autouse=True)
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with an output of the time before it had environments, with a run that another version compiled.

    The test is in it, and the commit `HEAD` has all of that.
    """
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "repo"
    (folder / "specs").mkdir(parents=True)
    (folder / "stowplan.yaml").write_text(ALONE)
    (folder / "specs/mnist.yaml").write_text(SPEC)
    monkeypatch.chdir(folder)
    assert run("synth").exit_code == 0
    _age(folder / "out")
    subprocess.run(["git", "init"], check=True, capture_output=True)
    _commit("One")
    (folder / "stowplan.yaml").write_text(PLATFORM)
    return folder


def _commit(message: str) -> None:
    for arguments in (["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-m", message]):
        subprocess.run(["git", *arguments], check=True, capture_output=True)


def _age(out: Path) -> None:
    """Change the Job of the run and the inventory as if version 0.1.0 had compiled them."""
    (job,) = out.glob("ml/*/job-*.yaml")
    text = job.read_text().replace("backoffLimit: ", "activeDeadlineSeconds: 9999\n  backoffLimit: ")
    job.write_text(text)
    lines = []
    inventory = in_one_file(out)
    for line in inventory.read_text().splitlines():
        entry = json.loads(line)
        entry.pop("compiled", None)
        if entry.get("path") == job.relative_to(out).as_posix():
            entry |= {"sha256": sha256(text.encode()).hexdigest(), "size": len(text.encode())}
        lines.append(json.dumps(entry, sort_keys=True))
    inventory.write_text("\n".join(lines) + "\n")


def run(command: str) -> Result:
    return CliRunner().invoke(app, command.split(), catch_exceptions=False)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_output_goes_on_in_the_place_that_adopts_it(repo: Path) -> None:
    before = contents(repo / "out")
    found: dict[str, Any] = json.loads(run("synth --format json").stdout)["environments"]
    assert found["prod/prod-a"]["starts"] == []
    assert [len(found[name]["starts"]) for name in ("dev", "prod/prod-b")] == [1, 1]
    after = contents(repo / PLACE)
    assert sorted(path.name for path in (repo / "out").iterdir()) == ["dev", "prod"]
    assert {path for path in after if not is_inventory(path)} == before.keys() - {"inventory.jsonl"}
    changed = {path for path in before.keys() & after if after[path] != before[path]}
    assert {path.partition("/")[0] for path in changed} == {"argocd"}
    job = next(path for path in after if "/job-" in path)
    assert b"activeDeadlineSeconds: 9999" in after[job]
    assert b"path: out/prod/prod-a/ml" in after["argocd/application-stowplan-ns-ml.yaml"]
    again = run("synth --check --base HEAD")
    assert again.exit_code == 0, again.output


def test_the_second_command_changes_nothing(repo: Path) -> None:
    hint = f"prod/prod-a took over the output. Once it is merged, apply {PLACE / 'argocd/root.yaml'} to Argo CD's"
    assert hint in run("synth").output
    before = contents(repo / "out")
    again = run("synth")
    assert (again.exit_code, "took over" in again.output) == (0, False)
    assert contents(repo / "out") == before


def test_check_refuses_until_it_is_adopted(repo: Path) -> None:
    before = contents(repo / "out")
    result = run("synth --check --base HEAD")
    assert result.exit_code == 1
    assert "SP808" in result.output
    assert "prod/prod-a adopts it: run `stowplan synth`" in result.output
    assert contents(repo / "out") == before


def test_nothing_moves_if_there_is_an_error(repo: Path) -> None:
    before = contents(repo / "out")
    (repo / "specs/mnist.yaml").write_text(SPEC.replace("torch", "[]"))
    assert run("synth").exit_code == 1
    assert contents(repo / "out") == before


def test_a_command_that_crashed_before_it_removed_the_old_files_is_ended_by_the_next(repo: Path) -> None:
    before = contents(repo / "out")
    run("synth")
    after = contents(repo / "out")
    for path, content in before.items():
        (repo / "out" / path).parent.mkdir(parents=True, exist_ok=True)
        (repo / "out" / path).write_bytes(content)
    assert run("synth").exit_code == 0
    assert contents(repo / "out") == after


def test_a_command_that_was_stopped_while_it_adopts_is_ended_by_the_next(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is stopped before it puts the first file in place whose path begins with `where`."""
    before = shutil.copytree(repo, repo.parent / "before")
    assert run("synth").exit_code == 0
    whole = contents(repo / "out")
    put = os.replace
    for where in (".stowplan-tmp-inventory", "ml/", "argocd/", "_inventory/argocd/", "_inventory/ml/"):

        def stopped(source: str, path: str, where: str = where) -> None:
            if f"{PLACE}/{where}" in str(path):
                raise KeyboardInterrupt
            put(source, path)

        shutil.rmtree(repo / "out")
        shutil.copytree(before / "out", repo / "out")
        with monkeypatch.context() as patched:
            patched.setattr(os, "replace", stopped)
            assert run("synth").exit_code != 0, where
        assert contents(repo / "out") != whole
        result = run("synth --format json")
        assert json.loads(result.stdout)["environments"]["prod/prod-a"]["starts"] == [], where
        assert contents(repo / "out") == whole, where


def test_an_output_of_this_version_is_adopted_too(repo: Path) -> None:
    """It has a file of the inventory for each spec."""
    (repo / "stowplan.yaml").write_text(ALONE)
    assert run("synth").exit_code == 0
    assert (repo / "out/_inventory/ml/training-mnist.jsonl").is_file()
    _commit("Two")
    before = contents(repo / "out")
    (repo / "stowplan.yaml").write_text(PLATFORM)
    assert "SP808" in run("synth --check --base HEAD").output
    assert json.loads(run("synth --format json").stdout)["environments"]["prod/prod-a"]["starts"] == []
    assert sorted(path.name for path in (repo / "out").iterdir()) == ["dev", "prod"]
    after = contents(repo / PLACE)
    assert after.keys() == before.keys()
    changed = {path.partition("/")[0] for path in before if after[path] != before[path]}
    assert changed == {"_inventory", "argocd"}
    again = run("synth --check --base HEAD")
    assert again.exit_code == 0, again.output


def test_files_of_others_stay(repo: Path) -> None:
    note = repo / "out/ml/note.txt"
    note.write_text("Mine.")
    assert run("synth").exit_code == 0
    assert note.read_text() == "Mine."
    assert not list((repo / "out/ml").glob("*/*.yaml"))


def test_diff_shows_what_changes_by_adopting(repo: Path) -> None:
    for options in ("", "--base HEAD"):
        changes = json.loads(run(f"diff --format json {options}").stdout)["environments"]["prod/prod-a"]["changes"]
        kinds = {(each["action"], each["kind"]) for each in changes}
        assert kinds <= {("changed", "Application"), ("changed", "AppProject")}, (options, kinds)


def test_without_adopts_the_old_output_is_refused_and_the_way_named(repo: Path) -> None:
    (repo / "stowplan.yaml").write_text(PLATFORM.replace(", adopts: .", ""))
    result = run("synth")
    assert result.exit_code == 1
    assert re.search("SP808: This output was written before.*\n.*Write `adopts: .`", result.output)


def test_taking_adopts_away_later_is_refused(repo: Path) -> None:
    """The Applications would get another name."""
    run("synth")
    (repo / "stowplan.yaml").write_text(PLATFORM.replace(", adopts: .", ""))
    result = run("synth")
    assert result.exit_code == 1
    assert "SP812" in result.output


def test_the_cluster_stays_the_same(repo: Path) -> None:
    (repo / "stowplan.yaml").write_text(PLATFORM.replace("adopts: .", 'server: "https://a.example.com", adopts: .'))
    result = run("synth")
    assert result.exit_code == 1
    assert "SP815: The output that is adopted goes to the cluster https://kubernetes.default.svc" in result.output
    assert (repo / "out/inventory.jsonl").exists()


def test_a_namespace_may_be_called_like_the_environment(repo: Path) -> None:
    (repo / "stowplan.yaml").write_text(ALONE)
    (repo / "specs/dev.yaml").write_text(SPEC.replace("ml}", "dev}"))
    assert run("synth").exit_code == 0
    (repo / "stowplan.yaml").write_text(ALONE + "environments: [{name: dev, adopts: .}]\n")
    assert run("synth").exit_code == 0
    assert sorted(path.name for path in (repo / "out").iterdir()) == ["dev"]
    assert (repo / "out/dev/dev/training-mnist").is_dir()
    assert not (repo / "out/dev/training-mnist").exists()
    assert run("synth --check --base HEAD").exit_code == 0


def test_a_repository_of_0_1_0_is_upgraded_and_adopted_and_runs_nothing_again(repo: Path) -> None:
    """What `tests/nightly/argocd/of_0_1_0` holds was compiled by that version."""
    old = repo.parent / "old"
    shutil.copytree(REPOSITORY / "tests/nightly/argocd/of_0_1_0", old)
    first = {path: content for path, content in contents(old / "out").items() if "/job-" in path}
    assert json.loads(run(f"synth {old} --format json").stdout)["starts"] == []
    assert contents(old / "out").items() >= first.items()
    assert not (old / "out/inventory.jsonl").exists()
    assert (old / "out/_inventory").is_dir()
    assert run(f"synth {old} --check").exit_code == 0
    with (old / "stowplan.yaml").open("a") as file:
        file.write("environments: [{name: prod, adopts: .}]\n")
    assert json.loads(run(f"synth {old} --format json").stdout)["environments"]["prod"]["starts"] == []
    assert contents(old / "out/prod").items() >= first.items()
    assert [path.name for path in (old / "out").iterdir()] == ["prod"]
