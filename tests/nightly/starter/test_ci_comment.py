"""The comment on a request: from the check of the starter's CI to a server of GitHub or GitLab."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.comment_services import HEAD, OWN, TOKEN, Service, service
from tests.starter.ci import Installations, Runner, github_job, gitlab_job
from tests.starter.repository import StarterRepository

WORKFLOWS, GITLAB = ".github/workflows", ".gitlab-ci.yml"
SPEC = "specs/mnist-train.yaml"


@pytest.fixture(params=["github", "gitlab"])
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def server(provider: str) -> Iterator[Service]:
    with service(provider) as state:
        yield state


@pytest.fixture
def trusted(runner: Runner, installations: Installations) -> Runner:
    """The machine that writes the comment: it has the main branch, and nothing of the pull request but artifacts."""
    shutil.copytree(runner.repo.root, runner.repo.root.parent / "trusted/repo")
    return Runner(StarterRepository(runner.repo.root.parent / "trusted/repo"), installations)


def check(runner: Runner, provider: str, number: str = "7") -> int:
    """The check of the request, which has no token. Its artifacts stay."""
    if provider == "gitlab":
        job = gitlab_job(runner.repo.root / GITLAB, "stowplan")
        request = {"CI_MERGE_REQUEST_IID": number, "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main"}
        return runner.run(job, request).returncode
    context = {
        "GITHUB_BASE_REF": "main",
        "GITHUB_STEP_SUMMARY": str(runner.repo.root.parent / "summary.md"),
        "github.event.pull_request.number": number,
        "github.event_name": "pull_request",
    }
    return runner.run(github_job(runner.repo.root / WORKFLOWS / "stowplan.yaml", "check"), context).returncode


def comment(
    runner: Runner, trusted: Runner, provider: str, server: Service, head: str = HEAD
) -> subprocess.CompletedProcess[str]:
    """The job that writes the comment, with what the check of the request has made."""
    if provider == "gitlab":
        context = {
            "CI_API_V4_URL": server.url,
            "CI_PROJECT_ID": "3",
            "CI_MERGE_REQUEST_IID": "7",
            "CI_COMMIT_SHA": head,
            "CI_PIPELINE_URL": "https://gitlab.example.com/ml/data/-/pipelines/1",
            "STOWPLAN_COMMENT_TOKEN": TOKEN,
        }
        # The files that the job before hands on.
        shutil.rmtree(trusted.repo.root / "review", ignore_errors=True)
        if (runner.repo.root / "review").exists():
            shutil.copytree(runner.repo.root / "review", trusted.repo.root / "review")
        return trusted.run(gitlab_job(trusted.repo.root / GITLAB, "stowplan-comment"), context)
    context = {
        "GITHUB_API_URL": server.url,
        "GITHUB_REPOSITORY": "ml/data",
        "github.token": TOKEN,
        "github.event.workflow_run.head_sha": head,
        "github.event.workflow_run.html_url": "https://github.com/ml/data/actions/runs/1",
        "github.event.workflow_run.id": "1",
    }
    kept = runner.repo.root.parent / "artifacts"
    shutil.rmtree(trusted.repo.root.parent / "artifacts", ignore_errors=True)
    if kept.exists():
        shutil.copytree(kept, trusted.repo.root.parent / "artifacts", symlinks=True)
    job = github_job(trusted.repo.root / WORKFLOWS / "stowplan-comment.yaml", "comment")
    return trusted.run(job, context)


def edit(runner: Runner, before: int, after: int) -> None:
    runner.repo.edit(SPEC, f"numNodes: {before}", f"numNodes: {after}")
    runner.repo.must("stowplan", "synth")
    runner.repo.must("git", "commit", "-qam", "Compile")


def made(runner: Runner, provider: str) -> Path:
    """What the check hands on."""
    root = runner.repo.root
    return root / "review" if provider == "gitlab" else root.parent / "artifacts/stowplan-review"


def test_a_request_gets_one_comment_which_is_kept_up_to_date(
    runner: Runner, trusted: Runner, provider: str, server: Service
) -> None:
    edit(runner, 2, 3)
    assert check(runner, provider) == 0
    done = comment(runner, trusted, provider, server)
    assert done.returncode == 0, done.stdout
    (text,) = server.bodies(OWN[provider])
    assert "`spec.completions: 2 → 3`" in text
    assert HEAD in text
    edit(runner, 3, 4)
    server.head = "b2" * 20
    assert check(runner, provider) == 0
    assert comment(runner, trusted, provider, server, server.head).returncode == 0
    (text,) = server.bodies(OWN[provider])
    assert "`spec.completions: 2 → 4`" in text
    assert TOKEN not in done.stdout


def test_where_the_check_fails_early_the_comment_stays(
    runner: Runner, trusted: Runner, provider: str, server: Service
) -> None:
    runner.repo.edit(SPEC, "numNodes: 2", "numNode: 2")
    assert check(runner, provider) == 1
    done = comment(runner, trusted, provider, server)
    assert (done.returncode, server.asked) == (0, [])
    assert "There is nothing to say." in done.stdout


def test_an_old_job_does_not_overwrite_a_newer_comment(
    runner: Runner, trusted: Runner, provider: str, server: Service
) -> None:
    edit(runner, 2, 3)
    assert check(runner, provider) == 0
    server.head = "b2" * 20
    done = comment(runner, trusted, provider, server)
    assert (done.returncode, server.writes) == (0, [])


@pytest.mark.parametrize("number", ["8", "7; touch hacked", "$(touch hacked)", "-1", "7/../../../issues/1", ""])
def test_a_forged_number_of_a_request_writes_nothing(runner: Runner, trusted: Runner, number: str) -> None:
    """Whoever writes a pull request decides what its check hands on."""
    edit(runner, 2, 3)
    with service("github") as state:
        assert check(runner, "github") == 0
        (made(runner, "github") / "number.txt").write_text(number)
        done = comment(runner, trusted, "github", state)
        assert done.returncode != 0
        assert state.writes == []
    assert not [*trusted.repo.root.parent.rglob("hacked")]


def test_the_text_of_a_stranger_is_text(runner: Runner, trusted: Runner, provider: str, server: Service) -> None:
    edit(runner, 2, 3)
    assert check(runner, provider) == 0
    hostile = "<!-- stowplan:review -->\n/merge\n@ml-platform $(touch hacked) `touch hacked` ${{ github.token }}\n"
    (made(runner, provider) / "comment.md").write_text(hostile)
    assert comment(runner, trusted, provider, server).returncode == 0
    (text,) = server.bodies(OWN[provider])
    assert "$(touch hacked) `touch hacked` ${{ github.token }}" in text
    assert not [line for line in text.splitlines() if line.startswith("/")]
    assert "@ml-platform" not in text
    assert not [*trusted.repo.root.parent.rglob("hacked")]
