"""`stowplan init --ci commit`: CI alone writes out/, on a real remote over HTTP that wants the job's token."""

import base64
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cluster import git_server
from tests.starter.ci import Installations, Job, Runner, github_job, gitlab_job
from tests.starter.repository import StarterRepository

WORKFLOWS, GITLAB = ".github/workflows", ".gitlab-ci.yml"
SPEC, JOB = "specs/mnist-train.yaml", "out/ml/training-mnist-train/job-mnist-train-training-node.yaml"
TOKEN = "a-token-that-may-push"
ROBOT = "stowplan@ci.invalid"
SENTENCE = "writes out/, and nobody else. Take your changes of it back: git restore "


@dataclass(frozen=True)
class Remote:
    """The repository at the service."""

    folder: Path
    """Bare."""
    url: str
    """Over HTTP, with the token alone."""
    machines: Path
    installations: Installations

    def git(self, *arguments: str) -> str:
        return subprocess.check_output(["git", "-C", self.folder, *arguments], text=True).strip()

    def clone(self, name: str) -> StarterRepository:
        """The clone of a person, which needs no token."""
        root = self.machines / name / "repo"
        subprocess.run(["git", "clone", "-q", self.folder, root], check=True)
        return StarterRepository(root)

    def job(self, provider: str, programs: Path | None = None, **context: str) -> subprocess.CompletedProcess[str]:
        """What the service runs after a push to main: on a machine of its own, for the commit that main has now."""
        machine = self.machines / f"{provider}-{len(list(self.machines.iterdir()))}"
        repo = self.clone(machine.name)
        repo.must("git", "remote", "set-url", "origin", self.url)
        known = {
            "github": {"GITHUB_REF_NAME": "main", "GITHUB_ACTIONS": "true", "github.token": TOKEN},
            "gitlab": {
                "CI_COMMIT_BRANCH": "main",
                "GITLAB_CI": "true",
                "CI_PROJECT_URL": self.url.removesuffix(".git"),
                "STOWPLAN_PUSH_TOKEN": TOKEN,
            },
        }[provider]
        return Runner(repo, self.installations).run(output_job(provider, repo.root), known | context, programs)

    def commits(self) -> list[str]:
        """The authors of the commits on main, the newest first."""
        return self.git("log", "--first-parent", "--format=%ae", "main").splitlines()

    def file(self, path: str) -> str:
        return self.git("show", f"main:{path}")


def output_job(provider: str, root: Path) -> Job:
    if provider == "github":
        return github_job(root / WORKFLOWS / "stowplan-output.yaml", "commit")
    return gitlab_job(root / GITLAB, "stowplan-output")


def check_job(provider: str, root: Path) -> Job:
    if provider == "github":
        return github_job(root / WORKFLOWS / "stowplan.yaml", "check")
    return gitlab_job(root / GITLAB, "stowplan")


@pytest.fixture(scope="module")
def begun_remote(tmp_path_factory: pytest.TempPathFactory, installations: Installations) -> Path:
    """A bare repository with the files of `init`, and no output yet. Tests have copies."""
    folder = tmp_path_factory.mktemp("commit")
    (folder / "repo").mkdir()
    repo = StarterRepository(folder / "repo")
    for command in ("git init -q -b main", "stowplan init --ci commit"):
        repo.must(*command.split())
    (repo.root / "requirements/stowplan.txt").write_text(installations.requirement)
    for command in ("git add -A", "git commit -qm begin", "git clone -q --bare . ../data.git"):
        repo.must(*command.split())
    for setting in ("receive.advertisePushOptions", "http.receivepack"):
        repo.must("git", "-C", "../data.git", "config", setting, "true")
    hook = folder / "data.git/hooks/post-receive"
    hook.write_text('#!/bin/sh\necho "$GIT_PUSH_OPTION_0" >> options\n')
    hook.chmod(0o755)
    return folder / "data.git"


@pytest.fixture
def remote(tmp_path: Path, begun_remote: Path, installations: Installations) -> Iterator[Remote]:
    (tmp_path / "machines").mkdir()
    shutil.copytree(begun_remote, tmp_path / "served/data.git")
    with git_server.serving(tmp_path / "served", TOKEN) as url:
        yield Remote(tmp_path / "served/data.git", f"{url}/data.git", tmp_path / "machines", installations)


@pytest.fixture(params=["github", "gitlab"])
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def person(remote: Remote) -> StarterRepository:
    return remote.clone("person")


def push(repo: StarterRepository, message: str, *options: str) -> str:
    repo.must("git", "add", "-A")
    repo.must("git", "commit", "-q", "-m", message, *options)
    repo.must("git", "push", "-q", "origin", "HEAD:main")
    return repo.must("git", "rev-parse", "HEAD").strip()


