"""What the documentation's prose shows compiles and parses.

`tests/command/test_pages.py` runs its commands.
"""

import re
from pathlib import Path

import pytest
import yaml
from typer.main import get_group
from typer.testing import CliRunner

from stowplan.compiler.cli import app
from stowplan.schema.codes import CATALOGUE
from tests.docs.not_run import LOCAL, NOT_RUN, not_run
from tests.docs.prose import FOLDERS, FRAGMENT, PAGES, Block, blocks, inline, pages, words

ALL = pytest.mark.parametrize("page", pages(), ids=lambda page: f"{page.parent.name}/{page.stem}")


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


def test_yaml_without_a_path_is_a_fragment_or_a_kubernetes_object() -> None:
    for block in (block for page in pages() for block in blocks(page)):
        if block.language == "yaml" and not block.is_file:
            for document in yaml.safe_load_all(block.text):
                assert block.title == FRAGMENT or {"apiVersion", "kind"} <= document.keys(), block.text


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


def test_codes_are_known() -> None:
    for page in pages():
        assert set(re.findall(r"\bSP[0-9]{3}\b", page.read_text())) <= set(CATALOGUE), page


def test_sessions_are_where_tests_run_them() -> None:
    """`tests/command/test_pages.py` names the guide beside the tutorials."""
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
