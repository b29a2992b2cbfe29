"""What the agents' programs say of their arguments and exit codes, when they are asked by `--help`."""

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from importlib import import_module

PROGRAMS = {
    "cache": "cache.command",
    "cache runtime": "cache.command",
    "cache sync": "cache.command",
    "transfer": "transfer.command",
    "gate": "gate.opening_loop",
    "wait-dataset": "wait.dataset.command",
    "wait-peers": "wait.peers",
    "wait-spec": "wait.spec",
    "wait-run": "wait.run",
    "hold-lineage": "wait.lineage.command",
    "await": "await_group.wait_loop",
    "reporter": "reporter.command",
}
"""The module of each program in `stowplan.agents`. A second word is its first argument: `sync` is for all tasks."""

_WIDTH = "90"


def texts() -> Iterator[tuple[str, str]]:
    """Yield the name of each program and what its `--help` prints."""
    for name, module in PROGRAMS.items():
        yield name, text(module, *name.split()[1:])


def text(module: str, *words: str, program: str = "python") -> str:
    """Return what a program prints for `--help`. `program` is the file that is run."""
    said = io.StringIO()
    before = sys.argv, os.environ.get("COLUMNS")
    sys.argv, os.environ["COLUMNS"] = [program, *words, "--help"], _WIDTH
    try:
        with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
            import_module(f"stowplan.agents.{module}").main()
    finally:
        sys.argv = before[0]
        if before[1] is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = before[1]
    return said.getvalue().rstrip()
