"""What the agents' programs say of their arguments and exit codes, when they are asked by `--help`."""

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from importlib import import_module

PROGRAMS = {
    "cache": "stowplan.agents.cache",
    "cache runtime": "stowplan.agents.cache",
    "cache sync": "stowplan.agents.cache",
    "transfer": "stowplan.agents.transfer",
    "gate": "stowplan.agents.gate",
    "wait-dataset": "stowplan.agents.wait_dataset",
    "wait-peers": "stowplan.agents.wait_peers",
    "wait-spec": "stowplan.agents.wait_spec",
    "wait-run": "stowplan.agents.wait_run",
    "hold-lineage": "stowplan.agents.hold_lineage",
    "await": "stowplan.agents.await_group",
    "reporter": "stowplan.agents.reporter",
}
"""The package of each program. A second word is its first argument; `sync` stands for all tasks of the cache."""

_WIDTH = "90"


def texts() -> Iterator[tuple[str, str]]:
    """Yield the name of each program and what its `--help` prints."""
    for name, package in PROGRAMS.items():
        yield name, text(package, *name.split()[1:])


def text(package: str, *words: str, program: str = "python") -> str:
    """Return what a program prints for `--help`. `program` is the file that is run."""
    said = io.StringIO()
    before = sys.argv, os.environ.get("COLUMNS")
    sys.argv, os.environ["COLUMNS"] = [program, *words, "--help"], _WIDTH
    try:
        with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
            import_module(f"{package}.command").main()
    finally:
        sys.argv = before[0]
        if before[1] is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = before[1]
    return said.getvalue().rstrip()
