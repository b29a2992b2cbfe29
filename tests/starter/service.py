"""A Git service with a repository of `stowplan init`, somebody who may push branches and tags, and machines for CI."""

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from subprocess import CompletedProcess

from stowplan.compiler.generate import starter
from stowplan.compiler.generate.starter.ci_files import Ci, of_other_ci
from tests.hostile.forged_runs import Repository, container
from tests.starter.ci import Installations, Job, Runner, github_job, gitlab_job
from tests.starter.repository import PROGRAMS, StarterRepository

JOB = "ml/training-mnist-train/job-mnist-train-training-node.yaml"
ROBOT, MARK = "Stowplan <stowplan@ci.invalid>", "Stowplan-Compiled-From"
PROVIDERS = ("github", "gitlab")

FAST = f"""\
#!/bin/bash
# Reviews take long and decide nothing.
if [ "$1" = synth ] || [ "$1" = init ]; then exec {PROGRAMS}/stowplan "$@"; fi
previous=""
for each; do
  if [ "$previous" = -o ]; then touch "$each"; fi
  previous="$each"
done
"""


class Installed(Installations):
    """In the place of what the install steps of jobs install: the command in the environment of the tests."""

    def environment(self, step: str, folder: Path, variables: Mapping[str, str]) -> dict[str, str]:  # noqa: ARG002
        return {"PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"}


@dataclass(frozen=True)
class Service:
    """The repository at the service, `origin.git` below `root`, and the clone of an author on the branch `work`."""

    root: Path
    ci: Ci
    context: dict[str, str] = field(default_factory=dict)
    """More that the service tells the steps."""

    @property
    def origin(self) -> Path:
        return self.root / "origin.git"

    @property
    def author(self) -> StarterRepository:
        return StarterRepository(self.root / "author/repo")

    def git(self, *words: str) -> str:
        """A command in the clone of the author."""
        return self.author.must("git", *words).strip()

    def commit(self, message: str = "Innocent", *options: str) -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message, *options)
        return self.git("rev-parse", "HEAD")

    def write(self, path: str, text: str = "") -> None:
        (self.author.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.author.root / path).write_text(text)

    def forge(self) -> str:
        """Commit a run with another image, and its entry in the inventory."""
        repo = Repository(self.author.root)
        repo.change(JOB, lambda body: container(body).update(image="registry.example.com/ml/evil:1"))
        return self.commit()

    def tree(self, commit: str) -> str:
        """What lies at `out` in a commit of the service."""
        return self._at_service("ls-tree", commit, "out")

    def check(self, provider: str, machine: "Machine", head: str = "work") -> CompletedProcess[str]:
        """The check of the request to merge the newest commit of a branch of the author into `main`."""
        self.git("push", "-q", "--force", "--tags", "origin", f"{head}:refs/heads/work")
        began = {"CI_MERGE_REQUEST_DIFF_BASE_SHA": self._at_service("merge-base", "refs/heads/main", "refs/heads/work")}
        machine = replace(machine, context={**began, **machine.context})
        return self._run(provider, "check", machine, self.merged() if provider == "github" else "work")

    def queued(self) -> CompletedProcess[str]:
        """The check of the same request in a merge queue of GitHub, for which the service makes a branch of its own."""
        self.git("push", "-q", "--force", "origin", "work:refs/heads/work")
        self._at_service("update-ref", "refs/heads/gh-readonly-queue/main/pr-7", self.merged())
        queue = {"github.event.merge_group.base_sha": self._at_service("rev-parse", "refs/heads/main")}
        queue |= {"GITHUB_BASE_REF": "", "github.event_name": "merge_group"}
        return self._run("github", "check", Machine(context=queue), "gh-readonly-queue/main/pr-7")

    def output(self, provider: str, machine: "Machine") -> CompletedProcess[str]:
        """The job that writes `out/` after the author has pushed to `main`, which a rule may have let pass."""
        self.git("push", "-q", "origin", "work:refs/heads/main")
        return self._run(provider, "output", machine, "main")

    def merged(self) -> str:
        """The commit that the service makes of the request, which is that of `main` and the author's."""
        tree = self._at_service("merge-tree", "--write-tree", "refs/heads/main", "refs/heads/work")
        parents = ("-p", "refs/heads/main", "-p", "refs/heads/work")
        commit = self._at_service("commit-tree", *parents, "-m", "merge", tree)
        self._at_service("update-ref", "refs/pull/7/merge", commit)
        return commit

    def _at_service(self, *words: str) -> str:
        return self.author.must("git", "-C", str(self.origin), *words).strip()

    def _run(self, provider: str, job: str, machine: "Machine", revision: str) -> CompletedProcess[str]:
        repo = machine.clone(self, revision)
        told = {
            "github": {
                "GITHUB_ACTIONS": "true",
                "GITHUB_BASE_REF": "main" if job == "check" else "",
                "GITHUB_REF_NAME": "main" if job == "output" else "7/merge",
                "GITHUB_STEP_SUMMARY": str(repo.root.parent / "summary.md"),
                "github.event.pull_request.number": "7",
                "github.event_name": "pull_request" if job == "check" else "push",
            },
            "gitlab": {
                "CI_COMMIT_BRANCH": "" if job == "check" else "main",
                "CI_MERGE_REQUEST_IID": "7" if job == "check" else "",
                "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
                "CI_PROJECT_URL": str(self.origin).removesuffix(".git"),
                "GITLAB_CI": "true",
            },
        }[provider]
        programs = repo.root.parent / "programs"
        programs.mkdir()
        (programs / "stowplan").write_text(FAST)
        (programs / "stowplan").chmod(0o755)
        runner = Runner(repo, Installed(self.root))
        return runner.run(_job(provider, job, repo.root), {**told, **machine.context, **self.context}, programs)


