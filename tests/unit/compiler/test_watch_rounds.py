"""A round of a process that goes on says and makes what a whole run of its own would."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.lowering.composer_pool import ComposerPool
from stowplan.compiler.output.write import WriteResult, write
from stowplan.compiler.pipeline import compile_repository
from stowplan.compiler.watch import Watcher
from tests.repositories import EXAMPLES
from tests.unit.edits import EDITS, JOB, OTHER_EDITS, PADDLE, SECRET, SET, lay_out_sets_and_jobs, remove, replace, spec

LONG_AGO = 10**9
"""Files that were changed a moment ago are read in any case."""

ALL_EDITS = EDITS | OTHER_EDITS


@pytest.fixture(scope="module")
def memory() -> Iterator[ComposerPool]:
    with closing(ComposerPool()) as lasting:
        yield lasting


@dataclass
class Watched:
    """A repository that is watched, and compared with a copy that is compiled from nothing but its files."""

    root: Path
    memory: ComposerPool
    watcher: Watcher = field(init=False)
    codes: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.watcher = Watcher(self.root, self.root / "out", self.memory)
        self.compare()

    def compare(self) -> set[str]:
        """Compile, and whole in a copy; the paths that were written."""
        for path in (self.root / "specs").rglob("*.yaml"):
            os.utime(path, (LONG_AGO, LONG_AGO))
        copy = self.root.with_name("copy")
        shutil.copytree(self.root, copy, symlinks=True)
        report = Report()
        whole = compile_repository(copy, copy / "out", report, memory=self.memory, keep_objects=False)
        written = WriteResult() if report.failed else write(whole.files, copy / "out", whole.committed, report)
        found = self.watcher.round()
        assert found.report.diagnostics == report.diagnostics
        assert found.written == written
        assert self._outputs(self.root) == self._outputs(copy)
        assert (found.compiled.objects, found.compiled.starts) == (whole.objects, whole.starts)
        shutil.rmtree(copy)
        self.codes |= {each.code for each in report.diagnostics}
        return {*written.created, *written.changed, *written.removed}

    def edit(self, change: Callable[[Path], object]) -> None:
        before = self._outputs(self.root)
        change(self.root)
        after = self._outputs(self.root)
        changed = [path for path in before.keys() | after.keys() if before.get(path) != after.get(path)]
        self.watcher.notice(str(self.root / "out" / path) for path in changed)

    def _outputs(self, root: Path) -> dict[str, bytes]:
        out = root / "out"
        return {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*") if path.is_file()}


@pytest.fixture
def watched(tmp_path: Path, memory: ComposerPool) -> Watched:
    root = tmp_path / "repo"
    root.mkdir()
    lay_out_sets_and_jobs(root)
    return Watched(root, memory)


@pytest.mark.slow
@pytest.mark.parametrize("change", ALL_EDITS)
def test_an_edit_and_its_end(watched: Watched, change: str) -> None:
    """Two rounds beside what was kept, so that the second one begins with what the first one left."""
    sources = {
        path: path.read_bytes() for path in watched.root.rglob("*") if "out" not in path.parts and path.is_file()
    }
    watched.edit(lambda r: replace(spec(r, "b-train"), "train:1", "train:3"))
    watched.compare()
    watched.edit(ALL_EDITS[change])
    watched.compare()
    assert watched.compare() == set()
    for path in (watched.root / "specs").iterdir():
        path.unlink()
    for path, content in sources.items():
        path.write_bytes(content)
    watched.compare()
    assert watched.compare() == set()


CLAIM = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: NAME, namespace: ml, annotations: {argocd.argoproj.io/sync-options: "Prune=false,Delete=false"}}
spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}}
"""
ROOT = (
    'images: {registry: registry.example.com/ml, tag: "1"}\npassThrough: [{group: "", kind: PersistentVolumeClaim}]\n'
)

