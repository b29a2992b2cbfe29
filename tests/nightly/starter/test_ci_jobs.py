"""The jobs of `stowplan init` and the action of this repository: the effects of their shell steps."""

import hashlib
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.starter.ci import Runner
from tests.starter.repository import StarterRepository
from tests.starter.test_ci_jobs import (
    GITLAB,
    NONE,
    SPEC,
    WORKFLOW,
    action,
    action_inputs,
    action_job,
    github,
    gitlab,
    gitlab_check,
    merge_request,
    pull_request,
    workflow,
)
from tests.unit.outputs import in_one_file

JOB = "ml/training-mnist-train/job-mnist-train-training-node.yaml"
MISTAKE = (SPEC, "numNodes: 2", "numNode: 2")
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def github_push(runner: Runner, before: str, programs: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The starter's workflow for a push."""
    context = {"GITHUB_BASE_REF": "", "github.event.before": before, "github.event_name": "push"}
    return runner.run(workflow(runner), context, programs)


def gitlab_push(runner: Runner, before: str, programs: Path | None = None) -> subprocess.CompletedProcess[str]:
    return runner.run(gitlab_check(runner), {"CI_COMMIT_BEFORE_SHA": before}, programs)


def action_push(runner: Runner, before: str, programs: Path | None = None) -> subprocess.CompletedProcess[str]:
    context = action_inputs() | {"GITHUB_BASE_REF": "", "github.event.before": before}
    return runner.run(action_job(), context, programs)


PUSHES = [github_push, gitlab_push, action_push]


def compile_and_commit(repo: StarterRepository) -> None:
    repo.must("stowplan", "synth")
    repo.must("git", "add", "-A")
    repo.must("git", "commit", "-qm", "Compile")


@pytest.mark.parametrize("job", [github, gitlab, action])
def test_what_is_up_to_date_passes(runner: Runner, job: Any) -> None:
    done = job(runner)
    assert done.returncode == 0, done.stdout
    assert all((site / "bin/stowplan").is_file() for site in runner.installations.done.values())


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
    compile_and_commit(runner.repo)
    assert github(runner).returncode == 0
    summary = (runner.repo.root.parent / "summary.md").read_text()
    assert summary.startswith("### Stowplan\n\n**1 run ends and starts again; ")
    assert "`spec.completions: 2 → 3`" in summary


@pytest.mark.parametrize("job", [github, gitlab, action])
def test_reviewers_get_a_page_and_a_comment(runner: Runner, job: Any) -> None:
    runner.repo.edit(SPEC, "numNodes: 2", "numNodes: 3")
    compile_and_commit(runner.repo)
    folder = runner.repo.root / "review of it"
    done = job(runner, review=str(folder)) if job is action else job(runner)
    assert done.returncode == 0, done.stdout
    made = {github: runner.repo.root.parent / "artifacts/stowplan-review", gitlab: runner.repo.root / "review"}
    found = made.get(job, folder)
    assert "1 run ends and starts again" in (found / "comment.md").read_text()
    assert "<html" in (found / "report.html").read_text()
    if job is github:
        by_itself = runner.repo.root.parent / "artifacts/report.html"
        assert by_itself.read_bytes() == (found / "report.html").read_bytes()


@pytest.mark.parametrize(("risks", "code"), [("rerun", 1), ("security, rerun", 1), ("security,data-loss", 0), ("", 0)])
@pytest.mark.parametrize("provider", ["github", "gitlab"])
def test_risks_that_the_variable_names_fail_the_check(runner: Runner, provider: str, risks: str, code: int) -> None:
    """After the comment is made, since it says why."""
    file = runner.repo.root / (WORKFLOW if provider == "github" else GITLAB)
    assert file.read_text().count('FAIL_ON: ""') == 1
    file.write_text(file.read_text().replace('FAIL_ON: ""', f'FAIL_ON: "{risks}"'))
    runner.repo.edit(SPEC, "numNodes: 2", "numNodes: 3")
    compile_and_commit(runner.repo)
    done = github(runner) if provider == "github" else gitlab(runner)
    assert done.returncode == code, done.stdout
    assert ("rerun: Job ml/mnist-train" in done.stdout) == bool(code)
    root = runner.repo.root
    made = root / "review" if provider == "gitlab" else root.parent / "artifacts/stowplan-review"
    assert (made / "comment.md").is_file()


def test_a_repository_below_the_root_and_an_output_elsewhere(runner: Runner) -> None:
    root = runner.repo.root
    for name in ("stowplan.yaml", "specs"):
        (root / "my data").mkdir(exist_ok=True)
        (root / name).rename(root / "my data" / name)
    runner.repo.must("stowplan", "synth", "my data", "--out", "made here")
    runner.repo.must("git", "add", "-A")
    runner.repo.must("git", "commit", "-qm", "Move")
    assert action(runner, repository="my data", out="made here").returncode == 0
    assert action(runner, repository="my data").returncode == 1
    line = runner.repo.edit(f"my data/{SPEC}", *MISTAKE[1:])
    assert f"::error file=my data/specs/mnist-train.yaml,line={line}," in action(runner, repository="my data").stdout


def test_inputs_are_not_run(runner: Runner) -> None:
    done = action(runner, repository="$(touch hacked)", out="; touch hacked #")
    assert done.returncode == 2
    done = action(runner, review="$(touch hacked)`touch hacked`;")
    assert done.returncode == 0, done.stdout
    assert not (runner.repo.root / "hacked").exists()


# The commit that the output is compared with.


@pytest.fixture
def recorder(tmp_path: Path) -> Path:
    """A folder with a `stowplan` that prints the base it is given, and makes an empty file for `-o`."""
    program = tmp_path / "recorder/stowplan"
    program.parent.mkdir()
    program.write_text(
        """#!/bin/bash
previous=""
for each; do
  case "$previous" in -o) touch "$each" ;; --base) printf 'base=%s\\n' "$each" ;; esac
  previous="$each"
done
"""
    )
    program.chmod(0o755)
    return program.parent


def bases(done: subprocess.CompletedProcess[str]) -> set[str]:
    """The bases that the commands of a job were given; those that go into files are not among them."""
    assert done.returncode == 0, done.stdout
    return set(re.findall(r"^base=(.*)$", done.stdout, re.MULTILINE))


def base(done: subprocess.CompletedProcess[str]) -> str:
    (found,) = bases(done)
    return found


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
    assert bases(runner.run(workflow(runner), context, recorder)) == {"refs/remotes/origin/main"}
    assert bases(runner.run(action_job(), action_inputs() | context, recorder)) == {"refs/remotes/origin/main"}
    assert bases(runner.run(action_job(), action_inputs(base="release") | context, recorder)) == {"release"}
    request = merge_request()
    assert bases(runner.run(gitlab_check(runner), request, recorder)) == {"refs/remotes/origin/main"}
    request["CI_MERGE_REQUEST_TARGET_BRANCH_SHA"] = "2" * 40
    assert bases(runner.run(gitlab_check(runner), request, recorder)) == {"2" * 40}


def forge(repo: StarterRepository) -> None:
    """Put another image into a run, and the digest of that into the inventory, and commit it."""
    file, inventory = repo.root / "out" / JOB, in_one_file(repo.root / "out")
    content = file.read_bytes().replace(b"ml/mnist:1.0", b"ml/evil:1.0")
    file.write_bytes(content)
    head, *lines = inventory.read_text().splitlines()
    entries = [json.loads(line) for line in lines]
    (entry,) = (each for each in entries if each["path"] == JOB)
    entry |= {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}
    entry.pop("compiled", None)
    inventory.write_text("\n".join([head, *(json.dumps(each, sort_keys=True) for each in entries)]) + "\n")
    repo.must("git", "add", "-A")
    repo.must("git", "commit", "-qm", "forged")


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
    step = next(each["run"] for each in workflow(runner).steps if "--no-deps" in each.get("run", ""))
    assert runner.installations.install(step, runner.repo.root, tmp_path / "site", {}) == 1
    assert not (tmp_path / "site").exists()