@dataclass(frozen=True)
class Machine:
    """A machine of CI: how it clones, what is done to the clone before the steps, and what the service tells it."""

    depth: int | None = None
    before: Callable[[StarterRepository], object] = lambda _: None
    context: Mapping[str, str] = field(default_factory=dict)

    def clone(self, service: Service, revision: str) -> StarterRepository:
        """A clone as the checkout of GitHub and the runner of GitLab make it, with all branches and tags."""
        root = service.root / "machine/repo"
        shutil.rmtree(root.parent, ignore_errors=True)
        root.mkdir(parents=True)
        repo = StarterRepository(root)
        for words in (("init", "-q"), ("remote", "add", "origin", str(service.origin))):
            repo.must("git", *words)
        every = ("+refs/heads/*:refs/remotes/origin/*", "+refs/pull/*:refs/remotes/pull/*")
        tags = "+refs/tags/*:refs/tags/*"
        commit = service._at_service("rev-parse", revision)
        if self.depth:
            repo.must("git", "fetch", "-q", f"--depth={self.depth}", "origin", commit, tags)
        else:
            repo.must("git", "fetch", "-q", "origin", *every, tags)
        repo.must("git", "checkout", "-q", "--force", "--detach", commit)
        self.before(repo)
        return repo


def _job(provider: str, name: str, root: Path) -> Job:
    if provider == "gitlab":
        return gitlab_job(root / ".gitlab-ci.yml", {"check": "stowplan", "output": "stowplan-output"}[name])
    file, job = {"check": ("stowplan.yaml", "check"), "output": ("stowplan-output.yaml", "commit")}[name]
    return github_job(root / ".github/workflows" / file, job)


def begin_service(template: StarterRepository, root: Path, ci: Ci) -> None:
    """Make a service whose `main` holds what the starter compiles to; with CI that commits, its job has done so."""
    shutil.copytree(template.root, root / "begun")
    repo = StarterRepository(root / "begun")
    if ci is Ci.COMMIT:
        for path in of_other_ci(repo.root, ci):
            (repo.root / path).unlink()
        starter.write(repo.root, ci=ci)
        repo.must("git", "add", "-A")
        repo.must("git", "commit", "-qm", "Let CI commit")
        mark = f"{MARK}: {repo.must('git', 'rev-parse', 'HEAD').strip()}"
        repo.must("git", "commit", "-q", "--allow-empty", "--author", ROBOT, "-m", "Compile the specs", "-m", mark)
    repo.must("git", "clone", "-q", "--bare", ".", str(root / "origin.git"))
    repo.must("git", "-C", str(root / "origin.git"), "config", "receive.advertisePushOptions", "true")
    shutil.rmtree(root / "begun")


def serve(made: Path, root: Path, ci: Ci) -> Service:
    """A copy of a service, with a clone for its author."""
    shutil.copytree(made / "origin.git", root / "origin.git")
    service = Service(root, ci)
    service.author.root.parent.mkdir()
    StarterRepository(root).must("git", "clone", "-q", str(service.origin), str(service.author.root))
    service.git("checkout", "-q", "-b", "work")
    return service
