"""Repositories with a change that is to be reviewed, made from the examples."""

import shutil
from pathlib import Path

from tests.repositories import EXAMPLES
from tests.starter.repository import StarterRepository

_IMAGE = """
      - target: {kind: Training, name: resnet}
        merge:
          spec: {image: "registry.example.com/ml/resnet:1.5"}
"""


def edited_dataset(root: Path) -> Path:
    """The page of an edit of a dataset: another source and one more node, so that its runs are replaced."""
    repo = _repository(root, "training")
    _commit(repo)
    repo.edit("specs/data.yaml", "s3://images/imagenet/", "s3://images/imagenet-v2/")
    repo.edit("specs/data.yaml", "nodes: 2", "nodes: 3")
    return _report(repo)


def promotion(root: Path) -> Path:
    """The page of a promotion: `stage` gets the image that `dev` had before."""
    repo = _repository(root, "environments")
    repo.edit("stowplan.yaml", "spec: {numNodes: 1}\n", "spec: {numNodes: 1}" + _IMAGE)
    _commit(repo)
    before = '    set:\n      argocd: {destination: {server: "https://stage'
    repo.edit("stowplan.yaml", before, f"    patches:{_IMAGE}{before}")
    return _report(repo)


def _repository(root: Path, example: str) -> StarterRepository:
    shutil.copytree(EXAMPLES[example], root)
    return StarterRepository(root)


def _commit(repo: StarterRepository) -> None:
    for command in ("git init -q -b main", "stowplan synth", "git add -A"):
        repo.must(*command.split())
    # The page names the commit, and pictures of it are kept: the same change is the same commit.
    when = {f"GIT_{who}_DATE": "2026-11-20T09:30:00Z" for who in ("AUTHOR", "COMMITTER")}
    done = repo.run("git", "commit", "-qm", "begin", environment=when)
    assert done.returncode == 0, done.stdout


def _report(repo: StarterRepository) -> Path:
    repo.must("stowplan", "report", "--base", "HEAD", "-o", "report.html")
    return repo.root / "report.html"
