"""The choice of Node, and its messages."""

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
from stowplan.library.constructs import ManifestSet
from cdk8s import App, Chart
Chart(App(), "chart").to_json()
print("done")
"""


def run(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the program in a separate Python with an empty PATH."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("JSII_")}
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**kept, "PATH": "/nowhere", **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_no_node_on_the_path_is_needed_and_nothing_is_printed() -> None:
    ended = run(PROGRAM)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "done\n", "")


def test_the_home_folder_need_not_be_writable() -> None:
    assert run(PROGRAM, HOME="/dev/null/nowhere").stdout == "done\n"


def test_the_users_node_is_used(tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    node = tmp_path / "node"
    node.write_text(f'#!/bin/sh\n: > {witness}\nexec {os.environ["JSII_NODE"]} "$@"\n')
    node.chmod(0o755)
    assert run(PROGRAM, JSII_NODE=str(node)).stdout == "done\n"
    assert witness.exists()


def test_jsii_warnings_about_the_users_node_are_kept() -> None:
    program = "import os, stowplan.library.constructs; print([key for key in os.environ if 'SILENCE' in key])"
    assert run(program, JSII_NODE=os.environ["JSII_NODE"]).stdout == "[]\n"
    assert "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION" in run(program).stdout


def test_a_platform_without_extensions_starts_no_node() -> None:
    program = """
import sys
from pathlib import Path
from stowplan.compiler.lowering.extensions import extend
from stowplan.compiler.model import Program
from stowplan.schema.platform.platform import Platform
extend(Program(Platform(), None, ()), (), Path())
print("jsii" in sys.modules)
"""
    assert run(program).stdout == "False\n"
