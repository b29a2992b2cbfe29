"""A `validate` without changes repeats the previous output; after an edit its output equals that of a full run."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from stowplan.compiler.cache import fingerprint, private_files
from stowplan.compiler.cache.stamp import look
from stowplan.compiler.repository.layout import Repository
from tests.unit.compiler.cli.stamped import DAMAGED, Stowplan, append, begin_with_mark

EXAMPLE = Path(__file__).parents[4] / "examples/imagenet"
FORMATS = ("text", "json", "sarif", "github")
SET, JOBS = "specs/imagenet.yaml", "specs/imagenet-jobs.yaml"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    shutil.copytree(EXAMPLE, tmp_path / "repo")
    return tmp_path / "repo"


@pytest.fixture
def validate(repo: Path, tmp_path: Path) -> Stowplan:
    return Stowplan("validate", repo, tmp_path / "cache")


@pytest.fixture
def elsewhere(repo: Path, tmp_path: Path) -> Stowplan:
    """The same command without a usable cache."""
    (tmp_path / "no-cache").write_text("")
    return Stowplan("validate", repo, tmp_path / "no-cache")


def spoil(repo: Path) -> None:
    path = repo / JOBS
    path.write_text(path.read_text().replace("type: warmup", "type: warmdown"))


@pytest.mark.parametrize("wrong", [False, True], ids=["sound", "wrong"])
def test_an_unchanged_run_repeats_its_output(repo: Path, validate: Stowplan, *, wrong: bool) -> None:
    if wrong:
        spoil(repo)
    first = [validate("--format", each, check=False, FORCE_COLOR="1") for each in FORMATS[:1]]
    assert not first[0].did_nothing
    assert first[0].code == wrong
    assert "^" in first[0].stdout
    for form in FORMATS:
        again = validate("--format", form, check=False, FORCE_COLOR="1")
        assert again.did_nothing
        shutil.rmtree(validate.cache)
        whole = validate("--format", form, check=False, FORCE_COLOR="1")
        assert not whole.did_nothing
        assert again.outcome == whole.outcome


def test_the_repository_is_not_changed(repo: Path, validate: Stowplan) -> None:
    before = {path: path.stat().st_mtime_ns for path in repo.rglob("*")}
    validate()
    validate()
    assert {path: path.stat().st_mtime_ns for path in repo.rglob("*")} == before


def extend(repo: Path) -> None:
    (repo / "more.py").write_text("def build(app, program):\n    pass\n")
    append(repo / "stowplan.yaml", "extensions: [{path: more.py}]\n")


CHANGES: dict[str, Callable[[Path], object]] = {
    "platform": lambda repo: append(repo / "stowplan.yaml", "juicefs: {taskUser: 0}\n"),
    "no platform": lambda repo: (repo / "stowplan.yaml").unlink(),
    "second platform": lambda repo: (repo / "stowplan.yml").write_text(""),
    "extension": extend,
    "spec": lambda repo: append(repo / JOBS, "# a comment\n"),
    "wrong spec": spoil,
    "unknown kind": lambda repo: append(repo / JOBS, "---\nkind: Unknown\n"),
    "new file": lambda repo: (repo / "specs/more.yaml").write_text("kind: [\n"),
    "new name": lambda repo: (repo / "specs/more.yaml.txt").write_text(""),
    "removed file": lambda repo: (repo / SET).unlink(),
    "other place": lambda repo: (repo / JOBS).rename(repo / "specs/z.yaml"),
    "no specs": lambda repo: shutil.rmtree(repo / "specs"),
    "pipe": lambda repo: os.mkfifo(repo / "specs/pipe.yaml"),
    "link": lambda repo: (repo / "specs/link.yaml").symlink_to(EXAMPLE / "stowplan.yaml"),
    "linked specs": lambda repo: moved(repo / "specs"),
    "UTF-16": lambda repo: (repo / "specs/wide.yaml").write_bytes("kind: x\n".encode("utf-16")),
    "no UTF-8": lambda repo: append_bytes(repo / JOBS, b"# \xff\n"),
    "byte order mark": lambda repo: begin_with_mark(repo / SET),
    "odd name": lambda repo: (repo / os.fsdecode(b"specs/\xff.yaml")).write_text("kind: [\n"),
    "large": lambda repo: (repo / "specs/large.yaml").write_text("#" * 1_048_577),
}


def append_bytes(path: Path, content: bytes) -> None:
    path.write_bytes(path.read_bytes() + content)


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_detected(name: str, repo: Path, validate: Stowplan, elsewhere: Stowplan) -> None:
    validate()
    CHANGES[name](repo)
    after = validate(check=False, FORCE_COLOR="1")
    assert not after.did_nothing
    whole = elsewhere(check=False, FORCE_COLOR="1").outcome
    assert after.outcome == whole
    assert validate(check=False, FORCE_COLOR="1").outcome == whole


@pytest.mark.parametrize(
    "unusual",
    [
        CHANGES["pipe"],
        CHANGES["link"],
        CHANGES["large"],
        CHANGES["no specs"],
        lambda repo: moved(repo / "stowplan.yaml"),
        lambda repo: pipe(repo / "stowplan.yaml"),
    ],
    ids=[
        *("pipe", "link", "large", "no specs", "linked platform"),
        "platform as a pipe",
    ],
)
def test_unusual_repositories_need_a_full_run(
    repo: Path, validate: Stowplan, unusual: Callable[[Path], object]
) -> None:
    unusual(repo)
    first, again = (validate(check=False, FORCE_COLOR="1") for _ in range(2))
    assert first.stdout
    assert not again.did_nothing
    assert again.outcome == first.outcome


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def moved(path: Path) -> None:
    """A link in place of what is now outside the repository."""
    path.rename(path.parents[1] / path.name)
    path.symlink_to(path.parents[1] / path.name)


def test_a_change_of_an_extension_needs_no_run(repo: Path, validate: Stowplan, elsewhere: Stowplan) -> None:
    extend(repo)
    validate()
    (repo / "more.py").write_text("raise ValueError\n")
    again = validate()
    assert again.did_nothing
    assert again.outcome == elsewhere().outcome


def test_each_command_has_its_own_stamp(repo: Path, validate: Stowplan) -> None:
    synth = Stowplan("synth", repo, validate.cache)
    synth()
    assert not validate().did_nothing
    assert synth().did_nothing
    spec = next(path for path in (repo / "specs").rglob("*.yaml") if "kind: SampleJob" in path.read_text())
    spec.unlink()
    assert not validate().did_nothing
    assert not synth().did_nothing
    assert validate().did_nothing


def test_another_version_of_the_program_ignores_the_stamp(
    repo: Path, validate: Stowplan, monkeypatch: pytest.MonkeyPatch
) -> None:
    validate()
    monkeypatch.setenv("XDG_CACHE_HOME", str(validate.cache))
    monkeypatch.setenv("XDG_STATE_HOME", str(validate.cache.with_name("state")))
    assert look(Repository(repo)).unchanged
    monkeypatch.setattr(fingerprint, "of_program", lambda: "newer")
    assert look(Repository(repo)).unchanged is None


def test_a_damaged_stamp_is_ignored(validate: Stowplan) -> None:
    first = validate()
    for content in DAMAGED:
        for record in (validate.cache / "stowplan/runs").iterdir():
            record.write_text(content)
        again = validate()
        assert not again.did_nothing, content
        assert again.outcome == first.outcome
        assert validate().did_nothing, content


def test_a_cache_that_cannot_be_written_is_no_error(validate: Stowplan, elsewhere: Stowplan) -> None:
    first = validate()
    assert elsewhere().outcome == first.outcome
    assert not elsewhere().did_nothing


def test_oldest_files_of_the_cache_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(private_files, "MOST_FILES", 3)
    places = [private_files.folder() / str(number) for number in range(5)]
    for number, place in enumerate(places):
        private_files.write(place, b"content")
        os.utime(place, (number, number))
    assert [private_files.read(place) for place in places] == [None, None, b"content", b"content", b"content"]
