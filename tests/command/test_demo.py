"""`make demo` tells one story, and leaves a page for reviewers."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from docs.demo_picture import picture
from tests.repositories import REPOSITORY


def demo(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the demo of a copy of this repository."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [folder / "examples/demo.sh"],
        env={**os.environ, "PATH": path, "HOME": str(folder / "home")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def test_demo_finds_a_mistake_compiles_a_job_and_reviews_a_change(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """In a copy, since the demo writes `out/` and `build/`. The picture in the README shows it, and loads nothing."""
    for folder in ("examples", "out"):
        shutil.copytree(REPOSITORY / folder, tmp_path / folder)
    done = demo(tmp_path)
    assert done.returncode == 0, done.stdout
    assert done.stdout == snapshot
    assert "Training" in (tmp_path / "build/demo/report.html").read_text()
    for theme in ("light", "dark"):
        drawn = picture(done.stdout, theme)
        assert drawn == (REPOSITORY / f"docs/pages/images/demo-{theme}.svg").read_text(), "make pictures"
        assert re.findall(r"url\((?!#)|@import|@font-face|<image|href", drawn) == []


@pytest.mark.parametrize(
    ("file", "added"),
    [("imagenet/specs/wrong.yaml", "kind: Nothing\n"), ("training/specs/torch.yaml", "---\nkind: Nothing\n")],
)
def test_demo_fails_with_the_diagnostics_of_an_example_that_does_not_compile(
    tmp_path: Path, file: str, added: str
) -> None:
    """The second one is what the story is told of."""
    for name in ("imagenet", "training"):
        shutil.copytree(REPOSITORY / "examples" / name, tmp_path / "examples" / name)
    for name in ("demo.sh", "compile.py"):
        shutil.copy(REPOSITORY / "examples" / name, tmp_path / "examples")
    with (tmp_path / "examples" / file).open("a") as wrong:
        wrong.write(added)
    done = demo(tmp_path)
    assert done.returncode != 0
    assert re.search(rf"{Path(file).name}:\d+:\d+: error SP(?!201)", done.stdout), done.stdout
