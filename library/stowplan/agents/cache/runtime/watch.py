"""Regular checks of the mounted dataset. They also keep the mount in use, and thereby alive."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from stowplan.agents.attempt.failure import StoppedError
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.cache.drivers.api import Driver, Trouble
from stowplan.agents.cache.runtime.figures import LatestFigures
from stowplan.agents.cache.runtime.space import Space
from stowplan.agents.runtime.heartbeat import beat
from stowplan.agents.runtime.log import Log

PULSE_SECONDS = 10.0
"""Seconds between two checks of the mount."""

SHARE = 20
"""Measurements of the dataset's size may take at most 1/`SHARE` of the time."""


@dataclass
class MountWatch:
    """Checks the mount and writes the heartbeat in one thread, and measures the size of the dataset in another.

    There are two threads because the measurement of a large dataset may take minutes.
    """

    driver: Driver
    mount: Path
    record: LatestFigures
    space: Space
    stop: Stop
    log: Log
    pace: float
    """Minimum seconds between two measurements of the size."""

    def start(self) -> None:
        """Start both threads, which end at the stop. A fault in one of them sets `stop`."""
        for work in (self._feel, self._measure):
            threading.Thread(target=self._forever, args=(work,), daemon=True).start()

    def _forever(self, work: Callable[[], float]) -> None:
        try:
            while True:
                self.stop.sleep(work())
        except StoppedError:
            return
        except BaseException as error:
            # If only this thread ended, heartbeats or measurements would end unnoticed. A restart of the pod is better.
            self.log.fault(error)
            self.stop.set("failure")

    def _feel(self) -> float:
        before = self.record.trouble
        pulse = self.driver.pulse(self.mount)
        self.record.felt(pulse, self.space.left(pulse))
        now = self.record.trouble
        beat(str(now or ""))
        self._tell(before, now)
        return PULSE_SECONDS

    def _measure(self) -> float:
        if not self.record.is_mounted:
            return 1.0
        begin = time.monotonic()
        before, faults = self.record.trouble, self.record.faults
        extent = self.driver.extent(self.mount)
        took = time.monotonic() - begin
        self.record.measured(extent)
        if isinstance(extent, Trouble):
            self._tell(before, self.record.trouble)
        else:
            figures = self.record.figures
            cache = {"cachedBytes": figures.cached_bytes, "availableBytes": figures.available_bytes}
            self.log.info("Measured", bytes=extent.bytes, files=extent.files, **cache, seconds=round(took, 2))
        # If the mount had a problem meanwhile, the duration does not show what a measurement normally takes.
        return max(self.pace, took * SHARE) if faults == self.record.faults else self.pace

    def _tell(self, before: Trouble | None, now: Trouble | None) -> None:
        if now == before:
            return
        if now:
            self.log.warning(now.message, reason=now.reason)
        else:
            self.log.info("The mount answers")
