"""Equal clusters of an environment: their specs are compiled once, and what is written is as if each had been alone."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from stowplan.compiler.compiling import compile_specs
from stowplan.compiler.compiling.compile_specs import Compilation, Setting
from stowplan.compiler.compiling.destinations import destinations
from stowplan.compiler.diagnostics.report import Diagnostic, Report
from stowplan.compiler.environments.target import Target
from stowplan.compiler.model import Spec
from stowplan.compiler.output.write import write
from stowplan.compiler.pipeline import Compiled, compile_repository
from stowplan.compiler.repository.layout import Repository
from tests.repositories import EXAMPLES
from tests.unit.outputs import files


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    shutil.copytree(EXAMPLES["environments"], tmp_path / "repo")
    return tmp_path / "repo"


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of specs, each time that specs are compiled."""
    found: list[int] = []
    real = compile_specs.compile_specs

    def counting(specs: Sequence[Spec], setting: Setting) -> Compilation:
        found.append(len(specs))
        return real(specs, setting)

    monkeypatch.setattr(compile_specs, "compile_specs", counting)
    return found


def prod(repo: Path) -> list[Target]:
    return [each for each in destinations(Repository(repo), Report())[0] if each.environment.name == "prod"]


def synth(repo: Path, out: Path, *, together: bool) -> list[tuple[list[Diagnostic], list[str]]]:
    """Compile and write both clusters of prod; return the diagnostics and the started runs of each."""
    found, parts = [], []
    first: Compiled | None = None
    for target in prod(repo):
        report = Report()
        made = first.made if first and together else None
        first = compile_repository(Repository(repo), out / target.name, report, target=target, first=made)
        assert not report.failed, report.diagnostics
        parts.append((target, first, report))
        found.append((report.diagnostics, [each.line() for each in first.starts]))
    for target, own, report in parts:
        write(own.files, out / target.name, own.committed, report)
        assert not report.failed, report.diagnostics
    return found


def edit(repo: Path, _: Path) -> None:
    """It may be done twice."""
    for file, old, new in (("specs/resnet.yaml", "finetune.py", "tune.py"), ("stowplan.yaml", "nodes: 4", "nodes: 3")):
        text = (repo / file).read_text().replace(old, new)
        assert new in text
        (repo / file).write_text(text)


def nothing(_: Path, __: Path) -> None: ...


def by_hand(_: Path, out: Path) -> None:
    path = next((out / "prod/prod-b/ml").rglob("job-*.yaml"))
    path.write_text(path.read_text() + "# by hand\n")


def lost(_: Path, out: Path) -> None:
    next((out / "prod/prod-b/ml").rglob("job-*.yaml")).unlink()


def stray(_: Path, out: Path) -> None:
    path = next((out / "prod/prod-b/ml").rglob("role-*.yaml"))
    shutil.copy(path, path.with_name("role-more.yaml"))


def new_cluster(_: Path, out: Path) -> None:
    shutil.rmtree(out / "prod/prod-b")


@pytest.mark.parametrize(
    ("change", "times"), [(nothing, 1), (edit, 1), (by_hand, 2), (lost, 2), (stray, 2), (new_cluster, 2)]
)
def test_output_is_that_of_each_cluster_alone(
    change: Callable[[Path, Path], None], times: int, repo: Path, tmp_path: Path, compiled: list[int]
) -> None:
    one, other = tmp_path / "one/out", tmp_path / "other/out"
    first = synth(repo, one, together=True)
    assert len(compiled) == 1
    assert first == synth(repo, other, together=False)
    assert files(one) == files(other)
    for out in (one, other):
        change(repo, out)
    compiled.clear()
    again = synth(repo, one, together=True)
    assert len(compiled) == times
    assert again == synth(repo, other, together=False)
    assert files(one) == files(other)


def test_clusters_of_other_environments_share_nothing(repo: Path, tmp_path: Path, compiled: list[int]) -> None:
    first = None
    for target in destinations(Repository(repo), Report())[0]:
        found = compile_repository(Repository(repo), tmp_path / target.name, Report(), target=target, first=first)
        first = found.made
    assert len(compiled) == 3
