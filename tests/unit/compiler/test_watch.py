"""`stowplan watch`: it compiles the changes of specs, and nothing else.

`tests/command/test_watch.py` runs the command.
"""

import time
from contextlib import closing
from pathlib import Path

import pytest

from stowplan.compiler import pipeline
from stowplan.compiler.compiling import compile_all
from stowplan.compiler.compiling.compile_all import Parts
from stowplan.compiler.compiling.steps import Validation
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.environments.target import Target
from stowplan.compiler.generate import starter
from stowplan.compiler.lowering.composer_pool import ComposerPool
from stowplan.compiler.pipeline import Compiler, Options
from stowplan.compiler.repository.layout import Repository
from stowplan.compiler.repository.load import Checkout
from stowplan.compiler.watch import EnvironmentGoneError, Watcher
from stowplan.schema.diagnostics import Severity
from tests.repositories import synthesised


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    starter.write(tmp_path)
    return tmp_path


def num_nodes(repo: Path, before: str, after: str) -> None:
    spec = repo / "specs/mnist-train.yaml"
    spec.write_text(spec.read_text().replace(before, after))


def test_an_edit_before_the_first_poll_is_compiled(repo: Path) -> None:
    """The edit is between the first compilation and the first poll of the folder, however long that takes."""
    rounds = Watcher(Repository(repo), repo / "out").rounds()
    next(rounds)
    num_nodes(repo, "numNodes: 2", "numNodes: 3")
    assert next(rounds).written[0][1].changed
    rounds.close()


def test_relevant_paths(repo: Path) -> None:
    watcher = Watcher(Repository(repo), repo / "out")
    for path in ("specs/a.yaml", "specs/deep/a.txt", "stowplan.yaml", "extensions/labels.py"):
        assert watcher._matters(str(repo / path)), path
    for path in ("README.md", ".git/index", ".venv/lib/a.py", "out/ml/a.yaml", "out/a.py"):
        assert not watcher._matters(str(repo / path)), path


ENVIRONMENTS = """
environments:
- name: dev
- name: prod
  set: {argocd: {repoURL: "https://git.example.com/ml/data.git"}}
  clusters: [{name: a, server: "https://a.example.com"}, {name: b, server: "https://b.example.com"}]
"""


def test_an_environment_that_goes_ends_the_watch_of_it(repo: Path) -> None:
    platform = repo / "stowplan.yaml"
    before = platform.read_text()
    platform.write_text(before + ENVIRONMENTS)
    rounds = Watcher(Repository(repo), repo / "out", env="dev").rounds()
    next(rounds)
    platform.write_text(before + ENVIRONMENTS.replace("- name: dev\n", ""))
    with pytest.raises(EnvironmentGoneError, match="no environment dev"):
        next(rounds)


def test_what_is_wrong_with_environments_together_is_said_and_nothing_is_written(repo: Path) -> None:
    platform = repo / "stowplan.yaml"
    platform.write_text(platform.read_text() + ENVIRONMENTS)
    rounds = Watcher(Repository(repo), repo / "out").rounds()
    assert [place.relative_to(repo).as_posix() for place, _ in next(rounds).written] == [
        "out/dev",
        "out/prod/a",
        "out/prod/b",
    ]
    text = platform.read_text()
    for broken, code in (
        (text.replace("https://b.", "https://a."), "SP809"),
        (text.replace("- name: dev\n", ""), "SP808"),
        (
            f"{text}  runs: manual\n  start: [{{kind: Training, namespace: ml, name: mnist-train, run: abcdefgh}}]\n",
            "SP805",
        ),
    ):
        platform.write_text(broken)
        found = next(rounds)
        assert {each.code for each in found.report.diagnostics if each.severity is Severity.ERROR} == {code}
        assert found.written == ()
    rounds.close()


def test_equal_clusters_are_compiled_once(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    platform = repo / "stowplan.yaml"
    platform.write_text(platform.read_text() + ENVIRONMENTS)
    compiled: list[str] = []
    real = compile_all.specs_alone

    def counting(steps: Validation, report: Report) -> Parts:
        compiled.append(steps.reading.target.name)
        return real(steps, report)

    monkeypatch.setattr(pipeline, "specs_alone", counting)
    rounds = Watcher(Repository(repo), repo / "out").rounds()
    next(rounds)
    assert compiled == ["dev", "prod/a"]
    rounds.close()


def test_a_changed_output_is_repaired(repo: Path) -> None:
    rounds = Watcher(Repository(repo), repo / "out").rounds()
    next(rounds)
    num_nodes(repo, "numNodes: 2", "numNodes: 3")
    next(rounds)
    manifest = next((repo / "out/ml").glob("dataset-*/*.yaml"))
    before = manifest.read_bytes()
    manifest.write_bytes(b"#" * len(before))
    time.sleep(1)
    num_nodes(repo, "numNodes: 3", "numNodes: 4")
    assert next(rounds).report.failed
    manifest.write_bytes(before.replace(b"\n", b" \n", 3))
    time.sleep(1)
    num_nodes(repo, "numNodes: 4", "numNodes: 5")
    assert len(next(rounds).written[0][1].changed) > 1
    assert manifest.read_bytes() == before
    rounds.close()


def test_a_round_equals_a_separate_run(repo: Path) -> None:
    with closing(ComposerPool()) as lasting:
        for wanted in ("numNodes: 2", "numNodes: 3", "numNodes: 3"):
            spec = repo / "specs/mnist-train.yaml"
            spec.write_text(spec.read_text().replace("numNodes: 2", wanted))
            checkout = Checkout(Repository(repo))
            compiler, target = Compiler(checkout, lasting), Target.whole(checkout.platform)
            again = compiler.synth(target, repo / "out", Options(), Report())
            alone = synthesised(repo, repo / "out", Report())
            assert again.outputs == alone.outputs
            assert again.outputs
