"""Size of a directory, from the metadata of its volume. Neither the files nor the directories of the mount are read."""

import csv
import os
from pathlib import Path

from stowplan.agents.cache.drivers.api import Extent, Trouble
from stowplan.agents.cache.drivers.bounded_subprocess import Asker, Silence

SECONDS = 600.0
"""Maximum seconds of one call, which reads the metadata of every file of a large volume."""

NO_ACCESS = "NoAccess"

_VARIABLES = ("HOME", "PATH")


def summary(asker: Asker, directory: Path, *, exact: bool) -> Extent | Trouble | None:
    """Return the size of a directory by `juicefs summary`; None if the volume has no such directory.

    Each file counts with its size rounded up to 4 KiB, and each directory with 4 KiB. With `exact` the size comes from
    the metadata of all files, otherwise from JuiceFS's statistics of each directory.
    """
    command = ["juicefs", "summary", "--depth=0", "--csv", *(["--strict"] if exact else []), str(directory)]
    environment = {name: os.environ[name] for name in _VARIABLES if name in os.environ}
    try:
        answer = asker.ask(command, environment, SECONDS)
    except OSError as error:
        return Trouble("NoClient", f"The juicefs program cannot be run: {error.strerror}")
    if isinstance(answer, Silence):
        return Trouble("SummarySilent", f"juicefs summary has not ended in {SECONDS:.0f} s")
    if "no such file or directory" in answer.error:
        return None
    if "permission denied" in answer.error:
        return Trouble(NO_ACCESS, f"No right to look into {directory}")
    return _extent(answer.output) or Trouble("SummaryFailed", f"juicefs summary failed: {_last_line(answer.error)}")


def _extent(text: str) -> Extent | None:
    """Parse the output of `juicefs summary`: a CSV line of names and one of values. None if it is not of that form."""
    try:
        (row,) = csv.DictReader(text.splitlines())
        return Extent(int(row["SIZE"]), int(row["FILES"]))
    except (ValueError, KeyError, TypeError):
        return None


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "it said nothing"
