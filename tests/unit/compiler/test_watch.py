"""`stowplan watch`: it compiles the changes of specs, and nothing else."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from stowplan.compiler.compiling import compile_specs
from stowplan.compiler.compiling.compile_specs import Compilation, Setting
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.generate import starter
from stowplan.compiler.lowering.composer_pool import ComposerPool
from stowplan.compiler.model import Spec
from stowplan.compiler.pipeline import compile_repository
from stowplan.compiler.repository.layout import Repository
from stowplan.compiler.watch import Watcher
from stowplan.schema.diagnostics import Severity

COMMAND = Path(sys.executable).with_name("stowplan")
JOB = "out/ml/training-mnist-train/job-mnist-train-training-node.yaml"
PATIENCE_SECONDS = 60


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    starter.write(tmp_path)
    return tmp_path


class Watching:
    """The command in a separate process."""

    def __init__(self, repo: Path, *before: str) -> None:
        self._log = repo / "log.txt"
        with self._log.open("w") as log:
            self.process = subprocess.Popen([*before, COMMAND, "watch", repo], stdout=log, stderr=subprocess.STDOUT)

    def until(self, condition: Callable[[str], bool]) -> str:
        """Wait until the condition holds for the output, and return the output."""
        end = time.monotonic() + PATIENCE_SECONDS
        while not condition(text := self._log.read_text()):
            assert self.process.poll() is None, text
            assert time.monotonic() < end, text
            time.sleep(0.05)
        return text


@pytest.fixture
def watching(repo: Path) -> Iterator[Watching]:
    command = Watching(repo)
    try:
        yield command
    finally:
        command.process.kill()
        command.process.wait()


def num_nodes(repo: Path, before: str, after: str) -> None:
    spec = repo / "specs/mnist-train.yaml"
    spec.write_text(spec.read_text().replace(before, after))


def test_an_edit_is_compiled_and_an_error_is_reported(repo: Path, watching: Watching) -> None:
    watching.until(lambda text: "51 created" in text)
    num_nodes(repo, "numNodes: 2", "numNodes: 3")
    watching.until(lambda text: text.count(" created, ") == 2)
    assert "completions: 3\n" in (repo / JOB).read_text()
    num_nodes(repo, "numNodes: 3", "numNode: 3")
    text = watching.until(lambda text: "nothing written" in text)
    assert "specs/mnist-train.yaml:14:3: error SP201" in text
    assert "completions: 3\n" in (repo / JOB).read_text()
    watching.process.send_signal(signal.SIGINT)
    assert watching.process.wait(PATIENCE_SECONDS) == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_watch_ends_on_a_signal_that_its_parent_ignores(repo: Path, number: signal.Signals) -> None:
    command = Watching(repo, "sh", "-c", "trap '' INT TERM; exec \"$@\"", "sh")
    try:
        command.until(lambda text: "51 created" in text)
        command.process.send_signal(number)
        assert command.process.wait(10) == 0
    finally:
        command.process.kill()
        command.process.wait()


def test_an_edit_before_the_first_poll_is_compiled(repo: Path) -> None:
    """The edit is between the first compilation and the first poll of the folder, however long that takes."""
    rounds = Watcher(Repository(repo), repo / "out").rounds()
    next(rounds)
    num_nodes(repo, "numNodes: 2", "numNodes: 3")
    assert next(rounds).written[0][1].changed
    rounds.close()


@pytest.mark.parametrize(
    ("path", "matters"),
    [
        ("specs/a.yaml", True),
        ("specs/deep/a.txt", True),
        ("stowplan.yaml", True),
        ("extensions/labels.py", True),
        ("README.md", False),
        (".git/index", False),
        (".venv/lib/a.py", False),
        ("out/ml/a.yaml", False),
        ("out/a.py", False),
    ],
)
def test_relevant_paths(repo: Path, path: str, matters: bool) -> None:  # noqa: FBT001 - a case
    assert Watcher(Repository(repo), repo / "out")._matters(str(repo / path)) == matters


ENVIRONMENTS = """
environments:
- name: dev
- name: prod
  set: {argocd: {repoURL: "https://git.example.com/ml/data.git"}}
  clusters: [{name: a, server: "https://a.example.com"}, {name: b, server: "https://b.example.com"}]
"""


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
    compiled: list[int] = []
    real = compile_specs.compile_specs

    def counting(specs: Sequence[Spec], setting: Setting) -> Compilation:
        compiled.append(len(specs))
        return real(specs, setting)

    monkeypatch.setattr(compile_specs, "compile_specs", counting)
    rounds = Watcher(Repository(repo), repo / "out").rounds()
    next(rounds)
    assert len(compiled) == len(("dev", "prod"))
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
    with closing(ComposerPool()) as memory:
        for wanted in ("numNodes: 2", "numNodes: 3", "numNodes: 3"):
            spec = repo / "specs/mnist-train.yaml"
            spec.write_text(spec.read_text().replace("numNodes: 2", wanted))
            again = compile_repository(Repository(repo), repo / "out", Report(), composer=memory)
            alone = compile_repository(Repository(repo), repo / "out", Report())
            assert again.outputs == alone.outputs
            assert again.outputs


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")
def test_node_is_started_before_the_first_edit(watching: Watching) -> None:
    def programs() -> list[bytes]:
        task = Path(f"/proc/{watching.process.pid}/task/{watching.process.pid}/children")
        return [Path(f"/proc/{child}/cmdline").read_bytes() for child in task.read_text().split()]

    watching.until(lambda text: "created" in text)
    watching.until(lambda _: any(b"compose.js" in program for program in programs()))
