"""Driver that measures datasets in JuiceFS, community edition."""

import csv
import os
from pathlib import Path

from stowplan.agents.cache.drivers.api import DatasetSize, Driver, Pulse, Trouble
from stowplan.agents.cache.drivers.bounded_subprocess import BoundedRunner
from stowplan.agents.cache.drivers.juicefs.stats import stats
from stowplan.schema.agents.marker import STATE_DIRECTORY

EXACT_INODES = 1_000_000
"""Maximum number of inodes in the volume for which exact sizes are computed, in a few seconds, from all files.

For larger volumes the sizes come from JuiceFS's statistics of directories, which are not exact. In JuiceFS 1.3 a query
in the first second after a directory's creation counts the directory's content twice, permanently. A measurement during
a sync would do that.
"""

_SUMMARY_SECONDS = 600.0
"""Maximum seconds of one call, which reads the metadata of every file of a large volume."""

_NO_ACCESS = "NoAccess"

_VARIABLES = ("HOME", "PATH")


class JuiceFS:
    """Measures a dataset in a mount of JuiceFS: `pulse` polls the mount's cache, `extent` adds up the dataset's size.

    One thread may call `pulse` while another one calls `extent`. The size is exact if the last `pulse` has found at
    most `exact_inodes` files and directories in the volume, or if there was none.
    """

    def __init__(self, exact_inodes: int = EXACT_INODES) -> None:
        self._pulses, self._extents = BoundedRunner(), BoundedRunner()
        self._exact_inodes = exact_inodes
        self._inodes = 0

    def pulse(self, mount: Path) -> Pulse:
        pulse, inodes = stats(self._pulses, mount)
        self._inodes = self._inodes if inodes is None else inodes
        return pulse

    def extent(self, mount: Path) -> DatasetSize | Trouble:
        exact = self._inodes <= self._exact_inodes
        whole = _summary(self._extents, mount, exact=exact)
        if whole is None:
            return Trouble("NotMounted", f"No JuiceFS is mounted at {mount}")
        if isinstance(whole, Trouble):
            return whole
        state = _summary(self._extents, mount / STATE_DIRECTORY, exact=exact)
        if isinstance(state, Trouble) and state.reason != _NO_ACCESS:
            return state
        if not isinstance(state, DatasetSize):
            # The state directory is missing, or another user owns it. It is small.
            return whole
        # The two sizes were measured one after the other, so writes in between could make the difference negative.
        return DatasetSize(max(0, whole.bytes - state.bytes), max(0, whole.files - state.files))


def _summary(asker: BoundedRunner, directory: Path, *, exact: bool) -> DatasetSize | Trouble | None:
    """Return the size of a directory by `juicefs summary`; None if the volume has no such directory.

    It comes from the metadata of the volume: neither files nor directories of the mount are read.
    Each file counts with its size rounded up to 4 KiB, and each directory with 4 KiB. With `exact` the size comes from
    the metadata of all files, otherwise from JuiceFS's statistics of each directory.
    """
    command = ["juicefs", "summary", "--depth=0", "--csv", *(["--strict"] if exact else []), str(directory)]
    environment = {name: os.environ[name] for name in _VARIABLES if name in os.environ}
    try:
        answer = asker.ask(command, environment, _SUMMARY_SECONDS)
    except OSError as error:
        return Trouble("NoClient", f"The juicefs program cannot be run: {error.strerror}")
    if answer.code is None:
        return Trouble("SummarySilent", f"juicefs summary has not ended in {_SUMMARY_SECONDS:.0f} s")
    if "no such file or directory" in answer.error:
        return None
    if "permission denied" in answer.error:
        return Trouble(_NO_ACCESS, f"No right to look into {directory}")
    said = [line.strip() for line in answer.error.splitlines() if line.strip()] or ["it said nothing"]
    return _extent(answer.output) or Trouble("SummaryFailed", f"juicefs summary failed: {said[-1]}")


def _extent(text: str) -> DatasetSize | None:
    """Parse the output of `juicefs summary`: a CSV line of names and one of values. None if it is not of that form."""
    try:
        (row,) = csv.DictReader(text.splitlines())
        return DatasetSize(int(row["SIZE"]), int(row["FILES"]))
    except (ValueError, KeyError, TypeError):
        return None


def make_driver() -> Driver:
    """Return the driver, for one mount."""
    return JuiceFS()