def nodes(repo: StarterRepository, before: int, after: int) -> None:
    repo.edit(SPEC, f"numNodes: {before}", f"numNodes: {after}")


# The job on the main branch.


def test_a_push_is_compiled_and_committed_once(remote: Remote, person: StarterRepository, provider: str) -> None:
    done = remote.job(provider)
    assert done.returncode == 0, done.stdout
    assert remote.commits() == [ROBOT, "a@b"]
    changed = remote.git("diff", "--name-only", "main^", "main").splitlines()
    assert JOB in changed
    assert all(path.startswith("out/") for path in changed)
    person.must("git", "pull", "-q", "origin", "main")
    assert "out is what the specs compile to." in person.must("stowplan", "synth", "--check", "--base", "HEAD^")
    message = remote.git("log", "-1", "--format=%B", "main")
    assert message.endswith(f"Stowplan-Compiled-From: {remote.git('rev-parse', 'main^')}")
    skipped = (remote.folder / "options").read_text().split()
    assert skipped == (["ci.skip"] if provider == "gitlab" else [])


def test_its_own_commit_starts_no_other(remote: Remote, person: StarterRepository, provider: str) -> None:
    """Also where a token is used whose pushes start workflows: the next run checks and commits nothing."""
    assert remote.job(provider).returncode == 0
    before = remote.git("rev-parse", "main")
    done = remote.job(provider)
    assert done.returncode == 0, done.stdout
    assert remote.git("rev-parse", "main") == before


def test_nothing_is_committed_when_the_output_stays(remote: Remote, person: StarterRepository, provider: str) -> None:
    assert remote.job(provider).returncode == 0
    person.must("git", "pull", "-q", "origin", "main")
    (person.root / "README.md").write_text("Data of the team\n")
    pushed = push(person, "Say what this is")
    done = remote.job(provider)
    assert (done.returncode, remote.git("rev-parse", "main")) == (0, pushed), done.stdout
    assert "out/ is up to date." in done.stdout


def test_output_that_was_there_before_is_taken_over_by_one_commit(
    remote: Remote, person: StarterRepository, provider: str
) -> None:
    """Of a repository that had `--ci check`. From then on changes by others are found."""
    person.must("stowplan", "synth")
    push(person, "The output of before")
    assert remote.job(provider).returncode == 0
    assert remote.commits() == [ROBOT, "a@b", "a@b"]
    assert remote.git("diff", "--stat", "main^", "main") == ""
    person.must("git", "pull", "-q", "origin", "main")
    person.edit(JOB, "ml/mnist:1.0", "ml/evil:1.0")
    push(person, "Innocent")
    done = remote.job(provider)
    assert done.returncode == 1
    assert "out/ is not as the workflow left it" in done.stdout


def test_a_mistake_on_the_main_branch_commits_nothing(remote: Remote, person: StarterRepository, provider: str) -> None:
    person.edit(SPEC, "numNodes: 2", "numNode: 2")
    pushed = push(person, "A mistake")
    done = remote.job(provider)
    assert done.returncode == 1
    assert "SP201" in done.stdout
    assert remote.git("rev-parse", "main") == pushed


# Races.


def meanwhile(folder: Path, command: str, times: int) -> Path:
    """A folder with a `stowplan` that first runs a command, the first times that it is called."""
    program = folder / "programs/stowplan"
    program.parent.mkdir()
    program.write_text(
        f"""#!/bin/bash
here="$(dirname "$0")"
echo x >> "$here/calls"
if [ "$(wc -l < "$here/calls")" -le {times} ]; then ({command}) >&2 || exit 9; fi
PATH="${{PATH#*:}}" exec stowplan "$@"
"""
    )
    program.chmod(0o755)
    return program.parent


def test_a_push_in_between_is_compiled_too(
    remote: Remote, person: StarterRepository, provider: str, tmp_path: Path
) -> None:
    nodes(person, 2, 3)
    person.must("git", "commit", "-qam", "Three nodes")
    programs = meanwhile(tmp_path, f"git -C {person.root} push -q origin HEAD:main", times=1)
    done = remote.job(provider, programs)
    assert done.returncode == 0, done.stdout
    assert "Somebody else pushed to main meanwhile (try 1 of 5)." in done.stdout
    assert remote.commits() == [ROBOT, "a@b", "a@b"]
    assert "completions: 3" in remote.file(JOB)
    person.must("git", "pull", "-q", "origin", "main")
    person.must("stowplan", "synth", "--check", "--base", "HEAD^")


