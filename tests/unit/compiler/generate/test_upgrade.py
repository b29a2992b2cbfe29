"""`stowplan init --upgrade`: what an older version wrote is renewed, and what a person wrote is kept."""

from importlib.metadata import version
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from stowplan.compiler.cli import app
from stowplan.compiler.generate import starter
from stowplan.compiler.generate.starter import installation, upgrade
from stowplan.compiler.generate.starter.ci_files import Ci, ci_files
from stowplan.compiler.generate.starter.stamp import line_of, stamped

WORKFLOW, GITLAB, SCRIPT = ".github/workflows/stowplan.yaml", ".gitlab-ci.yml", "ci/commit-output.sh"
GITATTRIBUTES_OF_0_1_0 = """\
# Written by `stowplan synth`: one line ending everywhere, and folded in the language statistics.
out/** text eol=lf linguist-generated
.schemas/** linguist-generated
"""
OLDER = stamped("# What an older version wrote.\n")
INDEX = "https://packages.example.com/stowplan-{}-py3-none-any.whl"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["init", *map(str, arguments)], catch_exceptions=False)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(params=Ci)
def begun(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A new repository, with either sort of CI."""
    starter.write(tmp_path, ci=request.param)
    return tmp_path


def test_nothing_is_done_to_a_new_repository(begun: Path) -> None:
    before = contents(begun)
    for options in ([], ["--check"]):
        done = run(begun, "--upgrade", *options)
        assert (done.exit_code, done.output) == (0, "All files are those of this version.\n")
    assert contents(begun) == before


def test_what_an_older_version_wrote_is_renewed(begun: Path) -> None:
    wanted = contents(begun)
    paths = ci_files(Ci.COMMIT if (begun / SCRIPT).exists() else Ci.CHECK)
    for path in paths:
        (begun / path).write_text(OLDER)
    (begun / ".schemas/lock.schema.json").write_text("{}\n")
    (begun / SCRIPT).parent.mkdir(exist_ok=True)
    before = contents(begun)

    checked = run(begun, "--upgrade", "--check")
    assert checked.exit_code == 1
    assert [line for line in checked.output.splitlines() if line.startswith("older ")] == [
        f"older {begun / path}" for path in [*sorted(paths), ".schemas/lock.schema.json"]
    ]
    assert f"With Stowplan {version('stowplan')} run `stowplan init {begun} --upgrade`" in checked.output
    assert contents(begun) == before

    done = run(begun, "--upgrade")
    assert done.exit_code == 0
    assert "-# What an older version wrote.\n" in done.output
    assert f"updated {begun / WORKFLOW}\n" in done.output
    assert contents(begun) == wanted
    assert run(begun, "--upgrade", "--check").exit_code == 0


def test_what_was_edited_stays_until_a_person_merges_it(begun: Path) -> None:
    """Its last line says which text was edited, so an edition of today's text is not older."""
    file = begun / WORKFLOW
    today = file.read_text()
    mine = today.replace("ubuntu-latest", "my-machines")
    file.write_text(mine)
    assert run(begun, "--upgrade", "--check").exit_code == 0

    older = mine.replace(line_of(today), line_of(OLDER))
    file.write_text(older)
    for options in ([], ["--check"]):
        done = run(begun, "--upgrade", *options)
        assert done.exit_code == 0
        assert f"edited {file}: it stays." in done.output
        assert "+    runs-on: ubuntu-latest\n" in done.output
        assert f"Then let it end in this line: {line_of(today)}\n" in done.output
    assert file.read_text() == older


def test_files_of_0_1_0_are_known_by_their_text(begun: Path) -> None:
    """They have no such line."""
    file = begun / ".gitattributes"
    today = file.read_text()
    file.write_text(GITATTRIBUTES_OF_0_1_0)
    assert f"updated {file}\n" in run(begun, "--upgrade").output
    assert file.read_text() == today
    file.write_text(GITATTRIBUTES_OF_0_1_0 + "*.bin -text\n")
    assert f"edited {file}: it stays." in run(begun, "--upgrade").output


def test_line_ends_are_no_edit(begun: Path) -> None:
    file = begun / WORKFLOW
    today = file.read_bytes()
    file.write_bytes(today.replace(b"\n", b"\r\n"))
    assert run(begun, "--upgrade", "--check").exit_code == 0
    file.write_bytes(OLDER.encode().replace(b"\n", b"\r\n"))
    assert run(begun, "--upgrade").exit_code == 0
    assert file.read_bytes() == today


def test_what_was_removed_stays_away_but_for_what_ci_installs(begun: Path) -> None:
    (begun / GITLAB).unlink()
    dependencies = begun / "requirements/stowplan-dependencies.txt"
    dependencies.unlink()
    done = run(begun, "--upgrade")
    assert f"Not here, so left out: {GITLAB}. `stowplan init` writes them." in done.output
    assert not (begun / GITLAB).exists()
    assert dependencies.exists()
    assert run(begun, "--upgrade", "--check").exit_code == 0


def test_owners_are_found_where_services_look(begun: Path) -> None:
    (begun / "CODEOWNERS").rename(begun / ".github/CODEOWNERS")
    (begun / ".github/CODEOWNERS").write_text(OLDER)
    assert f"updated {begun}/.github/CODEOWNERS\n" in run(begun, "--upgrade").output
    assert not (begun / "CODEOWNERS").exists()


@pytest.mark.parametrize(
    ("before", "state"),
    [
        ("stowplan==0.1.0 --hash=sha256:" + "1" * 64, upgrade.FileState.OLDER),
        ("# Ours.\nstowplan @ git+https://git.example.com/a@" + "1" * 40, upgrade.FileState.OLDER),
        ("stowplan @ git+https://git.example.com/a@v0.1.0", upgrade.FileState.EDITED),
        (
            "--index-url https://packages.example.com\nstowplan==0.1.0 --hash=sha256:" + "1" * 64,
            upgrade.FileState.EDITED,
        ),
        (f"stowplan @ {INDEX.format(2)} --hash=sha256:{'2' * 64}", upgrade.FileState.CURRENT),
    ],
)
def test_the_line_that_installs_stowplan_counts(
    begun: Path, monkeypatch: pytest.MonkeyPatch, before: str, state: upgrade.FileState
) -> None:
    origin = f'{{"url": "{INDEX.format(2)}", "archive_info": {{"hashes": {{"sha256": "{"2" * 64}"}}}}}}'
    monkeypatch.setattr(installation, "_installed", lambda: ("2", origin))
    file = begun / installation.FILE
    file.write_text(before + "\n")
    (found,) = (each for each in upgrade.compare(begun) if each.path == installation.FILE)
    assert found.state == state
    run(begun, "--upgrade")
    assert (file.read_text() == installation.requirements()) == (state == upgrade.FileState.OLDER)


def test_a_line_that_works_is_not_replaced_by_one_to_complete(begun: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index does not say what hash it gave."""
    monkeypatch.setattr(installation, "_installed", lambda: ("2", None))
    file = begun / installation.FILE
    file.write_text("stowplan==0.1.0 --hash=sha256:" + "1" * 64 + "\n")
    before = file.read_text()
    done = run(begun, "--upgrade")
    assert "pip hash" in done.output
    assert "CI installs another Stowplan until then.\n" in done.output
    assert file.read_text() == before
    file.write_text("stowplan==2 --hash=sha256:" + "1" * 64 + "\n")
    assert run(begun, "--upgrade", "--check").exit_code == 0


def test_links_are_not_written_through(begun: Path) -> None:
    elsewhere = begun / "elsewhere"
    elsewhere.write_text(OLDER)
    (begun / WORKFLOW).unlink()
    (begun / WORKFLOW).symlink_to(elsewhere)
    assert run(begun, "--upgrade").exit_code == 0
    assert elsewhere.read_text() == OLDER
    assert not (begun / WORKFLOW).is_symlink()


def test_check_needs_upgrade(tmp_path: Path) -> None:
    assert run(tmp_path, "--check").exit_code == 2
    assert contents(tmp_path) == {}


def test_a_repository_that_is_not_there(tmp_path: Path) -> None:
    done = run(tmp_path / "nowhere", "--upgrade")
    assert done.exit_code == 2
    assert not (tmp_path / "nowhere").exists()
