"""What somebody who may push branches and tags can do to the checks that the starter's CI makes.

What lands in `out/` is what the compiler that the commit pins, in a `requirements/` with owners, makes of the specs of
that commit, or was there before.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from ruamel.yaml import YAML

from stowplan.compiler.generate import starter
from stowplan.compiler.generate.starter.ci_files import Ci
from tests.repositories import REPOSITORY
from tests.starter.repository import StarterRepository
from tests.starter.service import JOB, MARK, PROVIDERS, ROBOT, Machine, Service

SPEC = "specs/mnist-train.yaml"
EVIL = "# What only Git holds."
OTHERS = "writes out/, and nobody else."
"""What CI that commits the output says of changes by others."""


def edit(service: Service) -> None:
    """An honest change, with its output where people commit that."""
    service.author.edit(SPEC, "numNodes: 2", "numNodes: 3")
    if service.ci is Ci.CHECK:
        service.author.must("stowplan", "synth")
    service.commit("Three nodes")


def hold(service: Service, path: str, mode: str, held: str) -> None:
    """Commit an entry of Git as nobody could make it on the disk."""
    service.git("update-index", "--add", "--replace", "--cacheinfo", f"{mode},{held},{path}")
    service.git("commit", "-q", "-m", "Innocent")


def forged(service: Service) -> None:
    service.forge()


def muted_submodule(service: Service, path: str = "out/ml/more") -> None:
    """A comparison of commits by `git diff` does not show it."""
    service.write(".gitmodules", f'[submodule "x"]\n\tpath = {path}\n\turl = ../evil.git\n\tignore = all\n')
    service.git("add", "-A")
    hold(service, path, "160000", service.git("rev-parse", "HEAD"))


def output_as_submodule(service: Service) -> None:
    service.git("rm", "-q", "-r", "out")
    muted_submodule(service, "out")


def repository_of_the_output(service: Service) -> None:
    """A submodule in whose own repository `refs/remotes/origin/main` is forged."""
    service.forge()
    other = StarterRepository(service.author.root / "out")
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-qm", "Forge")):
        other.must("git", *words)
    other.must("git", "clone", "-q", "--bare", ".", str(service.root / "evil.git"))
    service.git("rm", "-q", "-r", "--cached", "out")
    service.write(".gitmodules", '[submodule "out"]\n\tpath = out\n\turl = ../evil.git\n\tignore = all\n')
    service.git("-c", "advice.addEmbeddedRepo=false", "add", "--force", "out")
    service.commit()


def with_its_submodule(repo: StarterRepository) -> None:
    """As a checkout with submodules leaves it."""
    evil = repo.root.parents[1] / "evil.git"
    repo.must("git", "clone", "-q", str(evil), "out")


def link(service: Service) -> None:
    service.write("evil.yaml", "kind: ConfigMap\n")
    (service.author.root / "out/ml/link.yaml").symlink_to("../../evil.yaml")
    service.commit()


def output_as_link(service: Service) -> None:
    (service.author.root / "out").rename(service.author.root / "elsewhere")
    (service.author.root / "out").symlink_to("elsewhere")
    service.commit()


def same_name_in_capitals(service: Service) -> None:
    """Where case does not count, the disk has one of both."""
    text = (service.author.root / "out" / JOB).read_text()
    service.write(f"out/{JOB.replace('job-', 'Job-')}", text.replace("kind: Job", "kind:  Job"))
    service.commit()


def attributes_of_the_output(service: Service) -> None:
    """Services then show no change of it."""
    service.write("out/.gitattributes", "** -diff\n")
    service.commit()


def tag_for_the_branch(service: Service) -> None:
    """Git takes a tag `origin/main` before the branch `main` of `origin`."""
    service.forge()
    service.git("tag", "origin/main")


def tag_for_the_whole_name(service: Service) -> None:
    """Git takes a tag `refs/remotes/origin/main`, where there is no such branch."""
    service.forge()
    service.git("tag", "refs/remotes/origin/main")


def other_target_before(service: Service) -> None:
    """The request was for a branch of the author, and is changed to go to `main`: what it began with is forged.

    GitLab says so even then: https://gitlab.com/gitlab-org/gitlab/-/issues/442031.
    """
    service.context["CI_MERGE_REQUEST_DIFF_BASE_SHA"] = service.forge()
    service.write("README.md", "Innocent\n")
    service.commit()


def main_as_second_parent(service: Service) -> None:
    """A merge commit whose first parent is forged."""
    service.git("checkout", "-q", "-b", "forged")
    evil = service.forge()
    service.git("checkout", "-q", "work")
    service.write("README.md", "Innocent\n")
    service.commit()
    tree = service.git("rev-parse", f"{evil}^{{tree}}")
    merge = service.git("commit-tree", "-m", "merge", "-p", evil, "-p", "refs/remotes/origin/main", tree)
    service.git("reset", "-q", "--hard", merge)


def main_behind_another_history(service: Service) -> None:
    """A merge commit whose first parent is forged, and in whose history the job has made no commit."""
    evil = service.forge()
    tree = service.git("rev-parse", f"{evil}^{{tree}}")
    other = service.git("commit-tree", "-m", "Begin", tree)
    merge = service.git("commit-tree", "-m", "merge", "-p", other, "-p", "refs/remotes/origin/main", tree)
    service.git("reset", "-q", "--hard", merge)


def own_mark(service: Service) -> None:
    """Anybody can write the author and the text of a commit."""
    service.forge()
    mark = f"{MARK}: {service.git('rev-parse', 'HEAD^')}"
    service.git("commit", "-q", "--amend", "--author", ROBOT, "-m", "Compile the specs", "-m", mark)


def output_that_is_a_repository(service: Service) -> None:
    """Git in `out/` finds files that look like a repository, in which `origin/main` is forged."""
    evil = service.forge()
    fake = service.root / "fake.git"
    service.git("clone", "-q", "--bare", ".", str(fake))
    for words in (
        ("update-ref", "refs/remotes/origin/main", evil),
        ("config", "core.bare", "false"),
        ("config", "core.worktree", ".."),
    ):
        service.git(f"--git-dir={fake}", *words)
    for name in ("HEAD", "config", "objects", "packed-refs", "refs"):
        (fake / name).rename(service.author.root / "out" / name)
    (service.author.root / "out/refs/keep").touch()
    service.commit()


def other_encoding(service: Service) -> None:
    """The disk shows what the specs compile to, and Git holds something else."""
    files = [path for path in sorted((service.author.root / "out/ml").rglob("*.yaml")) if path.stat().st_size % 2 == 0]
    path = files[0].relative_to(service.author.root).as_posix()
    service.write(".gitattributes", f"{path} working-tree-encoding=UTF-16BE\n")
    service.git("add", ".gitattributes")
    if service.ci is Ci.CHECK:
        service.git("add", "--renormalize", path)
    service.git("commit", "-q", "-m", "Innocent")


def filter_of_the_machine(service: Service) -> None:
    """Git holds something else than the disk shows, as with the filter `lfs`, which machines of services have."""
    service.write(".gitattributes", "out/**/job-* filter=known\n")
    if service.ci is Ci.CHECK:
        path = service.author.root / "out" / JOB
        path.write_text(f"{path.read_text()}{EVIL}\n")
        service.commit()
    else:
        service.author.edit(SPEC, "numNodes: 2", "numNodes: 3")
        service.commit()


def with_its_filter(repo: StarterRepository) -> None:
    """Checked out by it."""
    for name, program in (("clean", f"cat - && echo '{EVIL}'"), ("smudge", f"grep -v '{EVIL}'")):
        repo.must("git", "config", f"filter.known.{name}", program)
    (repo.root / "out" / JOB).unlink()
    repo.must("git", "checkout", "--", "out")


def without_folders(repo: StarterRepository) -> None:
    (repo.root / "out/ml/more").rmdir()


@dataclass(frozen=True)
class Attack:
    """A change of the author, and what the check says of it in each kind of CI, for which `machine` is used."""

    make: Callable[[Service], None]
    check: str
    commit: str = OTHERS
    machine: Machine = field(default_factory=Machine)

    def said(self, ci: Ci) -> str:
        return self.check if ci is Ci.CHECK else self.commit


NO_BRANCH = "refs/remotes/origin/main"
ATTACKS = {
    "submodule": Attack(muted_submodule, "SP538"),
    "submodule without a folder": Attack(muted_submodule, "SP538", machine=Machine(before=without_folders)),
    "output is a submodule": Attack(output_as_submodule, "SP538"),
    "output is a checked-out submodule": Attack(
        repository_of_the_output, "SP519", machine=Machine(before=with_its_submodule)
    ),
    "output is a link": Attack(output_as_link, "SP510"),
    "link": Attack(link, "SP517"),
    "same name in capitals": Attack(same_name_in_capitals, "SP512"),
    "attributes of the output": Attack(attributes_of_the_output, "SP537"),
    "other encoding": Attack(other_encoding, "SP539", "SP508"),
    "filter": Attack(filter_of_the_machine, "SP539", "SP539", Machine(before=with_its_filter)),
    "tag for the branch": Attack(tag_for_the_branch, "SP519"),
    "tag for the whole name": Attack(tag_for_the_whole_name, NO_BRANCH, NO_BRANCH, Machine(depth=1)),
    "shallow clone": Attack(forged, "fetch-depth: 0", NO_BRANCH, Machine(depth=1)),
    "other target before": Attack(other_target_before, "SP519"),
    "main as second parent": Attack(main_as_second_parent, "SP519"),
    "main behind another history": Attack(main_behind_another_history, "SP519"),
    "mark of the job": Attack(own_mark, "SP519"),
    "output is a repository": Attack(output_that_is_a_repository, "SP519"),
}
"""By name. Each leaves `main` of the service alone."""


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("ci", Ci)
def test_a_check_refuses(service: Service, ci: Ci, provider: str, name: str) -> None:
    attack = ATTACKS[name]
    attack.make(service)
    done = service.check(provider, attack.machine)
    assert done.returncode != 0, done.stdout
    assert attack.said(ci) in done.stdout
    assert "Traceback" not in done.stdout


@pytest.mark.parametrize("provider", [*PROVIDERS, "queue"])
@pytest.mark.parametrize("ci", Ci)
def test_a_check_lets_an_honest_change_pass(service: Service, ci: Ci, provider: str) -> None:
    """So a refusal means something."""
    edit(service)
    done = service.queued() if provider == "queue" else service.check(provider, Machine())
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("ci", Ci)
def test_a_merge_queue_refuses_too(service: Service, ci: Ci) -> None:
    service.forge()
    done = service.queued()
    assert done.returncode != 0
    assert {Ci.CHECK: "SP519", Ci.COMMIT: OTHERS}[ci] in done.stdout


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("ci", Ci)
def test_a_forged_commit_that_main_has_in_between_vouches_for_nothing(service: Service, ci: Ci, provider: str) -> None:
    """A request was merged that takes back what its first commit had forged; another one begins at that commit.

    Where the check is one of the merge, there is nothing forged any more.
    """
    evil = service.forge()
    service.git("revert", "--no-edit", evil)
    service.git("checkout", "-q", "-B", "main", "refs/remotes/origin/main")
    service.git("merge", "-q", "--no-ff", "-m", "Merge", "work")
    service.git("push", "-q", "origin", "main")
    service.git("checkout", "-q", "-B", "work", evil)
    service.write("README.md", "Innocent\n")
    service.commit()
    done = service.check(provider, Machine())
    if (ci, provider) == (Ci.CHECK, "gitlab"):
        assert done.returncode == 1
        assert "SP519" in done.stdout
    else:
        assert done.returncode == 0, done.stdout
        assert service.tree(service.merged()) == service.tree("main")


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("ci", Ci)
def test_a_run_that_the_branch_lost_when_it_was_rewritten_is_none_of_its(
    service: Service, ci: Ci, provider: str
) -> None:
    service.forge()
    service.git("push", "-q", "origin", "work:main")
    service.write("README.md", "Innocent\n")
    service.commit()
    service.git("push", "-q", "--force", "origin", "work~2:main")
    done = service.check(provider, Machine())
    assert done.returncode == 1
    assert {Ci.CHECK: "SP519", Ci.COMMIT: OTHERS}[ci] in done.stdout


# The job on the main branch that commits the output.


def job_refuses(service: Service, provider: str, said: str) -> None:
    before = service.git("rev-parse", "HEAD")
    done = service.output(provider, Machine())
    assert done.returncode == 1, done.stdout
    assert said in done.stdout
    assert service.git("ls-remote", "origin", "refs/heads/main").split()[0] == before


def unknown_author(service: Service) -> None:
    """`git log` would take the commits of the job for those of somebody else, as if it had never made one."""
    service.write(".mailmap", f"Innocent <a@b> {ROBOT}\n")
    service.forge()


FOREIGN: dict[Callable[[Service], None], str] = {
    muted_submodule: "out/ is not as the workflow left it in",
    unknown_author: "out/ is not as the workflow left it in",
    main_as_second_parent: "out/ is not as the workflow left it in",
    main_behind_another_history: "is not among the first parents",
    own_mark: "ml/evil:1",
    other_encoding: "SP508",
}


@pytest.mark.parametrize("make", FOREIGN)
@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("ci", [Ci.COMMIT])
def test_the_job_refuses(service: Service, ci: Ci, provider: str, make: Callable[[Service], None]) -> None:
    make(service)
    job_refuses(service, provider, FOREIGN[make])


@pytest.mark.parametrize("ci", [Ci.COMMIT])
def test_the_job_names_the_commit_of_a_muted_submodule(service: Service, ci: Ci) -> None:
    muted_submodule(service)
    service.git("commit", "-q", "--allow-empty", "-m", "Innocent")
    done = service.output("gitlab", Machine())
    assert f"revert {service.git('rev-parse', '--short', 'HEAD^')} \n" in done.stdout


@pytest.mark.parametrize("ci", [Ci.COMMIT])
def test_the_job_commits_what_is_ignored(service: Service, ci: Ci) -> None:
    """Otherwise files of a new run would not land, and those of the old one would."""
    service.write(".gitignore", "!/out/\n/out/ml/\n")
    text = (service.author.root / SPEC).read_text()
    service.write("specs/more.yaml", text.replace("mnist-train", "more"))
    service.commit()
    done = service.output("github", Machine())
    assert done.returncode == 0, done.stdout
    service.git("pull", "-q", "origin", "main")
    assert (service.author.root / "out/ml/training-more").is_dir()
    assert "out is what the specs compile to." in service.author.must("stowplan", "synth", "--check", "--base", "HEAD^")


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("ci", [Ci.COMMIT])
def test_the_job_runs_nothing_that_its_clone_asks_for(service: Service, ci: Ci, provider: str) -> None:
    """A machine may keep its clone, and what an earlier job has put into it."""
    ran = service.root / "ran"

    def poison(repo: StarterRepository) -> None:
        program = repo.root / ".git/evil"
        program.write_text(f'#!/bin/sh\necho "$0" >> {ran}\n')
        program.chmod(0o755)
        for name in ("post-checkout", "post-commit", "pre-push", "prepare-commit-msg", "reference-transaction"):
            hook = repo.root / ".git/hooks" / name
            hook.parent.mkdir(exist_ok=True)
            hook.symlink_to(program)
        repo.must("git", "config", "core.fsmonitor", str(program))

    edit(service)
    done = service.output(provider, Machine(before=poison))
    assert done.returncode == 0, done.stdout
    assert "Committed out/ as" in done.stdout
    assert not ran.exists()


# When the checks run.


def workflows() -> dict[str, Any]:
    """The events of each workflow that checks a request: those of new repositories, and that of this one."""
    found = {ci.value: starter.files(ci=ci)[".github/workflows/stowplan.yaml"] for ci in Ci}
    found["own"] = (REPOSITORY / ".github/workflows/tests.yaml").read_text()
    return {name: YAML(typ="safe").load(text) for name, text in found.items()}


@pytest.mark.parametrize(("name", "workflow"), workflows().items())
def test_a_request_that_changes_its_target_is_checked_again(name: str, workflow: Any) -> None:
    """Its check of before was one against a branch of the author's choice.

    And a job that is left out has passed, as GitHub sees it, so none has a condition.
    """
    events = workflow["on"]
    assert events["pull_request"] == {"branches": ["main"], "types": ["opened", "synchronize", "reopened", "edited"]}
    assert "merge_group" in events
    assert not [job for job in workflow["jobs"].values() if "if" in job]


def test_no_step_gives_git_the_short_name_of_a_branch() -> None:
    texts = [text for ci in Ci for path, text in starter.files(ci=ci).items() if path.startswith((".git", "ci/"))]
    texts.append((REPOSITORY / ".github/actions/check/action.yml").read_text())
    assert any("refs/remotes/origin/" in text for text in texts)
    assert not [found for text in texts for found in re.findall(r"(?<!refs/remotes/)\borigin/\S*", text)]
    assert not [text for text in texts if "DIFF_BASE_SHA" in text]


def test_what_changes_files_on_their_way_has_an_owner() -> None:
    owned = starter.files()["CODEOWNERS"].splitlines()
    for name in (".gitattributes", ".gitmodules"):
        assert [line for line in owned if line.split()[:1] == [name]], "in each folder"
