"""`make demo` tells one story, and leaves a page for reviewers."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.repositories import REPOSITORY


@pytest.mark.slow
def test_demo_finds_a_mistake_compiles_a_job_and_reviews_a_change(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """In a copy, since the demo writes `out/` and `build/`."""
    for folder in ("examples", "out"):
        shutil.copytree(REPOSITORY / folder, tmp_path / folder)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [tmp_path / "examples/demo.sh"],
        env={**os.environ, "PATH": path, "HOME": str(tmp_path / "home")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert done.stdout == snapshot
    assert "Training" in (tmp_path / "build/demo/report.html").read_text()


@pytest.mark.slow
def test_demo_fails_with_the_diagnostics_of_an_example_that_does_not_compile(tmp_path: Path) -> None:
    shutil.copytree(REPOSITORY / "examples/imagenet", tmp_path / "examples/imagenet")
    shutil.copy(REPOSITORY / "examples/demo.sh", tmp_path / "examples")
    (tmp_path / "examples/imagenet/specs/wrong.yaml").write_text("kind: Nothing\n")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [tmp_path / "examples/demo.sh"], env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert re.search(r"wrong\.yaml:1:\d+: error SP", done.stdout)
