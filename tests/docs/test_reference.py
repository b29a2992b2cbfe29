"""The generated reference has everything that the code has, and is the same each time."""

import os
import subprocess
import sys
from pathlib import Path

import typer

from docs.reference.__main__ import pages
from stowplan.compiler.cli import app
from stowplan.compiler.diagnostics.pages import page
from stowplan.compiler.specs.field_help import KINDS, every_field, field_help
from stowplan.library.frameworks.registry import PLUGINS
from stowplan.schema.agents.exit_codes import MEANINGS, ExitCode
from stowplan.schema.codes import CATALOGUE
from stowplan.schema.export.plain_schema import plain_schema
from tests.repositories import REPOSITORY

PAGES = pages()


def test_every_field_has_a_heading_and_is_explained_in_the_shell() -> None:
    for name, model in KINDS.items():
        fields = list(every_field(plain_schema(model)))
        assert fields
        for each in fields:
            assert f"# `{each.path}` {{" in PAGES[f"kinds/{name}.md"]
            assert field_help(f"{name}.{each.path}") is not None, each.path


def test_every_code_has_the_page_that_explain_prints() -> None:
    assert {path for path in PAGES if path.startswith("codes/SP")} == {f"codes/{code}.md" for code in CATALOGUE}
    assert all(PAGES[f"codes/{code}.md"] == page(code) for code in CATALOGUE)


def test_every_command_and_option_is_there() -> None:
    commands = vars(typer.main.get_command(app))["commands"]
    shown = PAGES["commands.md"]
    assert len(commands) >= 10
    for name, command in commands.items():
        section = shown.partition(f"## stowplan {name} {{")[2].partition("\n## ")[0]
        options = [option for each in command.params if not each.hidden for option in each.opts]
        assert [option for option in options if option.startswith("--") and option not in section] == [], name


def test_every_exit_code_has_a_meaning() -> None:
    assert set(MEANINGS) == set(ExitCode)


def test_variables_of_every_framework_are_shown_as_compiled() -> None:
    shown = PAGES["variables.md"]
    assert [name for name in PLUGINS if f"\n## {name}: " not in shown] == []
    tables = [part for part in shown.split("\n## ") if "| Variable | Value |" in part]
    assert len(tables) >= len(PLUGINS)
    assert all("| `STOWPLAN_RUN` |" in table for table in tables)


def test_pages_are_the_same_to_the_byte_in_each_process(tmp_path: Path) -> None:
    for seed in ("1", "2"):
        command = [sys.executable, "-m", "docs.reference", str(tmp_path / seed)]
        subprocess.run(command, cwd=REPOSITORY, env={**os.environ, "PYTHONHASHSEED": seed}, check=True)
    first, second = (
        {path.relative_to(tmp_path / seed): path.read_bytes() for path in (tmp_path / seed).rglob("*.md")}
        for seed in ("1", "2")
    )
    assert first == second
    assert len(first) == len(PAGES)
