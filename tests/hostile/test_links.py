"""Links in a checkout: no command writes through them to a file elsewhere."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from stowplan.compiler.cli import app
from stowplan.compiler.repository.temporary_folder import TemporaryFolder

LEGACY = """\
apiVersion: paddlepaddle.org/v1
kind: TrainingJob
metadata:
  name: example
spec:
  image: "paddle:0.14"
  trainer:
    passes: 50
    min-instance: 2
"""


@pytest.fixture
def victim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file beside the checkout, which is the current folder."""
    (tmp_path / "checkout").mkdir()
    monkeypatch.chdir(tmp_path / "checkout")
    (tmp_path / "victim").mkdir()
    file = tmp_path / "victim/file"
    file.write_text(LEGACY)
    return file


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


@pytest.mark.parametrize(
    ("command", "name"),
    [("schema", "platform.schema.json"), ("crds", "batch.paddlepaddle.org_paddlejobs.yaml")],
)
def test_generated_files_take_the_place_of_links(victim: Path, command: str, name: str) -> None:
    Path("made").mkdir()
    Path(f"made/{name}").symlink_to(victim)
    Path(f"made/.{name}.stowplan").symlink_to(victim)
    assert run(command, "made").exit_code == 0
    assert victim.read_text() == LEGACY
    assert not Path(f"made/{name}").is_symlink()


@pytest.mark.parametrize("command", ["schema", "crds"])
@pytest.mark.parametrize("folder", ["made", "made/deeper"])
def test_generated_files_do_not_go_to_a_folder_behind_a_link(victim: Path, command: str, folder: str) -> None:
    Path("made").symlink_to(victim.parent)
    done = run(command, folder)
    assert done.exit_code == 2
    assert "it is a link" in done.output
    assert list(victim.parent.iterdir()) == [victim]


def test_user_may_name_a_folder_behind_a_link_by_its_absolute_path(victim: Path) -> None:
    Path("elsewhere").symlink_to(victim.parent)
    assert run("crds", str(Path("elsewhere/crds").absolute())).exit_code == 0
    assert (victim.parent / "crds").is_dir()


@pytest.mark.parametrize("name", [".schemas", ".vscode", ".github", ".github/workflows", "specs"])
def test_new_repository_is_not_written_through_links(victim: Path, name: str) -> None:
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).symlink_to(victim.parent)
    done = run("init", ".")
    assert done.exit_code == 2
    assert "it is a link" in done.output
    assert list(victim.parent.iterdir()) == [victim]


def test_migration_does_not_rewrite_what_a_link_leads_to_elsewhere(victim: Path) -> None:
    Path("specs").mkdir()
    Path("specs/a.yaml").symlink_to(victim)
    done = run("migrate", "specs")
    assert done.exit_code == 1
    assert "SP109" in done.output
    assert victim.read_text() == LEGACY
    assert list(victim.parent.iterdir()) == [victim]


def test_migration_does_not_write_its_temporary_file_through_a_link(victim: Path) -> None:
    Path("specs").mkdir()
    Path("specs/a.yaml").write_text(LEGACY)
    Path("specs/.a.yaml.stowplan").symlink_to(victim)
    assert run("migrate", "specs").exit_code == 0
    assert "v1alpha1" in Path("specs/a.yaml").read_text()
    assert victim.read_text() == LEGACY


@pytest.fixture
def changed(victim: Path) -> Path:
    """A repository in the current folder, which differs from its output. Returns the victim."""
    assert run("init", ".").exit_code == 0
    return victim


@pytest.mark.parametrize("shape", ["html", "markdown"])
def test_a_review_takes_the_place_of_a_link(changed: Path, shape: str) -> None:
    Path("review").mkdir()
    Path("review/file").symlink_to(changed)
    assert run("report", "--format", shape, "-o", "review/file").exit_code == 0
    assert changed.read_text() == LEGACY
    assert "Stowplan" in Path("review/file").read_text(encoding="utf-8")
    assert not Path("review/file").is_symlink()


def test_a_review_does_not_go_to_a_folder_behind_a_link(changed: Path) -> None:
    Path("review").symlink_to(changed.parent)
    done = run("report", "-o", "review/report.html")
    assert done.exit_code == 2
    assert "it is a link" in done.output
    assert list(changed.parent.iterdir()) == [changed]


HOLD = """
import sys
from stowplan.compiler.repository.temporary_folder import TemporaryFolder
held = TemporaryFolder("p-")
print(held.path, flush=True)
sys.stdin.read()
"""


def test_temporary_folder_of_a_killed_process_is_removed_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    command = [sys.executable, "-c", HOLD]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        folder = Path(process.stdout.readline().strip())
        (folder / "content").write_text("a")
        past = time.time() - 3600
        os.utime(folder, (past, past))
        TemporaryFolder("p-").remove()
        assert folder.is_dir(), "its process lives"
        os.utime(folder, (past, past))
        process.send_signal(signal.SIGKILL)
    TemporaryFolder("p-").remove()
    assert list(tmp_path.iterdir()) == []


def test_only_old_folders_of_the_prefix_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temp"))
    past = time.time() - 3600
    for name in ("temp/p-old", "temp/other", "temp/p-young", "elsewhere"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "content").write_text("a")
        if name != "temp/p-young":
            os.utime(tmp_path / name, (past, past))
    (tmp_path / "temp/p-link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "temp/p-file").write_text("a")
    made = TemporaryFolder("p-")
    left = {path.name for path in (tmp_path / "temp").iterdir()} - {made.path.name}
    assert left == {"other", "p-young", "p-link", "p-file"}
    assert (tmp_path / "elsewhere/content").is_file()
    made.remove()
    assert not made.path.exists()


def test_compilation_leaves_nothing_in_the_temporary_directory(tmp_path: Path) -> None:
    (tmp_path / "temp").mkdir()
    program = Path(sys.executable).with_name("stowplan")
    for command in ("init", "synth"):
        subprocess.run(
            [program, command, tmp_path / "repo"], env={**os.environ, "TMPDIR": str(tmp_path / "temp")}, check=True
        )
    assert list((tmp_path / "temp").glob("stowplan-*")) == []
