"""The jobs of `stowplan init` and the action of this repository: their form, and that their steps run.

Each step runs as in its service, by `ci.py`.
"""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from stowplan.compiler.generate import starter
from stowplan.compiler.generate.starter.ci_files import Ci
from tests.repositories import REPOSITORY
from tests.starter.ci import Job, Runner, github_job, gitlab_job, load
from tests.starter.repository import PROGRAMS

WORKFLOW, GITLAB = ".github/workflows/stowplan.yaml", ".gitlab-ci.yml"
ACTION = REPOSITORY / ".github/actions/check/action.yml"
SPEC = "specs/mnist-train.yaml"
NONE = "0" * 40
"""What services give for the commit before a push where there is none."""


def check_form(schema: str, *arguments: str | Path) -> None:
    command = [PROGRAMS / "check-jsonschema", "--builtin-schema", f"vendor.{schema}", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_they_have_the_form_that_their_services_want(tmp_path: Path) -> None:
    for ci in Ci:
        starter.write(tmp_path / ci, ci=ci)
    check_form("github-workflows", *tmp_path.glob("*/.github/workflows/*"))
    check_form("gitlab-ci", "--data-transform", "gitlab-ci", *tmp_path.glob(f"*/{GITLAB}"))
    check_form("github-actions", ACTION)


def pull_request(runner: Runner) -> dict[str, str]:
    """What GitHub tells a step in a pull request."""
    summary = str(runner.repo.root.parent / "summary.md")
    return {
        "GITHUB_BASE_REF": "main",
        "GITHUB_STEP_SUMMARY": summary,
        "github.event.pull_request.number": "7",
        "github.event_name": "pull_request",
    }


def workflow(runner: Runner) -> Job:
    return github_job(runner.repo.root / WORKFLOW, "check")


def gitlab_check(runner: Runner) -> Job:
    return gitlab_job(runner.repo.root / GITLAB, "stowplan")


def action_job() -> Job:
    return Job(load(ACTION)["runs"]["steps"])


def action_inputs(**inputs: str) -> dict[str, str]:
    """The context of the action of this repository, with its defaults for inputs that are not given."""
    given = {name: inputs.get(name, each["default"]) for name, each in load(ACTION)["inputs"].items()}
    return {f"inputs.{name}": value for name, value in given.items()} | {"github.action_path": str(ACTION.parent)}


def github(runner: Runner) -> subprocess.CompletedProcess[str]:
    """The starter's workflow for a pull request."""
    return runner.run(workflow(runner), pull_request(runner))


def merge_request() -> dict[str, str]:
    """What GitLab tells a job in a merge request."""
    return {
        "CI_MERGE_REQUEST_IID": "7",
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": "1" * 40,
        "CI_COMMIT_BEFORE_SHA": NONE,
    }


def gitlab(runner: Runner) -> subprocess.CompletedProcess[str]:
    """The starter's job for a merge request."""
    return runner.run(gitlab_check(runner), merge_request())


def action(runner: Runner, **inputs: str) -> subprocess.CompletedProcess[str]:
    """The action of this repository for a pull request."""
    return runner.run(action_job(), action_inputs(**inputs) | pull_request(runner))


@pytest.mark.parametrize("job", [github, gitlab, action])
def test_what_is_out_of_date_fails_with_a_diff(runner: Runner, job: Any) -> None:
    runner.repo.edit(SPEC, "numNodes: 2", "numNodes: 3")
    done = job(runner)
    assert done.returncode == 1
    assert {"-  completions: 2", "+  completions: 3"} <= set(done.stdout.splitlines())
