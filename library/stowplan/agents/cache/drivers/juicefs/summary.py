"""Size of a directory from the metadata of its volume. It reads no data and does not walk through the mount."""

import csv
import os
from pathlib import Path

from stowplan.agents.cache.drivers.api import Extent, Trouble
from stowplan.agents.cache.drivers.bounded_subprocess import Asker, Silence

SECONDS = 600.0
"""Maximum seconds of one call, which looks at every name of a large volume."""

NO_ACCESS = "NoAccess"

_VARIABLES = ("HOME", "PATH")


def summary(asker: Asker, directory: Path, *, exact: bool) -> Extent | Trouble | None:
    """Return the result of `juicefs summary`; None if the volume has no such directory.

    Sizes are in whole blocks of 4 KiB, and each directory counts as one block. Exact sizes come from the attributes of
    all files, others from JuiceFS's statistics of each directory.
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
    """Parse a line of names and a line of values."""
    try:
        (row,) = csv.DictReader(text.splitlines())
        return Extent(int(row["SIZE"]), int(row["FILES"]))
    except (ValueError, KeyError, TypeError):
        return None


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "it said nothing"
