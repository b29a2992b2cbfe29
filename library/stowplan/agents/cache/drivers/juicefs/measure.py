"""The driver of JuiceFS, community edition."""

from pathlib import Path

from stowplan.agents.cache.drivers.api import Extent, Pulse, Trouble
from stowplan.agents.cache.drivers.bounded_subprocess import Asker
from stowplan.agents.cache.drivers.juicefs.stats import stats
from stowplan.agents.cache.drivers.juicefs.summary import NO_ACCESS, summary
from stowplan.schema.agents.marker import STATE_DIRECTORY

EXACT_INODES = 1_000_000
"""Up to so many files and directories in the volume, sizes are exact: a metadata engine reads them in a few seconds.

The statistics that serve for more are not: who asks for them in the first second of a directory's life, as we would in
the midst of a sync, makes JuiceFS 1.3 count what is in it twice for good.
"""


class JuiceFS:
    """Pulses and extents may be asked for by two threads."""

    def __init__(self, exact_inodes: int = EXACT_INODES) -> None:
        self._pulses, self._extents = Asker(), Asker()
        self._exact_inodes = exact_inodes
        self._inodes = 0

    def pulse(self, mount: Path) -> Pulse:
        found = stats(self._pulses, mount)
        if found.inodes is not None:
            self._inodes = found.inodes
        return found.pulse

    def extent(self, mount: Path) -> Extent | Trouble:
        exact = self._inodes <= self._exact_inodes
        whole = summary(self._extents, mount, exact=exact)
        if whole is None:
            return Trouble("NotMounted", f"No JuiceFS is mounted at {mount}")
        if isinstance(whole, Trouble):
            return whole
        state = summary(self._extents, mount / STATE_DIRECTORY, exact=exact)
        if isinstance(state, Trouble) and state.reason != NO_ACCESS:
            return state
        if not isinstance(state, Extent):
            # There is none, or another user keeps it for himself: it is small.
            return whole
        # Asked one after the other: what was written in between must not make it negative.
        return Extent(max(0, whole.bytes - state.bytes), max(0, whole.files - state.files))
