"""Windows and macOS: static checks of code that would fail there. The tests run on neither."""

import ast
from collections.abc import Iterator
from pathlib import Path, PureWindowsPath
from typing import cast

import pytest

from stowplan.compiler.cli.explaining import _LINE
from stowplan.compiler.generate import starter
from stowplan.compiler.output import paths
from tests.repositories import REPOSITORY

POSIX_MODULES = set("fcntl grp posix pty pwd resource syslog termios tty".split())
POSIX_NAMES = set(
    "O_CLOEXEC O_DIRECTORY O_NOFOLLOW chown fchmod fork geteuid getuid killpg mkfifo setsid SIGKILL".split()
)
COMPILER = [
    path.relative_to(REPOSITORY).as_posix()
    for folder in ("compiler/stowplan", "library/stowplan/library", "schema/stowplan")
    for path in sorted((REPOSITORY / folder).rglob("*.py"))
]


def unguarded(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those of a branch on `sys.platform`."""
    for child in ast.iter_child_nodes(tree):
        if not (isinstance(child, ast.If) and "sys.platform" in ast.unparse(child.test)):
            yield child
            yield from unguarded(child)


def posix_only(source: str) -> list[str]:
    found = []
    for node in unguarded(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [each.name for each in node.names if each.name in POSIX_MODULES]
        elif isinstance(node, ast.ImportFrom) and node.module in POSIX_MODULES:
            found.append(node.module or "")
        elif isinstance(node, ast.Attribute) and node.attr in POSIX_NAMES:
            found.append(node.attr)
    return found


def test_the_compiler_needs_no_posix() -> None:
    assert {path: found for path in COMPILER if (found := posix_only((REPOSITORY / path).read_text()))} == {}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import fcntl", ["fcntl"]),
        ("def f():\n  from pwd import getpwuid", ["pwd"]),
        ("import os\nos.O_NOFOLLOW", ["O_NOFOLLOW"]),
        ("import sys\nif sys.platform == 'win32':\n  import msvcrt\nelse:\n  import fcntl", []),
        ("getattr(os, 'O_NOFOLLOW', 0)", []),
    ],
)
def test_posix_dependencies_are_found(source: str, found: list[str]) -> None:
    assert posix_only(source) == found


@pytest.mark.parametrize(
    ("out", "shown"),
    [("made\\out", "made/out/a/b.yaml"), ("C:\\data\\out", "out/a/b.yaml"), ("..\\out", "../out/a/b.yaml")],
)
def test_places_have_slashes(out: str, shown: str) -> None:
    assert paths.location(cast("Path", PureWindowsPath(out)), "a/b.yaml").file == shown


@pytest.mark.parametrize("path", ["ml\\a.yaml", "..\\a.yaml", "\\\\server\\share"])
def test_backslashes_are_in_no_path_of_the_output(path: str) -> None:
    assert not paths.safe(path)


def test_a_line_of_a_file_on_a_drive_is_understood() -> None:
    found = _LINE.fullmatch("C:\\data\\specs\\a.yaml:12")
    assert found
    assert (found["file"], found["line"]) == ("C:\\data\\specs\\a.yaml", "12")


def test_no_two_files_of_the_repository_differ_only_in_case() -> None:
    ours = [*starter.files(), *(path.name for path in (REPOSITORY / "schema/crds").iterdir())]
    assert len({each.casefold() for each in ours}) == len(ours)
