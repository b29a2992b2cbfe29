"""The command on a terminal and elsewhere: escapes, progress, and completion by a real shell."""

import os
import pty
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from stowplan.compiler.generate import starter
from stowplan.schema.codes import CATALOGUE

PROGRAMS = Path(sys.executable).parent
ESCAPE = "\x1b"
PATIENCE_SECONDS = 60


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A starter repository with a mistake."""
    folder = tmp_path_factory.mktemp("repo")
    starter.write(folder)
    (folder / "specs/more.yaml").write_text("kind: SampleSett\n")
    return folder


@dataclass(frozen=True)
class Said:
    """Output of a command, on a terminal or a pipe."""

    out: str
    err: str


def said(repo: Path, *arguments: str, terminals: tuple[str, ...], **environment: str) -> Said:
    """Run the command. `out` and `err` are terminals if they are in `terminals`, otherwise pipes."""
    clean = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "CI")}
    ends = {name: pty.openpty() if name in terminals else os.pipe() for name in ("out", "err")}
    writing = {name: pair[1] for name, pair in ends.items()}
    process = subprocess.Popen(
        [PROGRAMS / "stowplan", *arguments],
        cwd=repo,
        env=clean | {"TERM": "xterm-256color"} | environment,
        stdin=subprocess.DEVNULL,
        stdout=writing["out"],
        stderr=writing["err"],
    )
    for each in writing.values():
        os.close(each)
    # The texts are small, so that neither end waits while the other one is read.
    reported = {name: everything(pair[0]) for name, pair in ends.items()}
    process.wait(PATIENCE_SECONDS)
    return Said(**reported)


def everything(end: int) -> str:
    """Return all output until the other side is closed."""
    parts = []
    # On Linux this error ends the output of a terminal that no process holds open.
    with suppress(OSError):
        while part := os.read(end, 65_536):
            parts.append(part)
    os.close(end)
    return b"".join(parts).decode()


PRINTS = ["validate", "synth", "explain SP201", "validate nowhere", "--help"]


@pytest.mark.parametrize("command", PRINTS)
def test_pipes_get_no_escapes_whatever_the_terminal_is(repo: Path, command: str) -> None:
    text = said(repo, *command.split(), terminals=(), TERM="xterm-256color", COLORTERM="truecolor")
    assert ESCAPE not in text.out + text.err
    assert text.out + text.err


@pytest.mark.parametrize(
    ("command", "variable", "value"),
    [*((each, "NO_COLOR", "1") for each in PRINTS), *((each, "TERM", "dumb") for each in PRINTS[1:3])],
)
def test_a_terminal_gets_no_escapes_if_the_user_disables_them(
    repo: Path, command: str, variable: str, value: str
) -> None:
    text = said(repo, *command.split(), terminals=("out", "err"), **{variable: value})
    assert ESCAPE not in text.out + text.err


def test_a_terminal_gets_colours_and_the_line(repo: Path) -> None:
    text = said(repo, "validate", terminals=("out", "err"))
    assert f"{ESCAPE}[1;31merror SP202" in text.out
    assert "    1 | kind: SampleSett" in text.out


def test_changes_are_coloured_and_can_be_plain(tmp_path: Path) -> None:
    starter.write(repo := tmp_path)
    assert f"{ESCAPE}[32mcreated" in said(repo, "diff", terminals=("out",)).out
    plain = said(repo, "diff", terminals=("out",), NO_COLOR="1").out
    assert plain.replace("\r\n", "\n") == said(repo, "diff", terminals=()).out


def test_progress_is_shown_on_a_terminal_and_not_in_the_output(repo: Path) -> None:
    on_terminal = said(repo, "synth", "--format", "json", terminals=("err",))
    assert "Compiling" in on_terminal.err
    assert on_terminal.out.startswith("{\n")
    assert said(repo, "synth", "--format", "json", terminals=("out",)).err == ""


# Completion.


@dataclass(frozen=True)
class Shell:
    """An interactive bash on a terminal, with completion installed as its users install it."""

    end: int

    def after(self, keys: str, wanted: str) -> str:
        """Type, wait until the wanted string is on the screen, then clear the line."""
        os.write(self.end, keys.encode())
        screen = ""
        finish = time.monotonic() + PATIENCE_SECONDS
        while wanted not in screen:
            assert time.monotonic() < finish, screen
            screen += os.read(self.end, 65_536).decode()
        os.write(self.end, b"\x15")
        return screen


def script(name: str) -> str:
    """Return the completion script of a shell."""
    variables = {**os.environ, "_STOWPLAN_COMPLETE": f"source_{name}"}
    return subprocess.run([PROGRAMS / "stowplan"], env=variables, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def shell(repo: Path) -> Iterator[Shell]:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash")
    settings = "bind 'set enable-bracketed-paste off'\nbind 'set bell-style none'\nPS1='ready> '\n"
    (repo / "rc").write_text(settings + script("bash"))
    end, other = pty.openpty()
    process = subprocess.Popen(
        [bash, "--noprofile", "--rcfile", "rc", "-i"],
        cwd=repo,
        env={"PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}", "TERM": "dumb", "HOME": str(repo)},
        stdin=other,
        stdout=other,
        stderr=other,
        start_new_session=True,
    )
    os.close(other)
    found = Shell(end)
    try:
        found.after("", "ready> ")
        yield found
    finally:
        process.kill()
        process.wait()
        os.close(end)


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("stowplan val", "stowplan validate "),
        ("stowplan synth --rec", "stowplan synth --recompile "),
        ("stowplan validate --format sar", "stowplan validate --format sarif "),
        ("stowplan explain SP20", "SP201"),
        ("stowplan explain SP541", "stowplan explain SP541 "),
        ("stowplan explain specs/mo", "stowplan explain specs/more.yaml "),
        ("stowplan migrate specs/mo", "stowplan migrate specs/more.yaml "),
    ],
)
def test_bash_completes(shell: Shell, typed: str, completed: str) -> None:
    assert completed in shell.after(f"{typed}\t\t", completed)


@pytest.mark.parametrize("name", ["zsh", "fish"])
def test_other_shells_have_a_script(name: str) -> None:
    assert f"complete_{name}" in script(name)


def test_codes_are_completed_without_the_compiler() -> None:
    words = {"_STOWPLAN_COMPLETE": "complete_bash", "COMP_WORDS": "stowplan explain SP", "COMP_CWORD": "2"}
    done = subprocess.run(
        [PROGRAMS / "stowplan"], env={**os.environ, **words}, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == list(CATALOGUE)
