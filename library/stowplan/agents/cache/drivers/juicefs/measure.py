"""Driver that measures datasets in JuiceFS, community edition."""

from pathlib import Path

from stowplan.agents.cache.drivers.api import Extent, Pulse, Trouble
from stowplan.agents.cache.drivers.bounded_subprocess import Asker
from stowplan.agents.cache.drivers.juicefs.stats import stats
from stowplan.agents.cache.drivers.juicefs.summary import NO_ACCESS, summary
from stowplan.schema.agents.marker import STATE_DIRECTORY

EXACT_INODES = 1_000_000
"""Maximum number of inodes in the volume for which exact sizes are computed, in a few seconds, from all files.

For larger volumes the sizes come from JuiceFS's statistics of directories, which are not exact. In JuiceFS 1.3 a query
in the first second after a directory's creation counts the directory's content twice, permanently. A measurement during
a sync would do that.
"""


class JuiceFS:
    """Measures a dataset in a mount of JuiceFS: `pulse` polls the mount's cache, `extent` adds up the dataset's size.

    One thread may call `pulse` while another one calls `extent`.
    """

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
            # The state directory is missing, or another user owns it. It is small.
            return whole
        # The two sizes were measured one after the other, so writes in between could make the difference negative.
        return Extent(max(0, whole.bytes - state.bytes), max(0, whole.files - state.files))
