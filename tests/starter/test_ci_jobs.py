"""The jobs that `stowplan init` writes and the action of this repository: their form, and what their shell steps do.

Each step is run as its service runs it, with an installation made by the very `pip install` of the job. Steps that use
actions of others are left out.
"""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from stowplan.compiler import starter
from tests.repositories import REPOSITORY
from tests.starter.repository import PROGRAMS, StarterRepository

pytestmark = pytest.mark.xdist_group("starter")

WORKFLOW, GITLAB = ".github/workflows/stowplan.yaml", ".gitlab-ci.yml"
ACTION = REPOSITORY / ".github/actions/check/action.yml"
SPEC = "specs/mnist-train.yaml"
MISTAKE = (SPEC, "replicas: 2", "replica: 2")


BASH = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c")
"""As GitHub runs a step of `shell: bash`; GitLab stops at the first error as well."""


def check_form(file: Path, schema: str, *more: str) -> None:
    done = subprocess.run(
        [PROGRAMS / "check-jsonschema", "--builtin-schema", schema, *more, file],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_they_have_the_form_that_their_services_want(tmp_path: Path) -> None:
    starter.write(tmp_path)
    check_form(tmp_path / WORKFLOW, "vendor.github-workflows")
    check_form(tmp_path / GITLAB, "vendor.gitlab-ci", "--data-transform", "gitlab-ci")
    check_form(ACTION, "vendor.github-actions")


@dataclass(frozen=True)
class Installations:
    """What the install steps of the jobs install, each once: into a folder of its own below `root`."""

    root: Path
    """Has the build tools in `tools`, and in `wheels` this version of Stowplan, as a package index would have it."""
    done: dict[str, Path] = field(default_factory=dict)

    def environment(self, step: str, variables: Mapping[str, str]) -> dict[str, str]:
        """The environment of a machine after an install step."""
        if step not in self.done:
            self.done[step] = self.root / f"site-{len(self.done)}"
            pip = {"FIND_LINKS": self.root / "wheels", "NO_DEPS": 1, "NO_BUILD_ISOLATION": 0, "TARGET": self.done[step]}
            own = {f"PIP_{name}": str(value) for name, value in pip.items()}
            path = {"PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(self.root / "tools")}
            done = subprocess.run([*BASH, step], env={**os.environ, **own, **path, **variables}, check=False)
            assert done.returncode == 0
        site = self.done[step]
        return {
            "PYTHONPATH": str(site),
            "PATH": os.pathsep.join(map(str, (site / "bin", PROGRAMS, os.environ["PATH"]))),
        }


@pytest.fixture(scope="module")
def installations(tmp_path_factory: pytest.TempPathFactory) -> Installations:
    root = tmp_path_factory.mktemp("installations")
    commands: tuple[tuple[str | Path, ...], ...] = (
        ("install", "hatchling>=1.27", "--target", root / "tools"),
        ("wheel", REPOSITORY, "--no-deps", "--wheel-dir", root / "wheels"),
    )
    for command in commands:
        done = subprocess.run(
            [sys.executable, "-m", "pip", "--quiet", *command], capture_output=True, text=True, check=False
        )
        if done.returncode:
            message = f"pip cannot build Stowplan here: {done.stderr[-500:]}"
            if os.environ.get("CI") == "true":
                pytest.fail(message)
            pytest.skip(message)
    return Installations(root)


@dataclass(frozen=True)
class Runner:
    """The machine of a CI service."""

    repo: StarterRepository
    installations: Installations

    def steps(self, steps: list[dict[str, Any]], context: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        """Runs them until one fails; the last one that ran. Conditions on the event are taken to hold."""
        machine: dict[str, str] = {}
        done = None
        for step in (each for each in steps if "run" in each):
            own = {name: filled(value, context) for name, value in step.get("env", {}).items()}
            if step["run"].startswith("pip install "):
                machine = self.installations.environment(step["run"], own)
                continue
            done = self.repo.run(*BASH, step["run"], environment=machine | own | dict(context))
            if done.returncode:
                break
        assert done
        return done


def filled(text: str, context: Mapping[str, str]) -> str:
    """A value with the expressions in it replaced, as the service does it before a step runs."""
    return re.sub(r"\$\{\{ *([\w.]+) *\}\}", lambda found: context[found[1]], text)


@pytest.fixture
def runner(begun: StarterRepository, installations: Installations) -> Runner:
    return Runner(begun, installations)


def load(file: Path) -> Any:
    return YAML(typ="safe").load(file)


def github(runner: Runner) -> subprocess.CompletedProcess[str]:
    """The starter's workflow for a pull request."""
    runner.repo.must("git", "update-ref", "refs/remotes/origin/main", "HEAD")
    context = {"GITHUB_BASE_REF": "main", "GITHUB_STEP_SUMMARY": str(runner.repo.root.parent / "summary.md")}
    return runner.steps(load(runner.repo.root / WORKFLOW)["jobs"]["check"]["steps"], context)


def gitlab(runner: Runner) -> subprocess.CompletedProcess[str]:
    """The starter's job."""
    return runner.steps([{"run": line} for line in load(runner.repo.root / GITLAB)["stowplan"]["script"]], {})


def action(runner: Runner, **inputs: str) -> subprocess.CompletedProcess[str]:
    """The action of this repository, with its defaults for inputs that are not given."""
    definition = load(ACTION)
    given = {name: inputs.get(name, each["default"]) for name, each in definition["inputs"].items()}
    context = {f"inputs.{name}": value for name, value in given.items()}
    return runner.steps(definition["runs"]["steps"], context | {"github.action_path": str(ACTION.parent)})


@pytest.mark.parametrize("job", [github, gitlab, action])
def test_what_is_up_to_date_passes(runner: Runner, job: Any) -> None:
    done = job(runner)
    assert done.returncode == 0, done.stdout
    assert all((site / "bin/stowplan").is_file() for site in runner.installations.done.values())


@pytest.mark.parametrize("job", [github, gitlab, action])
def test_what_is_out_of_date_fails_with_a_diff(runner: Runner, job: Any) -> None:
    runner.repo.edit(SPEC, "replicas: 2", "replicas: 3")
    done = job(runner)
    assert done.returncode == 1
    assert {"-  completions: 2", "+  completions: 3"} <= set(done.stdout.splitlines())


@pytest.mark.parametrize(
    ("job", "words"),
    [
        (github, "::error file=specs/mnist-train.yaml,line={},col=5,title=SP201 spec.worker.replica::"),
        (gitlab, "specs/mnist-train.yaml:{}:5: error SP201"),
        (action, "::error file=specs/mnist-train.yaml,line={},col=5,title=SP201 spec.worker.replica::"),
    ],
)
def test_a_mistake_fails_at_its_line(runner: Runner, job: Any, words: str) -> None:
    line = runner.repo.edit(*MISTAKE)
    done = job(runner)
    assert done.returncode == 1
    assert words.format(line) in done.stdout


def test_the_page_of_a_pull_request_says_what_changes(runner: Runner) -> None:
    runner.repo.edit(SPEC, "replicas: 2", "replicas: 3")
    runner.repo.must("stowplan", "synth")
    assert github(runner).returncode == 0
    summary = (runner.repo.root.parent / "summary.md").read_text()
    assert summary.startswith("### Stowplan: ")
    assert "`spec.completions: 2 → 3`" in summary


def test_a_repository_below_the_root_and_an_output_elsewhere(runner: Runner) -> None:
    root = runner.repo.root
    for name in ("stowplan.yaml", "specs"):
        (root / "my data").mkdir(exist_ok=True)
        (root / name).rename(root / "my data" / name)
    runner.repo.must("stowplan", "synth", "my data", "--out", "made here")
    assert action(runner, repository="my data", out="made here").returncode == 0
    assert action(runner, repository="my data").returncode == 1
    line = runner.repo.edit(f"my data/{SPEC}", *MISTAKE[1:])
    assert f"::error file=my data/specs/mnist-train.yaml,line={line}," in action(runner, repository="my data").stdout


def test_inputs_are_not_run(runner: Runner) -> None:
    done = action(runner, repository="$(touch hacked)", out="; touch hacked #")
    assert done.returncode == 2
    assert not (runner.repo.root / "hacked").exists()
