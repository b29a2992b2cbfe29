"""The generated reference has everything that the code has, and is the same each time."""

import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import typer

from docs.reference import agents
from docs.reference.__main__ import pages
from docs.reference.programs import PROGRAMS
from stowplan.compiler.cli import app
from stowplan.compiler.diagnostics.pages import page
from stowplan.compiler.generate.starter import released
from stowplan.compiler.specs import field_help
from stowplan.compiler.specs.field_help import KINDS, every_field
from stowplan.library.frameworks.registry import PLUGINS
from stowplan.schema.agents.exit_codes import MEANINGS, ExitCode
from stowplan.schema.codes import CATALOGUE
from stowplan.schema.export.plain_schema import plain_schema
from stowplan.schema.platform.settings import Digests
from tests.repositories import REPOSITORY

written = cache(pages)
"""The text of each page, by its path."""


def test_every_field_has_a_heading_and_is_explained_in_the_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(field_help, "plain_schema", cache(plain_schema))  # once for a kind, not for a field
    for name, model in KINDS.items():
        fields = list(every_field(plain_schema(model)))
        assert fields
        shown = written()[f"kinds/{name}.md"]
        for each in fields:
            assert f"# `{each.path}` {{" in shown
            assert field_help.field_help(f"{name}.{each.path}") is not None, each.path


def test_every_code_has_the_page_that_explain_prints() -> None:
    assert {path for path in written() if path.startswith("codes/SP")} == {f"codes/{code}.md" for code in CATALOGUE}
    assert all(written()[f"codes/{code}.md"] == page(code) for code in CATALOGUE)


def test_every_command_and_option_is_there() -> None:
    commands = vars(typer.main.get_command(app))["commands"]
    shown = written()["commands.md"]
    assert len(commands) >= 10
    for name, command in commands.items():
        section = shown.partition(f"## stowplan {name} {{")[2].partition("\n## ")[0]
        options = [option for each in command.params if not each.hidden for option in each.opts]
        assert [option for option in options if option.startswith("--") and option not in section] == [], name


def test_every_agent_shows_its_arguments_and_exit_codes() -> None:
    folder = REPOSITORY / "library/stowplan/agents"
    entries = [*folder.glob("*/__main__.py"), *(each for each in folder.glob("*.py") if each.name != "__init__.py")]
    mains = [re.findall(r'start\("([\w.]+)"', each.read_text("utf-8")) for each in entries]
    assert {each[-1] for each in mains} == set(PROGRAMS.values())
    sections = written()["agents.md"].partition("## Programs")[2].partition("\n## ")[0].split("\n### ")[1:]
    assert [each.split("\n")[0] for each in sections] == list(PROGRAMS)
    assert [each for each in sections[1:] if "exit codes: " not in each or "--log-format" not in each] == []


def test_the_transfer_command_is_shown_by_its_name_and_with_all_of_its_options() -> None:
    section = written()["commands.md"].partition("## stowplan-transfer")[2]
    assert "usage: stowplan-transfer " in section
    assert "--allow-loopback" in section


def test_variables_of_the_kinds_of_other_operators_are_shown_by_role() -> None:
    sections = {each.split("\n")[0]: each for each in written()["variables.md"].split("\n## ")}
    assert {each.split(",")[0] for each in sections} >= {"PaddleJob", "TrainingJob", "MxJob"}
    servers = sections["PaddleJob, parameter servers, with Gloo"]
    assert "| `TRAINING_ROLE` | ps | `PSERVER` |\n| `TRAINING_ROLE` | worker | `TRAINER` |" in servers
    assert "| `DMLC_PS_ROOT_URI` | scheduler | [`status.podIP`] |" in sections["MxJob, distributed"]
    assert "PS_VERBOSE" not in written()["variables.md"]  # of the user


def test_every_exit_code_has_a_meaning() -> None:
    assert set(MEANINGS) == set(ExitCode)


def test_images_of_a_release_are_named_by_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "## Images" not in written()["agents.md"]
    digests = {agent: f"sha256:{number:064}" for number, agent in enumerate(Digests.model_fields)}
    (tmp_path / "released.json").write_text(json.dumps({"registry": "registry.example.com/a", "digests": digests}))
    monkeypatch.setattr(released, "FILE", tmp_path / "released.json")
    for agent, digest in digests.items():
        assert f"| {agent} | `registry.example.com/a/stowplan-{agent}@{digest}` |" in agents.page()


def test_variables_of_every_framework_are_shown_as_compiled() -> None:
    shown = written()["variables.md"]
    assert [name for name in PLUGINS if f"\n## {name}: " not in shown] == []
    tables = [part for part in shown.split("\n## ") if "| Variable | Value |" in part]
    assert len(tables) >= len(PLUGINS)
    assert all("| `STOWPLAN_RUN` |" in table for table in tables)


def test_pages_are_the_same_to_the_byte_in_each_process(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "docs.reference", str(tmp_path)]
    subprocess.run(command, cwd=REPOSITORY, env={**os.environ, "PYTHONHASHSEED": "1"}, check=True)
    there = {path.relative_to(tmp_path / "reference").as_posix(): path.read_text() for path in tmp_path.rglob("*.md")}
    assert there == written()
