"""A process whose command has nothing to do says what the one before said, and imports nothing heavy.

`tests/unit/compiler/cli/test_validate_stamp.py` and `test_synth_stamp.py` test when there is nothing to do.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.repositories import EXAMPLES

PROGRAM = """
import sys
from stowplan.compiler.cli import main
try:
    main()
finally:
    heavy = {"cdk8s", "jsii", "yaml", "kubernetes", "orjson"} & sys.modules.keys()
    print("imported:", sorted(heavy), file=sys.stderr)
"""
NOTHING = "imported: []\n"


@pytest.mark.parametrize(
    ("command", "forms", "wrong"),
    [("validate", ("text", "json", "sarif", "github"), True), ("synth", ("text", "json"), False)],
)
def test_an_unchanged_command_imports_nothing_heavy(
    tmp_path: Path, command: str, forms: tuple[str, ...], *, wrong: bool
) -> None:
    repo = shutil.copytree(EXAMPLES["imagenet"], tmp_path / "repo")
    if wrong:
        jobs = repo / "specs/imagenet-jobs.yaml"
        jobs.write_text(jobs.read_text().replace("type: warmup", "type: warmdown"))
    folders = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "XDG_STATE_HOME": str(tmp_path / "state")}

    def ended(form: str) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-c", PROGRAM, command, str(repo), "--format", form]
        return subprocess.run(words, env={**os.environ, **folders}, capture_output=True, text=True, check=False)

    first = ended(forms[0])
    assert (first.returncode, first.stderr == NOTHING) == (int(wrong), False)
    for form in forms:
        again = ended(form)
        assert (again.returncode, again.stderr) == (int(wrong), NOTHING), form
        assert (again.stdout == first.stdout) == (command == "validate" and form == forms[0]), form
