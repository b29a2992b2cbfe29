"""Commands save work, and do what they do without that, whatever happens to the repository, the output or the cache.

A random walk: after each step, a command runs on the repository with the cache, a few specs at a time, and with the
results of one cluster for an equal one. On a copy runs the same command with an empty cache, on all specs of each
cluster. Both must print the same, end with the same exit code and leave the same bytes. The tier gives the number of
steps, and the landing tier takes the same ones each time.
"""

import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test
from hypothesis.strategies import booleans, integers, sampled_from
from typer.testing import CliRunner

from stowplan.compiler.cache import output_index
from stowplan.compiler.cli import app
from stowplan.compiler.committed.last_output import Committed
from stowplan.compiler.compiling import compile_all
from stowplan.compiler.diagnostics.console import as_json
from stowplan.compiler.repository.layout import Repository
from stowplan.compiler.watch import Watcher
from tests.tier import STEPS
from tests.unit.edits import EDITS, OTHER_EDITS, SECRET, SET, lay_out_sets_and_jobs, replace, spec

STEPS_OF_A_WALK = min(20, STEPS // 4)

LOCK = f"""\
apiVersion: stowplan.dev/v1alpha1
kind: Lock
images:
  registry.example.com/train:1: {{digest: sha256:{"a" * 64}}}
  registry.example.com/ml/stowplan-cache:1: {{digest: sha256:{"a" * 64}}}
  registry.example.com/unused:1: {{digest: sha256:{"a" * 64}}}
"""

CLUSTERS = """\
argocd: {repoURL: https://git.example.com/ml/data.git, crds: external}
environments:
- name: prod
  clusters:
  - {name: east, server: "https://east.example.com"}
  - {name: west, server: "https://west.example.com"}
"""
"""An environment with two equal clusters, whose specs are compiled once for both."""
NORTH = '{name: north, server: "https://north.example.com"}'

EDITS_OF_SPECS: dict[str, Callable[[Path], object]] = {
    **{name: edit for name, edit in (EDITS | OTHER_EDITS).items() if not name.startswith("lost ")},
    "larger job": lambda r: replace(spec(r, "a-train"), "replicas: 1", "replicas: 2"),
    "other namespace": lambda r: replace(spec(r, "b-job"), "namespace: ml", "namespace: ai"),
    "dataset of a file": lambda r: replace(spec(r, "b-set"), "partitions: 1", "partitions: 2"),
    "two in a file": lambda r: spec(r, "two").write_text(f"{SET.replace('NAME', 'e')}---\n{SET.replace('NAME', 'f')}"),
    "mixed file": lambda r: spec(r, "two").write_text(f"{SET.replace('NAME', 'e')}---\n{SECRET}"),
    "tag of images": lambda r: replace(r / "stowplan.yaml", 'tag: "1"', 'tag: "2"'),
    "lock": lambda r: (r / "stowplan.lock").write_text(LOCK),
    "moved pins": lambda r: replace(r / "stowplan.lock", "a" * 64, "b" * 64),
    "wrong lock": lambda r: replace(r / "stowplan.lock", "kind: Lock", "kind: Log"),
    "lost lock": lambda r: (r / "stowplan.lock").unlink(),
    "pins wanted": lambda r: replace(r / "stowplan.yaml", "images:", "policy: {pins: warn}\nimages:"),
    "another cluster": lambda r: replace(r / "stowplan.yaml", "  - {name: west", f"  - {NORTH}\n  - {{name: west"),
    "manual runs": lambda r: replace(r / "stowplan.yaml", "- name: prod", "- runs: manual\n  name: prod"),
    "no root": lambda r: replace(r / "stowplan.yaml", "ml,", "ml, pullPolicy: Never,"),
}


def same_length(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[:-2] + bytes([content[-2] ^ 1]) + content[-1:])


def same_length_and_times(path: Path) -> None:
    before = path.stat()
    same_length(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


EDITS_OF_OUTPUT: dict[str, Callable[[Path], object]] = {
    "same length": same_length,
    "same length and times": same_length_and_times,
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"# Mine\n"),
    "without header": lambda path: path.write_bytes(b"kind: Mine\n"),
    "touch": lambda path: path.touch(),
    "old": lambda path: os.utime(path, (10**9, 10**9)),
    "copied": lambda path: shutil.copy(path, path.with_name("copy.yaml")),
    "put in its place": lambda path: in_its_place(path, lambda same: same.write_bytes(b"kind: Mine\n")),
    "removed": lambda path: path.unlink(),
}


def in_its_place(path: Path, make: Callable[[Path], object]) -> None:
    path.unlink()
    make(path)


def copy_of_another(path: Path) -> None:
    path.write_bytes(next(each for each in sorted(path.parent.iterdir()) if each.is_file()).read_bytes())


EDITS_OF_CACHE: dict[str, Callable[[Path], object]] = {
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "empty": lambda path: path.write_bytes(b""),
    "changed": lambda path: path.write_bytes(path.read_bytes()[:-1] + b"x"),
    "replaced": lambda path: path.write_bytes(b"\x80"),
    "removed": lambda path: path.unlink(),
    "folder": lambda path: in_its_place(path, Path.mkdir),
    "pipe": lambda path: in_its_place(path, os.mkfifo),
    "another file": copy_of_another,
}


CHOSEN = integers(0, 999)
"""A number that stands for one of the files that there are."""


class Walk(RuleBasedStateMachine):
    """One repository with a second clone, which share a cache."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = TemporaryDirectory()
        self.top = Path(self._folder.name)
        self.repo, self.clone, self.cache = (self.top / name for name in ("repo", "clone", "cache"))
        self.saved = 0
        self.watcher = Watcher(Repository(self.repo), self.repo / "out")

    @initialize(clusters=booleans())
    def begin(self, *, clusters: bool) -> None:
        self.repo.mkdir()
        lay_out_sets_and_jobs(self.repo)
        if clusters:
            with (self.repo / "stowplan.yaml").open("a") as file:
                file.write(CLUSTERS)
        shutil.copytree(self.repo, self.clone)
        self.run("synth", self.repo)

    def teardown(self) -> None:
        self._folder.cleanup()

    @rule(name=sampled_from(sorted(EDITS_OF_SPECS)), command=sampled_from(("synth", "synth", "validate", "watch")))
    def edit_a_spec(self, name: str, command: str) -> None:
        # Some edits need what others took away.
        with suppress(AssertionError, OSError, UnicodeDecodeError):
            EDITS_OF_SPECS[name](self.repo)
        self.run(command, self.repo)

    @rule(name=sampled_from(sorted(EDITS_OF_OUTPUT)), chosen=CHOSEN, command=sampled_from(("synth", "watch")))
    def edit_the_output(self, name: str, chosen: int, command: str) -> None:
        files = sorted(path for path in (self.repo / "out").rglob("*") if path.is_file())
        if files:
            EDITS_OF_OUTPUT[name](files[chosen % len(files)])
        self.run(command, self.repo)

    @rule(name=sampled_from(sorted(EDITS_OF_CACHE)), chosen=CHOSEN, command=sampled_from(("synth", "validate")))
    def spoil_the_cache(self, name: str, chosen: int, command: str) -> None:
        files = sorted(path for path in self.cache.rglob("*") if path.is_file())
        if files:
            EDITS_OF_CACHE[name](files[chosen % len(files)])
        self.run(command, self.repo)

    @rule()
    def save(self) -> None:
        self.saved += 1
        for folder in (self.repo, self.cache):
            shutil.copytree(folder, self.top / f"{folder.name}-{self.saved}", copy_function=_copy)

    @precondition(lambda self: self.saved > 0)
    @rule(chosen=CHOSEN, names=sampled_from(("specs", "out", "specs out", "cache", "specs cache", "specs out cache")))
    def return_to_what_was_saved(self, chosen: int, names: str) -> None:
        number = chosen % self.saved + 1
        for name in names.split():
            of_cache = name == "cache"
            source = self.top / (f"cache-{number}" if of_cache else f"repo-{number}/{name}")
            target = self.cache if of_cache else self.repo / name
            shutil.rmtree(target, ignore_errors=True)
            if source.exists():
                shutil.copytree(source, target)
        self.run("synth", self.repo)

    @rule(name=sampled_from(sorted(EDITS_OF_SPECS)))
    def work_in_the_clone(self, name: str) -> None:
        with suppress(AssertionError, OSError, UnicodeDecodeError):
            EDITS_OF_SPECS[name](self.clone)
        self.run("synth", self.clone)

    @rule(command=sampled_from(("synth", "validate", "watch")))
    def run_again(self, command: str) -> None:
        self.run(command, self.repo)

    def run(self, command: str, repo: Path) -> None:
        copy = self.top / "copy"
        shutil.copytree(repo, copy)
        with patch.object(compile_all, "SIZE", 2):
            with_cache = self._round() if command == "watch" else _outcome(command, repo, self.cache)
        with patch.object(Committed, "fingerprint", ""):
            without = _outcome("validate" if command == "validate" else "synth", copy, self.top / "empty")
        if command == "watch":
            assert json.loads(with_cache)["diagnostics"] == json.loads(without[:-1])["diagnostics"]
        else:
            assert with_cache == without
        assert _files(repo / "out") == _files(copy / "out")
        for each in (copy, self.top / "empty"):
            shutil.rmtree(each, ignore_errors=True)

    def _round(self) -> str:
        text: str = as_json(self.watcher.round().report.diagnostics, {})
        return text


def _copy(source: str, target: str) -> None:
    """Copy a regular file; leave out pipes."""
    if Path(source).is_file():
        shutil.copy2(source, target)


def _outcome(command: str, repo: Path, cache: Path) -> str:
    with patch.dict(os.environ, XDG_CACHE_HOME=str(cache), XDG_STATE_HOME=str(repo.with_name("state"))):
        ended = CliRunner().invoke(app, [command, str(repo), "--format", "json"])
    assert ended.exception is None or isinstance(ended.exception, SystemExit), ended.exception
    return f"{ended.stdout}{ended.exit_code}"


def _files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_is_saved_changes_nothing() -> None:
    """Files count as old at once, so that the index of the output is used."""
    with patch.object(output_index, "_TICK_NANOSECONDS", 0):
        run_state_machine_as_test(
            Walk,
            settings=settings(
                max_examples=1 + STEPS // STEPS_OF_A_WALK,  # the first one is the shortest
                stateful_step_count=STEPS_OF_A_WALK,
                # A failure is reported as it was found: to shrink it takes many runs.
                phases=(Phase.generate,),
                suppress_health_check=list(HealthCheck),
            ),
        )


def test_an_edit_of_one_of_two_equal_clusters() -> None:
    walk = Walk()
    walk.begin(clusters=True)
    west = walk.repo / "out/prod/west"
    for name, file in (
        ("longer", "job-*"),
        ("removed", "job-*"),
        ("copied", "job-*"),
        ("removed", "sampleset-*.jsonl"),
    ):
        EDITS_OF_OUTPUT[name](next(west.rglob(file)))
        walk.run("synth", walk.repo)
    shutil.rmtree(west)
    walk.run("synth", walk.repo)
    walk.teardown()