CHAIN: list[Callable[[Path], object]] = [
    lambda r: replace(spec(r, "a-train"), "train:1", "train:2"),
    lambda r: spec(r, "c-train").write_text(PADDLE.replace("NAME", "c").replace("{name: c,", "{name: a,")),
    lambda r: spec(r, "copy").write_text(spec(r, "c-train").read_text()),
    lambda r: replace(spec(r, "copy"), "train-c", "train-d"),
    lambda r: replace(spec(r, "copy"), "train-d", "train-c"),
    lambda r: spec(r, "c-train").unlink(),
    lambda r: spec(r, "copy").rename(spec(r, "moved")),
    lambda r: (r / "specs/deep").mkdir(),
    lambda r: spec(r, "moved").rename(r / "specs/deep/moved.yaml"),
    lambda r: replace(spec(r, "a-set"), "uri", "url"),
    lambda r: replace(spec(r, "b-train"), "replicas: 1", "replicas: 2"),
    lambda r: replace(spec(r, "a-set"), "url", "uri"),
    lambda r: replace(spec(r, "b-set"), "partitions: 1", "partitions: 2"),
    lambda r: replace(r / "stowplan.yaml", 'tag: "1"', 'tag: "2"'),
    lambda r: replace(spec(r, "b-train"), "replicas: 2", "replicas: 3"),
    lambda r: spec(r, "plain").write_text(SECRET.replace("extra", "data")),
    lambda r: spec(r, "plain").unlink(),
    lambda r: (r / "stowplan.yaml").write_text(ROOT),
    lambda r: spec(r, "claim").write_text(CLAIM.replace("NAME", "b")),
    lambda r: spec(r, "e-set").write_text(SET.replace("NAME", "e").replace("namespace: ml", "namespace: ai")),
    lambda r: replace(spec(r, "claim"), "name: b", "name: e"),
    lambda r: replace(spec(r, "e-set"), "namespace: ai", "namespace: ml"),
    lambda r: spec(r, "e-job").write_text(JOB.replace("NAME", "e")),
    lambda r: spec(r, "e-set").unlink(),
    lambda r: spec(r, "e-job").unlink(),
    lambda r: next((r / "out").rglob("job-*.yaml")).unlink(),
    lambda r: next((r / "out").rglob("job-*.yaml")).write_text("# Mine\n"),
    lambda r: remove((r / "out").rglob("job-*.yaml")),
    lambda r: (r / "out/ml/note.yaml").write_text("kind: Mine\n"),
    lambda r: replace(spec(r, "a-train"), "train:2", "train:4"),
    lambda r: (r / "out/ml/note.yaml").unlink(),
    lambda r: replace(spec(r, "a-train"), "train:4", "train:5"),
]


@pytest.mark.slow
def test_many_edits_in_a_row(watched: Watched) -> None:
    written = []
    for change in CHAIN:
        watched.edit(change)
        written.append(watched.compare())
    assert sum(map(bool, written)) > len(CHAIN) // 2
    assert watched.codes >= {"SP301", "SP503", "SP508", "SP513", "SP517"}


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_each_file_of_an_example_may_change_or_go(name: str, tmp_path: Path, memory: ComposerPool) -> None:
    shutil.copytree(EXAMPLES[name], tmp_path / name)
    watched = Watched(tmp_path / name, memory)
    for path in sorted((tmp_path / name / "specs").rglob("*.yaml")):
        text = path.read_text()
        for changed in (text.replace("name: ", "name: x", 1), None, text):
            path.unlink() if changed is None else path.write_text(changed)
            watched.compare()


def test_what_a_round_wrote_is_no_change_by_somebody_else(watched: Watched) -> None:
    watched.edit(
        lambda r: spec(r, "c-set").write_text(SET.replace("NAME", "c").replace("namespace: ml", "namespace: ai"))
    )
    written = [watched.root / "out" / path for path in watched.compare()]
    out = watched.root / "out"
    touched = {each for path in written for each in (path, *path.parents) if each.is_relative_to(out) and each != out}
    assert not watched.watcher.notice(map(str, touched))
    assert watched.watcher._standing
    own = next(path for path in written if path.name.startswith("statefulset"))
    own.write_bytes(own.read_bytes()[:-1] + b" ")
    assert not watched.watcher.notice([str(own)])
    assert not watched.watcher._standing
    assert watched.compare() == {own.relative_to(out).as_posix()}


def test_a_written_file_that_somebody_removes_is_written_again(watched: Watched) -> None:
    watched.edit(lambda r: replace(spec(r, "a-train"), "train:1", "train:2"))
    written = watched.compare() - {"inventory.jsonl"}
    watched.edit(lambda r: remove(r / "out" / path for path in written))
    assert watched.compare() == written


def test_another_run_is_noticed_without_a_notice(watched: Watched) -> None:
    """Notices may come late, as where a branch is checked out."""
    shutil.copytree(watched.root / "out", watched.root / "before")
    watched.edit(lambda r: replace(spec(r, "a-train"), "train:1", "train:2"))
    watched.compare()
    shutil.rmtree(watched.root / "out")
    (watched.root / "before").rename(watched.root / "out")
    replace(spec(watched.root, "b-train"), "train:1", "train:3")
    assert "ml/paddlejob-train-a/paddlejob-train-a.yaml" in watched.compare()
