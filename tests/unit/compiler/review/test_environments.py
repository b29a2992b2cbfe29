"""The review of a change in a repository with several environments: each thing is said of its own one."""

import subprocess
from pathlib import Path

import pytest

from stowplan.compiler.cli.environments import chosen
from stowplan.compiler.cli.review.changes import compared
from stowplan.compiler.cli.review.reviewing import reviewed
from stowplan.compiler.repository.layout import Repository
from stowplan.compiler.repository.load import Checkout
from stowplan.compiler.review.model import ChangeKind, Review, RunFate
from stowplan.compiler.review.page.render import render
from tests.unit.compiler.review.test_changes import TRAINING
from tests.unit.users import PLATFORM, laid_out, run

ENVIRONMENTS = """\
environments:
- {name: stage, clusters: [{name: s, server: "https://s.example.com"}]}
- {name: prod, clusters: [{name: a, server: "https://a.example.com"}, {name: b, server: "https://b.example.com"}]}
"""
SPEC = Path("specs/imagenet.yaml")
FILES = Path("stowplan.yaml")


@pytest.fixture(autouse=True)
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository with a training run on three clusters, committed with its output."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "repo"
    folder.mkdir()
    laid_out(folder, TRAINING.replace("  datasets: [{name: c4, mountPath: /c4}]\n", ""), PLATFORM + ENVIRONMENTS)
    monkeypatch.chdir(folder)
    assert run("synth").exit_code == 0
    identity = ["-c", "user.email=a@example.com", "-c", "user.name=A"]
    for arguments in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "All"]):
        subprocess.run(["git", *arguments], check=True)


def with_images(stage: str = "1", prod: str = "1") -> None:
    """Give the training of each environment an image of its own."""
    text = FILES.read_text()
    for name, tag in (("stage", stage), ("prod", prod)):
        patch = (
            f"{{target: {{kind: Training, name: sft}}, merge: {{spec: {{image: registry.example.com/ml/sft:{tag}}}}}}}"
        )
        text = text.replace(f"{{name: {name}, ", f"{{name: {name}, patches: [{patch}], ")
    FILES.write_text(text)


def review() -> Review:
    checkout, out = Checkout(Repository(Path())), Path("out")
    return reviewed(compared(checkout, out, "HEAD", chosen(checkout, out, None)), Path(), "HEAD")


def comment() -> str:
    return run("report", "--base", "HEAD", "--format", "markdown").stdout


def test_a_run_names_its_environment() -> None:
    with_images(stage="2")
    found = review()
    assert [(each.fate, each.spec.name, each.environment) for each in found.verdict.runs] == [
        (RunFate.REPLACED, "sft", "stage/s")
    ]
    assert "ml/sft (stage/s)" in comment()
    assert "ml/sft</strong> (stage/s)" in render(found)
    assert "training of Training ml/sft (stage/s)" in found.steps[-1].lines
    stopped = run("diff", "--base", "HEAD", "--fail-on", "rerun").stderr
    assert "rerun: Job ml/sft-training-node" in stopped
    assert "(stage/s)" in stopped


def test_a_node_of_the_picture_links_to_what_changed_in_its_environment() -> None:
    with_images(stage="2")
    found = review()
    changed = {each.path for each in found.objects}
    linked = [node for node in found.nodes if changed.intersection(node.objects)]
    assert [(node.title, node.state) for node in linked] == [("Training sft (stage/s)", ChangeKind.REPLACED)]


def test_the_comment_shows_the_changes_of_each_environment_by_itself() -> None:
    with_images(stage="2", prod="3")
    text = comment()
    stage, prod = text.index("### stage/s: "), text.index("### prod/a, prod/b: ")
    assert "ml/sft:1 → registry.example.com/ml/sft:2" in text[stage:prod]
    assert "ml/sft:1 → registry.example.com/ml/sft:3" in text[prod:]
    assert "the same in" not in text


def test_an_environment_without_a_change_has_no_section() -> None:
    with_images(prod="3")
    text = comment()
    assert "### stage/s: " not in text
    assert "### prod/a, prod/b: " in text
