"""Environments for a repository that has an output already: `stowplan adopt`."""

import json
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
  - {name: prod-a}
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


def adopt(name: str = "prod/prod-a") -> None:
    done = run(f"adopt {name}")
    assert done.exit_code == 0, done.output


def test_the_output_goes_on_in_the_place_that_adopts_it(repo: Path) -> None:
    before = contents(repo / "out")
    told = run("adopt prod/prod-a").output
    assert f"{len(before)} files moved to out/prod/prod-a. Run `stowplan synth` and commit both." in told
    assert f"Once that is merged, apply {PLACE / 'argocd/root.yaml'} to Argo CD's cluster." in told
    assert contents(repo / PLACE) == before
    assert sorted(path.name for path in (repo / "out").iterdir()) == ["prod"]
    found: dict[str, Any] = json.loads(run("synth --format json").stdout)["environments"]
    assert found["prod/prod-a"]["starts"] == []
    assert [len(found[name]["starts"]) for name in ("dev", "prod/prod-b")] == [1, 1]
    after = contents(repo / PLACE)
    assert {path for path in after if not is_inventory(path)} == before.keys() - {"inventory.jsonl"}
    changed = {path for path in before.keys() & after if after[path] != before[path]}
    assert {path.partition("/")[0] for path in changed} == {"argocd"}
    job = next(path for path in after if "/job-" in path)
    assert b"activeDeadlineSeconds: 9999" in after[job]
    assert b"path: out/prod/prod-a/ml" in after["argocd/application-stowplan-ns-ml.yaml"]
    again = run("synth --check --base HEAD")
    assert again.exit_code == 0, again.output


def test_without_the_command_the_old_output_is_refused_and_the_way_named(repo: Path) -> None:
    before = contents(repo / "out")
    for command in ("synth", "synth --check --base HEAD"):
        result = run(command)
        assert result.exit_code == 1
        assert re.search("SP808: This output was written before.*\n.*Run `stowplan adopt NAME`", result.output)
    assert contents(repo / "out") == before


def test_a_command_that_was_stopped_goes_on(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is stopped before it moves each file, one after the other."""
    before = contents(repo / "out")
    move = Path.rename
    for number in range(len(before)):
        done: list[Path] = []

        def stopped(source: Path, path: Path, number: int = number, done: list[Path] = done) -> Path:
            if len(done) == number:
                raise KeyboardInterrupt
            done.append(source)
            return move(source, path)

        with monkeypatch.context() as patched:
            patched.setattr(Path, "rename", stopped)
            assert run("adopt prod/prod-a").exit_code != 0, number
        adopt()
        assert contents(repo / PLACE) == before, number
        shutil.copytree(repo / PLACE, repo.parent / "back")
        shutil.rmtree(repo / "out")
        shutil.move(repo.parent / "back", repo / "out")


def test_an_output_of_this_version_is_adopted_too(repo: Path) -> None:
    """It has a file of the inventory for each spec."""
    (repo / "stowplan.yaml").write_text(ALONE)
    assert run("synth").exit_code == 0
    assert (repo / "out/_inventory/ml/training-mnist.jsonl").is_file()
    _commit("Two")
    before = contents(repo / "out")
    (repo / "stowplan.yaml").write_text(PLATFORM)
    assert "SP808" in run("synth --check --base HEAD").output
    adopt()
    assert json.loads(run("synth --format json").stdout)["environments"]["prod/prod-a"]["starts"] == []
    after = contents(repo / PLACE)
    assert after.keys() == before.keys()
    changed = {path.partition("/")[0] for path in before if after[path] != before[path]}
    assert changed == {"_inventory", "argocd"}
    again = run("synth --check --base HEAD")
    assert again.exit_code == 0, again.output


def test_files_of_others_stay(repo: Path) -> None:
    note = repo / "out/ml/note.txt"
    note.write_text("Mine.")
    adopt()
    assert note.read_text() == "Mine."
    assert not list((repo / "out/ml").glob("*/*.yaml"))


def test_nothing_is_put_in_the_place_of_another_file(repo: Path) -> None:
    before = contents(repo / "out")
    (repo / PLACE / "argocd").mkdir(parents=True)
    (repo / PLACE / "argocd/root.yaml").write_text("Mine.")
    result = run("adopt prod/prod-a")
    assert result.exit_code == 2
    assert "root.yaml is there already." in " ".join(result.output.split())
    assert contents(repo / "out") == before | {"prod/prod-a/argocd/root.yaml": b"Mine."}


def test_diff_shows_what_changes_by_adopting(repo: Path) -> None:
    adopt()
    for options in ("", "--base HEAD"):
        changes = json.loads(run(f"diff --format json {options}").stdout)["environments"]["prod/prod-a"]["changes"]
        kinds = {(each["action"], each["kind"]) for each in changes}
        assert kinds <= {("changed", "Application"), ("changed", "AppProject")}, (options, kinds)


def test_the_field_of_before_names_the_command(repo: Path) -> None:
    (repo / "stowplan.yaml").write_text(PLATFORM.replace("name: prod-a", "name: prod-a, adopts: ."))
    result = run("synth")
    assert result.exit_code == 1
    assert "error SP815: The command `stowplan adopt prod/prod-a` takes over the output" in result.output
    adopt()
    result = run("synth")
    assert result.exit_code == 0
    assert re.search("warning SP815: .*\n.*\n  help: Remove the field.", result.output)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("prod", "Name one of its clusters: prod/prod-a, prod/prod-b."),
        ("stage", "There is no environment stage."),
        ("dev", "goes to the cluster https://kubernetes.default.svc, and dev is another one"),
    ],
)
def test_a_place_that_cannot_adopt_is_refused(repo: Path, name: str, told: str) -> None:
    before = contents(repo / "out")
    result = run(f"adopt {name}")
    assert result.exit_code == 2
    assert told in " ".join(result.output.replace("│", " ").split())
    assert contents(repo / "out") == before
    adopt()
    assert "has no output of the time before" in " ".join(run("adopt prod/prod-a").output.replace("│", " ").split())


def test_a_namespace_may_be_called_like_the_environment(repo: Path) -> None:
    (repo / "stowplan.yaml").write_text(ALONE)
    (repo / "specs/dev.yaml").write_text(SPEC.replace("ml}", "dev}"))
    assert run("synth").exit_code == 0
    (repo / "stowplan.yaml").write_text(ALONE + "environments: [{name: dev}]\n")
    adopt("dev")
    assert run("synth").exit_code == 0
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
        file.write("environments: [{name: prod}]\n")
    adopt(f"prod --repo {old}")
    assert json.loads(run(f"synth {old} --format json").stdout)["environments"]["prod"]["starts"] == []
    assert contents(old / "out/prod").items() >= first.items()
