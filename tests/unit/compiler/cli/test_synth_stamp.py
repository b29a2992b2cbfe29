"""A `synth` without changes repeats the previous output, and reads no more than necessary."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from stowplan.compiler.cache import fingerprint
from stowplan.compiler.cache.stamp import look
from stowplan.compiler.repository.layout import Repository
from tests.unit.compiler.cli.stamped import DAMAGED, Ended, Stowplan, append, begin_with_mark

EXAMPLE = Path(__file__).parents[4] / "examples/imagenet"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    shutil.copytree(EXAMPLE, tmp_path / "repo")
    return tmp_path / "repo"


@pytest.fixture
def synth(repo: Path, tmp_path: Path) -> Stowplan:
    return Stowplan("synth", repo, tmp_path / "cache")


def last_line(ended: Ended) -> str:
    return ended.stdout.splitlines()[-1]


def test_an_unchanged_run_repeats_its_output_and_does_nothing(repo: Path, synth: Stowplan) -> None:
    first = synth()
    assert not first.did_nothing
    before = {path: path.stat().st_mtime_ns for path in (repo / "out").rglob("*")}
    again = synth()
    assert again.did_nothing
    assert {path: path.stat().st_mtime_ns for path in (repo / "out").rglob("*")} == before
    said = [line for line in first.stdout.splitlines() if not line.startswith("starts when synced: ")]
    assert again.stdout.splitlines()[:-1] == said[:-1]
    assert said[0].startswith("specs/")
    total = last_line(first).partition(": ")[2].split(" created")[0]
    assert last_line(again).endswith(f": 0 created, 0 changed, {total} unchanged, 0 removed")
    assert synth("--format", "json").stdout.count('"code"') == len([line for line in said if line.startswith("  help")])


@pytest.mark.parametrize(
    "change",
    [
        lambda repo: append(repo / "stowplan.yaml", "# a comment\n"),
        lambda repo: append(next((repo / "specs").rglob("*.yaml")), "# a comment\n"),
        lambda repo: (repo / "specs/more.yaml").write_text(""),
        lambda repo: (repo / "specs/more.yaml.txt").write_text(""),
        lambda repo: next((repo / "out").rglob("*.jsonl")).unlink(),
        lambda repo: next((repo / "out").rglob("job-*.yaml")).unlink(),
        lambda repo: append(next((repo / "out").rglob("job-*.yaml")), "# by hand\n"),
        lambda repo: (repo / "out/paddle-system/foreign.yaml").write_text(""),
    ],
    ids=["platform", "spec", "new file", "new name", "inventory", "lost output", "edited output", "foreign file"],
)
def test_a_change_is_detected(repo: Path, synth: Stowplan, change: Callable[[Path], object]) -> None:
    synth()
    change(repo)
    assert not synth(check=False).did_nothing


def test_a_removed_output_is_written_again(repo: Path, synth: Stowplan) -> None:
    synth()
    shutil.rmtree(repo / "out")
    assert not synth().did_nothing
    assert synth().did_nothing


def test_check_and_recompile_ignore_the_stamp(synth: Stowplan) -> None:
    synth()
    assert not synth("--check").did_nothing
    assert not synth("--recompile", "all").did_nothing


def test_the_result_of_a_change_is_reported_once(repo: Path, synth: Stowplan) -> None:
    synth()
    spec = next(path for path in (repo / "specs").rglob("*.yaml") if "kind: SampleJob" in path.read_text())
    spec.unlink()
    removing = synth()
    assert last_line(removing).endswith(" removed")
    assert not last_line(removing).endswith(" 0 removed")
    again = synth()
    assert "SP541" not in again.stdout
    assert synth().did_nothing


def test_another_version_of_the_program_ignores_the_stamp(
    repo: Path, synth: Stowplan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synth()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert look(Repository(repo), repo / "out").unchanged
    monkeypatch.setattr(fingerprint, "of_program", lambda: "newer")
    assert look(Repository(repo), repo / "out").unchanged is None


def test_a_damaged_stamp_is_ignored(synth: Stowplan) -> None:
    synth()
    for content in DAMAGED:
        for kept in (synth.cache / "stowplan/runs").iterdir():
            kept.write_text(content)
        assert not synth().did_nothing, content
        assert synth().did_nothing, content


def test_links_need_a_full_run(repo: Path, synth: Stowplan) -> None:
    (repo / "specs/more").symlink_to(repo / "specs")
    (repo / "specs/more").unlink()
    (repo / "specs/link.yaml").symlink_to(next((repo / "specs").rglob("*.yaml")))
    synth()
    assert not synth().did_nothing


def test_extensions_need_a_full_run(repo: Path, synth: Stowplan) -> None:
    (repo / "more.py").write_text("def build(app, program):\n    pass\n")
    append(repo / "stowplan.yaml", "extensions: [{path: more.py}]\n")
    synth()
    assert not synth().did_nothing


def test_a_cache_that_cannot_be_written_is_no_error(synth: Stowplan, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("")
    synth()
    assert not synth().did_nothing


def test_excerpts_are_those_of_the_first_run(repo: Path, synth: Stowplan) -> None:
    """A byte order mark is no part of the first line."""
    begin_with_mark(repo / "specs/imagenet.yaml")
    first, again = (synth(FORCE_COLOR="1", NO_COLOR="1") for _ in range(2))
    assert again.did_nothing
    assert '1 | {"spec"' in again.stdout
    assert set(again.stdout.splitlines()[:-1]) <= set(first.stdout.splitlines())
