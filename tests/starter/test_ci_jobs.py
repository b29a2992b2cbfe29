"""The jobs of `stowplan init` and the action of this repository: their form, and the effects of their shell steps.

Each step runs as in its service, with an installation of Stowplan by the job's own `pip install`. Its dependencies are
those of the tests. Steps with other actions are left out.
"""

import hashlib
import json
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

from stowplan.compiler.generate import starter
from tests.repositories import REPOSITORY
from tests.starter.repository import PROGRAMS, StarterRepository
from tests.unit.outputs import in_one_file

WORKFLOW, GITLAB = ".github/workflows/stowplan.yaml", ".gitlab-ci.yml"
ACTION = REPOSITORY / ".github/actions/check/action.yml"
SPEC, JOB = "specs/mnist-train.yaml", "ml/training-mnist-train/job-mnist-train-training-node.yaml"
MISTAKE = (SPEC, "numNodes: 2", "numNode: 2")
NONE = "0" * 40
"""What services give for the commit before a push where there is none."""
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

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

    @property
    def requirement(self) -> str:
        """The wheel as `requirements/stowplan.txt` names it, once a person has written its hash there."""
        (wheel,) = (self.root / "wheels").iterdir()
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        return f"stowplan=={wheel.name.split('-')[1]} --hash=sha256:{digest}\n"

    def install(self, step: str, folder: Path, target: Path, variables: Mapping[str, str]) -> int:
        """Run an install step in a folder; its exit code."""
        pip = {"FIND_LINKS": self.root / "wheels", "NO_INDEX": 1, "TARGET": target}
        own = {f"PIP_{name}": str(value) for name, value in pip.items()}
        path = {"PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(self.root / "tools")}
        environment = {**os.environ, **own, **path, **variables}
        return subprocess.run([*BASH, step], cwd=folder, env=environment, check=False).returncode

    def environment(self, step: str, folder: Path, variables: Mapping[str, str]) -> dict[str, str]:
        """The environment of a machine after an install step."""
        if step not in self.done:
            self.done[step] = self.root / f"site-{len(self.done)}"
            assert self.install(step, folder, self.done[step], variables) == 0
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

    def steps(
        self, steps: list[dict[str, Any]], context: Mapping[str, str], programs: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run them until one fails; the last one that ran. Conditions on the event are taken to hold.

        Commands in the folder `programs` are found before those that are installed.
        """
        machine: dict[str, str] = {}
        done = None
        for step in (each for each in steps if "run" in each):
            own = {name: filled(value, context) for name, value in step.get("env", {}).items()}
            if step["run"].startswith("pip install --require-hashes "):
                continue
            if step["run"].startswith("pip install "):
                machine = self.installations.environment(step["run"], self.repo.root, own)
                if programs:
                    machine["PATH"] = f"{programs}{os.pathsep}{machine['PATH']}"
                continue
            done = self.repo.run(*BASH, step["run"], environment={"CI": "true"} | machine | own | dict(context))
            if done.returncode:
                break
        assert done
        return done


def filled(text: str, context: Mapping[str, str]) -> str:
    """A value with the expressions in it replaced, as the service does it before a step runs."""
    return re.sub(r"\$\{\{ *([\w.]+) *\}\}", lambda found: context[found[1]], text)


@pytest.fixture
def runner(begun: StarterRepository, installations: Installations) -> Runner:
    (begun.root / "requirements/stowplan.txt").write_text(installations.requirement)
    begun.must("git", "commit", "-qam", "Say where Stowplan comes from")
    return Runner(begun, installations)


def load(file: Path) -> Any:
    return YAML(typ="safe").load(file)


def pull_request(runner: Runner) -> dict[str, str]:
    """What GitHub tells a step in a pull request."""
    runner.repo.must("git", "update-ref", "refs/remotes/origin/main", "HEAD")
    summary = str(runner.repo.root.parent / "summary.md")
    return {"GITHUB_BASE_REF": "main", "github.event.before": "", "GITHUB_STEP_SUMMARY": summary}


def workflow_steps(runner: Runner) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = load(runner.repo.root / WORKFLOW)["jobs"]["check"]["steps"]
    return steps


def gitlab_steps(runner: Runner) -> list[dict[str, Any]]:
    return [{"run": line} for line in load(runner.repo.root / GITLAB)["stowplan"]["script"]]


def action_inputs(**inputs: str) -> dict[str, str]:
    """The context of the action of this repository, with its defaults for inputs that are not given."""
    given = {name: inputs.get(name, each["default"]) for name, each in load(ACTION)["inputs"].items()}
    return {f"inputs.{name}": value for name, value in given.items()} | {"github.action_path": str(ACTION.parent)}


def github(runner: Runner) -> subprocess.CompletedProcess[str]:
    """The starter's workflow for a pull request."""
    return runner.steps(workflow_steps(runner), pull_request(runner))


def gitlab(runner: Runner) -> subprocess.CompletedProcess[str]:
    """The starter's job for a merge request."""
    base = runner.repo.must("git", "rev-parse", "HEAD").strip()
    return runner.steps(gitlab_steps(runner), {"CI_MERGE_REQUEST_DIFF_BASE_SHA": base, "CI_COMMIT_BEFORE_SHA": NONE})


def action(runner: Runner, **inputs: str) -> subprocess.CompletedProcess[str]:
    """The action of this repository for a pull request."""
    return runner.steps(load(ACTION)["runs"]["steps"], action_inputs(**inputs) | pull_request(runner))


def github_push(runner: Runner, before: str, programs: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The check of the starter's workflow for a push; the page of what changes is for pull requests."""
    steps = [each for each in workflow_steps(runner) if "if" not in each]
    return runner.steps(steps, {"GITHUB_BASE_REF": "", "github.event.before": before}, programs)


def gitlab_push(runner: Runner, before: str, programs: Path | None = None) -> subprocess.CompletedProcess[str]:
    return runner.steps(gitlab_steps(runner)[:3], {"CI_COMMIT_BEFORE_SHA": before}, programs)


def action_push(runner: Runner, before: str, programs: Path | None = None) -> subprocess.CompletedProcess[str]:
    context = action_inputs() | {"GITHUB_BASE_REF": "", "github.event.before": before}
    return runner.steps(load(ACTION)["runs"]["steps"], context, programs)


PUSHES = [github_push, gitlab_push, action_push]


@pytest.mark.parametrize("job", [github, gitlab, action])
def test_what_is_up_to_date_passes(runner: Runner, job: Any) -> None:
    done = job(runner)
    assert done.returncode == 0, done.stdout
    assert all((site / "bin/stowplan").is_file() for site in runner.installations.done.values())


@pytest.mark.parametrize("job", [github, gitlab, action])
def test_what_is_out_of_date_fails_with_a_diff(runner: Runner, job: Any) -> None:
    runner.repo.edit(SPEC, "numNodes: 2", "numNodes: 3")
    done = job(runner)
    assert done.returncode == 1
    assert {"-  completions: 2", "+  completions: 3"} <= set(done.stdout.splitlines())


@pytest.mark.parametrize(
    ("job", "words"),
    [
        (github, "::error file=specs/mnist-train.yaml,line={},col=3,title=SP201 spec.numNode::"),
        (gitlab, "specs/mnist-train.yaml:{}:3: error SP201"),
        (action, "::error file=specs/mnist-train.yaml,line={},col=3,title=SP201 spec.numNode::"),
    ],
)
def test_a_mistake_fails_at_its_line(runner: Runner, job: Any, words: str) -> None:
    line = runner.repo.edit(*MISTAKE)
    done = job(runner)
    assert done.returncode == 1
    assert words.format(line) in done.stdout


def test_the_page_of_a_pull_request_says_what_changes(runner: Runner) -> None:
    runner.repo.edit(SPEC, "numNodes: 2", "numNodes: 3")
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


# The commit that the output is compared with.


@pytest.fixture
def recorder(tmp_path: Path) -> Path:
    """A folder with a `stowplan` that prints the base it is given and does nothing."""
    program = tmp_path / "recorder/stowplan"
    program.parent.mkdir()
    program.write_text('#!/bin/bash\nwhile [ "$1" != --base ]; do shift; done; printf "base=%s\\n" "$2"\n')
    program.chmod(0o755)
    return program.parent


def base(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stdout
    (found,) = re.findall(r"^base=(.*)$", done.stdout, re.MULTILINE)
    return str(found)


def commit(repo: StarterRepository, message: str) -> str:
    repo.must("git", "commit", "-q", "--allow-empty", "-m", message)
    return repo.must("git", "rev-parse", "HEAD").strip()


@pytest.mark.parametrize("push", PUSHES)
def test_a_push_is_compared_with_what_the_branch_was(runner: Runner, recorder: Path, push: Any) -> None:
    """Not with the parent alone: that may be another commit of the same push."""
    before, *_ = (commit(runner.repo, message) for message in "abc")
    for message in "bc":
        commit(runner.repo, message)
    assert base(push(runner, before, recorder)) == before


@pytest.mark.parametrize("push", PUSHES)
@pytest.mark.parametrize("before", ["", NONE, "1" * 40])
def test_a_first_or_a_forced_push_is_compared_with_the_parent(
    runner: Runner, recorder: Path, push: Any, before: str
) -> None:
    parent = runner.repo.must("git", "rev-parse", "HEAD").strip()
    commit(runner.repo, "a")
    assert base(push(runner, before, recorder)) == parent


@pytest.mark.parametrize("push", PUSHES)
def test_the_very_first_commit_is_compared_with_an_empty_one(runner: Runner, recorder: Path, push: Any) -> None:
    """So nothing in it is believed, and everything has to be what the specs compile to."""
    runner.repo.must("git", "checkout", "-q", "--orphan", "other")
    commit(runner.repo, "a")
    found = base(push(runner, NONE, recorder))
    assert runner.repo.must("git", "cat-file", "-t", found).strip() == "commit"
    assert runner.repo.must("git", "rev-parse", f"{found}^{{tree}}").strip() == EMPTY_TREE


@pytest.mark.parametrize("push", PUSHES)
def test_the_very_first_push_passes(runner: Runner, push: Any) -> None:
    runner.repo.must("git", "checkout", "-q", "--orphan", "other")
    commit(runner.repo, "a")
    done = push(runner, NONE)
    assert done.returncode == 0, done.stdout


def test_requests_are_compared_with_the_branch_they_go_to(runner: Runner, recorder: Path) -> None:
    """Never with their own parent, which the author made as well."""
    context = pull_request(runner)
    steps = [each for each in workflow_steps(runner) if "if" not in each]
    assert base(runner.steps(steps, context, recorder)) == "origin/main"
    assert base(runner.steps(load(ACTION)["runs"]["steps"], action_inputs() | context, recorder)) == "origin/main"
    given = action_inputs(base="release") | context
    assert base(runner.steps(load(ACTION)["runs"]["steps"], given, recorder)) == "release"
    request = {"CI_MERGE_REQUEST_DIFF_BASE_SHA": "1" * 40, "CI_COMMIT_BEFORE_SHA": NONE}
    assert base(runner.steps(gitlab_steps(runner)[:3], request, recorder)) == "1" * 40


def forge(repo: StarterRepository) -> None:
    """Put another image into a committed run, and the digest of that into the inventory."""
    file, inventory = repo.root / "out" / JOB, in_one_file(repo.root / "out")
    content = file.read_bytes().replace(b"ml/mnist:1.0", b"ml/evil:1.0")
    file.write_bytes(content)
    head, *lines = inventory.read_text().splitlines()
    entries = [json.loads(line) for line in lines]
    (entry,) = (each for each in entries if each["path"] == JOB)
    entry |= {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}
    entry.pop("compiled", None)
    inventory.write_text("\n".join([head, *(json.dumps(each, sort_keys=True) for each in entries)]) + "\n")


@pytest.mark.parametrize("job", [github, gitlab, action])
def test_a_forged_run_fails(runner: Runner, job: Any) -> None:
    forge(runner.repo)
    done = job(runner)
    assert done.returncode == 1
    assert "SP519" in done.stdout


@pytest.mark.parametrize("push", PUSHES)
def test_a_run_that_was_forged_in_an_earlier_commit_of_a_push_fails(runner: Runner, push: Any) -> None:
    before = runner.repo.must("git", "rev-parse", "HEAD").strip()
    forge(runner.repo)
    runner.repo.must("git", "commit", "-qam", "forged")
    commit(runner.repo, "innocent")
    done = push(runner, before)
    assert done.returncode == 1
    assert "SP519" in done.stdout


# What is installed.


def test_a_program_with_another_hash_is_not_installed(runner: Runner, tmp_path: Path) -> None:
    """As if somebody had put another file under the same name and version on an index."""
    requirement = runner.repo.root / "requirements/stowplan.txt"
    digest = requirement.read_text().strip()[-64:]
    requirement.write_text(requirement.read_text().replace(digest, "1" * 64))
    step = next(each["run"] for each in workflow_steps(runner) if "--no-deps" in each.get("run", ""))
    assert runner.installations.install(step, runner.repo.root, tmp_path / "site", {}) == 1
    assert not (tmp_path / "site").exists()