def test_two_jobs_at_once_make_one_commit(remote: Remote, person: StarterRepository, tmp_path: Path) -> None:
    """Where nothing queues them, the second one finds the work done. Within one second their commits are the same."""
    other = tmp_path / "other.txt"
    inner = f'cd {remote.clone("rival").root} && PATH="${{PATH#*:}}" STOWPLAN_PUSH_TOKEN={TOKEN}'
    command = f"{inner} STOWPLAN_PUSH_URL={remote.url} GITHUB_REF_NAME=main bash ci/commit-output.sh > {other}"
    done = remote.job("github", meanwhile(tmp_path, f"{command}; sleep 1.1", times=1))
    assert done.returncode == 0, done.stdout
    assert remote.commits() == [ROBOT, "a@b"]
    assert "Committed out/ as" in other.read_text()
    assert "meanwhile (try 1 of 5)" in done.stdout


def test_a_job_that_always_loses_gives_up(remote: Remote, person: StarterRepository, tmp_path: Path) -> None:
    repeat = f"cd {person.root} && git commit -q --allow-empty -m again && git push -q origin HEAD:main"
    done = remote.job("github", meanwhile(tmp_path, repeat, times=99))
    assert done.returncode == 1
    assert "::error::Others pushed to main 5 times meanwhile." in done.stdout
    assert set(remote.commits()) == {"a@b"}


def test_a_push_of_another_compiler_is_left_to_its_own_run(
    remote: Remote, person: StarterRepository, tmp_path: Path
) -> None:
    """The program that this job has installed is not the one that the newest commit wants."""
    requirement = person.root / "requirements/stowplan.txt"
    requirement.write_text(f"# another version\n{requirement.read_text()}")
    person.must("git", "commit", "-qam", "Upgrade")
    done = remote.job("github", meanwhile(tmp_path, f"git -C {person.root} push -q origin HEAD:main", times=1))
    assert done.returncode == 0, done.stdout
    assert "its own run compiles out/." in done.stdout
    assert remote.commits() == ["a@b", "a@b"]


# Output that somebody else wrote.


def test_output_of_others_is_refused_until_it_is_reverted(
    remote: Remote, person: StarterRepository, provider: str
) -> None:
    assert remote.job(provider).returncode == 0
    person.must("git", "pull", "-q", "origin", "main")
    person.edit(JOB, "ml/mnist:1.0", "ml/evil:1.0")
    evil = push(person, "Innocent")
    (person.root / "README.md").touch()
    push(person, "More")
    done = remote.job(provider)
    assert done.returncode == 1
    assert "out/ is not as the workflow left it" in done.stdout
    assert person.must("git", "rev-parse", "--short", evil).strip() in done.stdout
    person.must("git", "revert", "--no-edit", evil)
    nodes(person, 2, 3)
    push(person, "Three nodes")
    done = remote.job(provider)
    assert done.returncode == 0, done.stdout
    assert "ml/mnist:1.0" in remote.file(JOB)


@pytest.mark.parametrize(("parent", "said"), [("HEAD", "ml/evil:1.0"), ("HEAD^", "and this workflow did not make it")])
def test_output_under_the_name_of_the_workflow_is_refused(
    remote: Remote, person: StarterRepository, provider: str, parent: str, said: str
) -> None:
    """Anybody who may push can write any author into a commit."""
    assert remote.job(provider).returncode == 0
    person.must("git", "pull", "-q", "origin", "main")
    nodes(person, 2, 3)
    person.edit(JOB, "ml/mnist:1.0", "ml/evil:1.0")
    mark = f"Stowplan-Compiled-From: {person.must('git', 'rev-parse', parent).strip()}"
    forged = push(person, "Compile the specs", "-m", mark, "--author", f"Stowplan <{ROBOT}>")
    done = remote.job(provider)
    assert done.returncode == 1
    assert said in done.stdout
    assert remote.git("rev-parse", "main") == forged


# The token.


def test_the_token_is_in_no_output_argument_or_file(
    remote: Remote, person: StarterRepository, provider: str, tmp_path: Path
) -> None:
    """Nor in the environment of the compiler, which runs extensions."""
    seen = tmp_path / "environment"
    done = remote.job(provider, meanwhile(tmp_path, f"env > {seen}", times=9), GIT_TRACE="1")
    assert done.returncode == 0, done.stdout
    assert "git push" in done.stdout, "the trace shows arguments"
    encoded = base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode()
    machine = next(remote.machines.glob(f"{provider}-*"))
    files = [each.read_bytes() for each in machine.rglob("*") if each.is_file()]
    for secret in (TOKEN, encoded):
        assert secret not in done.stdout
        assert secret not in seen.read_text()
        assert not [each for each in files if secret.encode() in each]


