"""Progress of a `juicefs sync` while it runs, and what all passes of one sync have done."""

import re
import threading
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from stowplan.agents.attempt.progress import Progress
from stowplan.agents.cache.drivers.juicefs.child import LogLine
from stowplan.agents.cache.drivers.juicefs.verdict import Count
from stowplan.agents.runtime.log import Log

LOOK_SECONDS = 1.0
"""Seconds between two reads of the child's counters."""

MOST_WARNINGS = 20
"""Maximum number of the child's warnings and errors that are logged."""

LARGEST_METRICS = 1 << 20
"""Maximum size in bytes of the child's metrics, from which the counters are read."""

_LISTENS = re.compile(r"Prometheus metrics listening on (127\.0\.0\.1:\d+)")
_METRIC = re.compile(r"^juicefs_sync_(\w+)(?:\{[^}]*\})? (\S+)$", re.MULTILINE)


@dataclass
class Tally:
    """What the passes of one sync have done so far."""

    unchanged: int = 0
    unchanged_bytes: int = 0
    copied: int = 0
    copied_bytes: int = 0

    @property
    def files(self) -> int:
        return self.unchanged + self.copied

    def add(self, counted: Count, *, whole: bool) -> None:
        """Add the final count of a pass: of all objects (`whole`), or of some that no other pass has counted."""
        if whole:
            # The files that an earlier pass has copied are unchanged now.
            self.unchanged = max(0, counted.skipped - self.copied)
            self.unchanged_bytes = max(0, counted.skipped_bytes - self.copied_bytes)
        else:
            self.unchanged += counted.skipped
            self.unchanged_bytes += counted.skipped_bytes
        self.copied += counted.copied
        self.copied_bytes += counted.copied_bytes

    def tell(self, progress: Progress, *, skipped: int, copied: int, sizes: tuple[int, int], whole: bool) -> None:
        """Set the counters of `progress` from what a pass has skipped and copied so far; `sizes` are the bytes of both.

        `whole` is whether it is a pass over all objects, as in `add`.
        """
        earlier, earlier_bytes = (0, 0) if whole else (self.files, self.unchanged_bytes + self.copied_bytes)
        progress.files_done = max(self.files, earlier + skipped + copied)
        progress.files_unchanged = max(self.unchanged, skipped - self.copied) if whole else self.unchanged + skipped
        progress.bytes_done = max(self.unchanged_bytes + self.copied_bytes, earlier_bytes + sum(sizes))
        progress.resumed_bytes = max(self.unchanged_bytes, sizes[0] - self.copied_bytes if whole else 0)


@dataclass
class SyncWatch:
    """Follows one `juicefs sync`: logs its warnings, and copies its counters into `progress` once a second."""

    progress: Progress
    log: Log
    tally: Tally
    whole: bool
    """Whether this `juicefs sync` looks at all objects, also at those that an earlier one has copied."""
    planned: int
    """Number of files that there are to be; 0 if it is not known."""
    _address: str = ""
    _warnings: int = 0
    _over: threading.Event = field(default_factory=threading.Event)

    def said(self, line: LogLine) -> None:
        """Take a line of the child's output: log a warning, or note the address of the counters."""
        if found := _LISTENS.search(line.text):
            self._address = found[1]
        elif line.level not in ("DEBUG", "INFO") and line.text and self._warnings < MOST_WARNINGS:
            self._warnings += 1
            self.log.warning("JuiceFS says", said=line.shown)

    @contextmanager
    def looking(self) -> Iterator[None]:
        """Copy the counters during the `with` block, in which the child runs and `said` gets its output."""
        thread = threading.Thread(target=self._look, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._over.set()

    def _look(self) -> None:
        while not self._over.wait(LOOK_SECONDS):
            if self._address:
                # After any error the next poll tries again, and the final count comes from the log.
                with suppress(Exception):
                    self._count(_metrics(self._address))

    def _count(self, found: Mapping[str, float]) -> None:
        if self._over.is_set():
            return
        skipped, copied = (int(found.get(name, 0)) for name in ("skipped", "copied"))
        sizes = (int(found.get("skipped_bytes", 0)), int(found.get("copied_bytes", 0)))
        self.tally.tell(self.progress, skipped=skipped, copied=copied, sizes=sizes, whole=self.whole)
        # JuiceFS up to 1.3 also counts objects that only the destination has as `scanned`.
        scanned = self.planned or int(found.get("scanned", 0) - found.get("extra", 0))
        self.progress.files_total = max(self.progress.files_done, scanned)
        self.progress.files_deleted = max(self.progress.files_deleted, int(found.get("deleted", 0)))


def _metrics(address: str) -> dict[str, float]:
    # Ignore proxies in the environment, since the address is on this machine.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"http://{address}/metrics", timeout=2) as response:
        text = response.read(LARGEST_METRICS).decode(errors="replace")
    return {name: float(value) for name, value in _METRIC.findall(text)}
