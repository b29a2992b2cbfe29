"""Evict the dataset and its removed files from this cluster node's cache, and verify the result."""

from dataclasses import dataclass
from pathlib import Path

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.cache.drivers.juicefs.control import TRASH_INODE, CacheAction, Control, Filled
from stowplan.agents.cache.drivers.work import TaskWork
from stowplan.schema.agents.cache_config import ClearConfig
from stowplan.schema.agents.exit_codes import ExitCode

THREADS = 50
ROUNDS = 2
"""Maximum number of tries."""

LEFT_PERCENT = 1
"""Maximum percentage of the dataset that may be cached at the end, since jobs go on reading it."""


@dataclass(frozen=True)
class ClearTask:
    """One attempt at the clear task on one partition (the cache of one cluster node)."""

    config: ClearConfig
    work: TaskWork

    def run(self) -> str:
        """Evict the dataset and return a sentence about the result. Raises AttemptError, OSError or StoppedError.

        The exit code is 2 if the configuration names a part of the cache, 10 if too much stays or the mount fails.
        """
        if self.config.cache_paths:
            named = ", ".join(self.config.cache_paths)
            message = f"JuiceFS cannot clear a part of its cache, such as {named}: nothing was cleared"
            raise AttemptError(ExitCode.BAD_SPEC, "PartOfCache", message)
        mount = Path(self.config.mount_path)
        control, progress = Control(mount, self.work.stop), self.work.outcome.progress
        whole = [mount.stat().st_ino]

        def tell(files: int, size: int) -> None:
            progress.files_done, progress.bytes_done = files, size

        left = Filled(0, 0, 0)
        # The blocks of removed files remain in the cache, and only the trash still refers to them.
        control.fill(CacheAction.EVICT, [TRASH_INODE], THREADS, lambda *_: None)
        for _ in range(ROUNDS):
            control.fill(CacheAction.EVICT, whole, THREADS, tell)
            left = control.fill(CacheAction.CHECK, whole, THREADS, lambda *_: None)
            progress.files_total, progress.bytes_total = left.files, left.bytes
            progress.files_done, progress.bytes_done = left.files, left.missing
            if left.cached * 100 <= left.bytes * LEFT_PERCENT:
                return f"The cache of this node holds {left.cached} of {left.bytes} bytes of the dataset"
        message = (
            f"{left.cached} of {left.bytes} bytes are in the cache of this node again: something reads the dataset"
        )
        raise AttemptError(ExitCode.TRANSIENT, "StillCached", message)