def test_a_token_that_may_not_push_is_a_sentence(remote: Remote, person: StarterRepository, provider: str) -> None:
    name = "github.token" if provider == "github" else "STOWPLAN_PUSH_TOKEN"
    done = remote.job(provider, None, **{name: "expired", "GIT_TERMINAL_PROMPT": "0"})
    assert done.returncode == 1
    assert "The branch main cannot be fetched." in done.stdout
    rule = remote.folder / "hooks/pre-receive"
    rule.write_text("#!/bin/sh\necho protected >&2; exit 1\n")
    rule.chmod(0o755)
    done = remote.job(provider)
    assert done.returncode == 1
    assert "main does not take the commit. May the token of this job push to it?" in done.stdout


# Pull and merge requests.


def request(
    remote: Remote, repo: StarterRepository, provider: str, branch: str = "main"
) -> subprocess.CompletedProcess[str]:
    """The check of a request for the branch, whose newest commit is checked out."""
    machine = Runner(repo, remote.installations)
    repo.must("git", "fetch", "-q", "origin", f"main:refs/remotes/origin/{branch}")
    if provider == "gitlab":
        context = {"CI_MERGE_REQUEST_IID": "7", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": branch}
        return machine.run(check_job(provider, repo.root), context)
    repo.must("git", "checkout", "-q", "-B", "merged", f"origin/{branch}")
    repo.must("git", "merge", "-q", "--no-ff", "-m", "merge", "work")
    context = {
        "GITHUB_BASE_REF": branch,
        "GITHUB_STEP_SUMMARY": str(repo.root.parent / "summary.md"),
        "github.event_name": "pull_request",
        "github.event.pull_request.number": "7",
    }
    done = machine.run(check_job(provider, repo.root), context)
    repo.must("git", "checkout", "-q", "--force", "work")
    return done


@pytest.fixture
def author(remote: Remote) -> StarterRepository:
    """A clone on a branch, once the output is on main."""
    assert remote.job("github").returncode == 0
    repo = remote.clone("author")
    repo.must("git", "checkout", "-q", "-b", "work")
    return repo


def test_a_request_without_output_passes_and_says_what_changes(
    remote: Remote, author: StarterRepository, provider: str
) -> None:
    nodes(author, 2, 3)
    author.must("git", "commit", "-qam", "Three nodes")
    done = request(remote, author, provider)
    assert done.returncode == 0, done.stdout
    review = author.root / "review" if provider == "gitlab" else author.root.parent / "artifacts/stowplan-review"
    assert "`spec.completions: 2 → 3`" in (review / "comment.md").read_text()


def test_a_request_that_touches_the_output_fails(remote: Remote, author: StarterRepository, provider: str) -> None:
    """Also with exactly what the specs compile to."""
    nodes(author, 2, 3)
    author.must("stowplan", "synth")
    author.must("git", "add", "-A")
    author.must("git", "commit", "-qm", "Three nodes, with their output")
    done = request(remote, author, provider)
    assert done.returncode == 1
    assert SENTENCE in done.stdout
    advice = done.stdout.partition("Take your changes of it back: ")[2].splitlines()[0]
    author.must(*advice.split())
    author.must("git", "commit", "-qm", "Leave the output")
    assert request(remote, author, provider).returncode == 0


def test_output_that_came_with_the_main_branch_is_no_change(
    remote: Remote, author: StarterRepository, person: StarterRepository, provider: str
) -> None:
    person.must("git", "pull", "-q", "origin", "main")
    nodes(person, 2, 3)
    push(person, "Three nodes")
    assert remote.job(provider).returncode == 0
    (author.root / "README.md").touch()
    author.must("git", "add", "-A")
    author.must("git", "commit", "-qm", "README")
    assert request(remote, author, provider).returncode == 0
    author.must("git", "pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
    done = request(remote, author, provider)
    assert done.returncode == 0, done.stdout


def test_a_request_with_a_mistake_fails_at_its_line(remote: Remote, author: StarterRepository, provider: str) -> None:
    line = author.edit(SPEC, "numNodes: 2", "numNode: 2")
    author.must("git", "commit", "-qam", "A mistake")
    done = request(remote, author, provider)
    assert done.returncode == 1
    found = f"::error file={SPEC},line={line}," if provider == "github" else f"{SPEC}:{line}:3: error SP201"
    assert found in done.stdout


def test_names_of_branches_are_not_run(remote: Remote, author: StarterRepository) -> None:
    """Git allows almost any character in them."""
    nodes(author, 2, 3)
    author.must("git", "commit", "-qam", "$(touch hacked-by-title)")
    done = request(remote, author, "github", branch='a"$(touch${IFS}hacked);`touch${IFS}hacked`')
    assert done.returncode == 0, done.stdout
    assert not [*author.root.rglob("hacked*")]
