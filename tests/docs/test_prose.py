"""What the documentation's prose shows compiles, parses and prints what is shown."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from typer.main import get_group
from typer.testing import CliRunner

from stowplan.compiler.cli import app
from stowplan.schema.codes import CATALOGUE
from tests.docs.not_run import NOT_RUN, not_run, runnable
from tests.docs.prose import FOLDERS, FRAGMENT, PAGES, Block, blocks, inline, pages, words

LOCAL = {"cat", "cd", "cp", "git", "grep", "ls", "mkdir", "mv", "rm", "sed", "stowplan"}
"""Programs that a page may name besides, and that tests run."""

HASH = re.compile(r"-[a-z2-7]{8}\b")
GIT = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
ALL = pytest.mark.parametrize("page", pages(), ids=lambda page: f"{page.parent.name}/{page.stem}")
WITH_COMMANDS = [page for page in pages() if page.parent.name != "tutorials" and any(map(runnable, blocks(page)))]
TUTORIALS = pytest.mark.parametrize("page", sorted((PAGES / "tutorials").glob("*.md")), ids=lambda page: page.stem)


@ALL
def test_yaml_with_a_path_is_a_repository_that_compiles(page: Path, tmp_path: Path) -> None:
    """A block with the path of an earlier one takes its place; the repository before that compiles too."""
    written: set[str] = set()
    for block in (block for block in blocks(page) if block.is_file):
        if block.title in written and block.title.endswith(".yaml"):
            _compile(tmp_path)
        written.add(block.title)
        _write(tmp_path, block)
    if any(title.startswith("specs/") for title in written):
        _compile(tmp_path)


@ALL
def test_yaml_without_a_path_is_a_fragment_or_a_kubernetes_object(page: Path) -> None:
    for block in (block for block in blocks(page) if block.language == "yaml" and not block.is_file):
        for document in yaml.safe_load_all(block.text):
            if block.title != FRAGMENT:
                assert {"apiVersion", "kind"} <= document.keys(), block.text


@ALL
def test_commands_are_those_of_the_programs(page: Path) -> None:
    for block in blocks(page):
        if block.language not in ("console", "bash"):
            assert "stowplan synth" not in block.text or block.language in ("yaml", "text"), block.text
            continue
        for command in block.commands:
            program, *arguments = words(command)
            assert program in LOCAL or not_run(command), command
            if program == "stowplan":
                _parse(arguments)
    for command in inline(page):
        _, name, *arguments = words(command)
        if arguments or name.startswith("-"):
            _parse([name, *arguments])
        else:  # a sentence about the command, which may need arguments
            assert name in get_group(app).commands, command


@ALL
def test_codes_are_known(page: Path) -> None:
    assert set(re.findall(r"\bSP[0-9]{3}\b", page.read_text())) <= set(CATALOGUE)


@ALL
def test_links_between_pages_lead_to_files(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
        if "://" not in target and not target.startswith("../reference/"):
            assert (page.parent / target).exists(), target


@TUTORIALS
def test_tutorial_prints_what_is_shown(page: Path, tmp_path: Path) -> None:
    """Files and commands are taken in the order of the page. `…` stands for any lines, and hashes may be others."""
    folder = tmp_path
    for block in blocks(page):
        if block.is_file:
            _write(folder, block)
        for command, shown in block.session if block.language == "console" else []:
            if words(command)[0] in LOCAL:
                folder, said = _run(folder, command, tmp_path / "folder")
                assert _pattern(shown).fullmatch(HASH.sub("-<hash>", said)), f"$ {command}\n{said}"


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda page: f"{page.parent.name}/{page.stem}")
def test_commands_of_a_page_end_well_in_its_repository(page: Path, tmp_path: Path) -> None:
    """Where a page shows no specs, the repository is that of `stowplan init`. `origin/main` is how it was at first."""
    root = tmp_path / "repository"
    shown = [block for block in blocks(page) if block.is_file]
    if not any(block.title.startswith("specs/") for block in shown):
        _succeed(tmp_path, "stowplan init repository")
    for block in reversed(shown):  # the first of two with one path stays
        _write(root, block)
    (root / "stowplan.yaml").touch()
    for command in ("stowplan synth", "git init -qb main", "git add -A", "git commit -qm Begin"):
        _succeed(root, command)
    _succeed(root, "git update-ref refs/remotes/origin/main HEAD")
    for block in blocks(page):
        if block.is_file:
            _write(root, block)
        for command in runnable(block):
            _succeed(root, command.replace("git commit", "git commit --allow-empty"))


def test_sessions_are_where_tests_run_them() -> None:
    """Those of tutorials below, that of the guide in `test_texts.py`."""
    found = {page for page in pages() if any(block.language == "console" for block in blocks(page))}
    assert {page for page in found if page.parent.name != "tutorials"} == {PAGES / "guides/everyday-work.md"}


def test_every_reason_for_not_running_a_command_is_used() -> None:
    commands = [
        line for page in pages() for block in blocks(page) if block.language == "bash" for line in block.commands
    ]
    used = {not_run(command) for command in commands}
    assert set(NOT_RUN) - used == set()


def test_prose_has_all_of_its_folders() -> None:
    assert {page.parent.name for page in pages()} == set(FOLDERS)
    for page in pages():
        headings = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
        assert re.findall(r"^# .+", headings, re.MULTILINE) == [page.read_text().splitlines()[0]], page


def _succeed(folder: Path, command: str) -> None:
    folder.mkdir(exist_ok=True)
    ended = _bash(folder, command)
    assert ended.returncode == 0, f"$ {command}\n{ended.stdout}"


def _write(folder: Path, block: Block) -> None:
    path = folder / block.title
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(block.text)


def _compile(repository: Path) -> None:
    (repository / "stowplan.yaml").touch()
    said = CliRunner().invoke(app, ["synth", str(repository), "--out", str(repository / "compiled")])
    assert said.exit_code == 0, said.output


def _parse(arguments: list[str]) -> None:
    """Fail if the command line does not take these arguments. Nothing is run."""
    commands = get_group(app).commands
    if arguments and not arguments[0].startswith("-"):
        assert arguments[0] in commands, arguments
        commands[arguments[0]].make_context(arguments[0], arguments[1:])
    else:
        assert arguments[0] in ("--version", "--help", "--install-completion"), arguments


def _run(folder: Path, command: str, end: Path) -> tuple[Path, str]:
    """Return the folder that the shell ends in, and what the command prints."""
    ended = _bash(folder, f'{command}\npwd >"$1"', str(end))
    return Path(end.read_text().strip()), ended.stdout


def _bash(folder: Path, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", script, "page", *arguments],
        cwd=folder,
        env={**os.environ, **GIT, "PATH": programs, "NO_COLOR": "1", "COLUMNS": "120"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def _pattern(shown: str) -> re.Pattern[str]:
    parts = [re.escape(part) for part in HASH.sub("-<hash>", shown).split("…\n")]
    return re.compile(r"(?:.*\n)*".join(parts))
