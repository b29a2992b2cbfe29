"""Load a part of the dataset's files into this cluster node's cache, and verify the result."""

from array import array
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from itertools import count
from pathlib import Path

from stowplan.agents.attempt import safe_files
from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.cache.drivers.juicefs.control import MOST_PATHS, CacheAction, Control, Filled
from stowplan.agents.cache.drivers.juicefs.settling import Look, Settling
from stowplan.agents.cache.drivers.juicefs.tasks import paths
from stowplan.agents.cache.drivers.juicefs.tasks.await_sync import SyncMarks
from stowplan.agents.cache.drivers.juicefs.verdict import TASK_USER
from stowplan.agents.cache.drivers.work import TaskWork
from stowplan.agents.runtime import cache_fit
from stowplan.agents.runtime.number_format import size
from stowplan.schema.agents.cache_config import CACHE_TOO_SMALL, WarmupConfig
from stowplan.schema.agents.exit_codes import PERMANENT, ExitCode
from stowplan.schema.agents.marker import WarmupMarker, warmup_path

LONGEST_LIST = 64 << 20
"""Maximum size in bytes of a file that lists paths."""

ROUNDS = 3
"""Number of passes over all files before one that caches nothing more is the last.

A later pass is fast, since it skips blocks that are already cached. It is for storage that failed for a moment, and for
a cache that was full of other blocks: JuiceFS makes room by dropping the older one of two random blocks, so most passes
leave more of this share. A cache that is too small gets no second pass.
"""


class _FullError(Exception):
    """The cache has no space for more of the share."""


@dataclass(frozen=True)
class WarmupTask:
    """One attempt at the warmup of one partition (the cache of one cluster node)."""

    config: WarmupConfig
    work: TaskWork

    def run(self) -> str:
        """Load this partition's files and return a sentence about it. Raises AttemptError, OSError or StoppedError.

        If the configuration names a sync, this first waits for its end, and writes the warmup marker when the load has
        succeeded or failed for good. A cache that is too small is no failure, but a `remark` of the outcome.
        """
        if self.work.outcome.partition >= self.config.partitions:
            message = f"There is no partition {self.work.outcome.partition}: there are {self.config.partitions}"
            raise AttemptError(ExitCode.BAD_SPEC, "BadPartition", message)
        Control(self._mount, self.work.stop).probe()
        after, run = self.config.after, self.config.after_run
        sync = SyncMarks(self._mount, after or "", self.work, run).wait() if after or run else None
        try:
            text = self._load()
        except AttemptError as error:
            if error.code in PERMANENT:
                self._mark(sync, error.code)
            raise
        self._mark(sync, ExitCode.DONE)
        return text

    def _load(self) -> str:
        """Load the share, as far as the cache has space for it, and return a sentence about the result."""
        share, progress = self._share(), self.work.outcome.progress
        progress.files_total = len(share)
        control, settling = Control(self._mount, self.work.stop), Settling(self._mount, self.work.stop)
        done = whole = self._pass(control, CacheAction.CHECK, share)
        now = before = settling.look()

        def is_too_small(now: Look) -> bool:
            return now.dropped > before.dropped and cache_fit.space(whole.bytes, whole.files) > now.held

        def stop_if_full(size: int) -> None:
            now = settling.look()
            # A cache that is full of other blocks drops these first.
            if is_too_small(now) and size >= now.held:
                raise _FullError

        for number in count():
            last = done.cached
            if number:
                self.work.log.warning("Too little is cached: loading once more", cached=done.cached, of=done.bytes)
            with suppress(_FullError):
                self._pass(control, CacheAction.LOAD, share, stop_if_full)
            settling.wait(now.begun)
            done = self._pass(control, CacheAction.CHECK, share)
            progress.files_done, progress.bytes_done, progress.bytes_total = done.files, done.cached, done.bytes
            if done.files == len(share) and done.cached * 100 >= self.config.threshold * done.bytes:
                return f"{_percent(done)} of {len(share)} files, {done.bytes} bytes, are in the cache of this node"
            now = settling.look()
            if is_too_small(now) or (number + 1 >= ROUNDS and done.cached <= last):
                break
        if now.dropped > before.dropped:
            return self._too_small(done, int(now.held))
        message = (
            f"Only {_percent(done)} of {done.bytes} bytes in {done.files} of {len(share)} files are in the cache of"
            f" this node, and {self.config.threshold}% must be: does the storage of the volume answer?"
        )
        raise AttemptError(ExitCode.TRANSIENT, "BelowThreshold", message)

    def _too_small(self, done: Filled, limit: int) -> str:
        """Record that the cache has no space for the whole share, and return a sentence that says so.

        `limit` is how many bytes the cache holds, by its size or by the free space of its disk.
        """
        self.work.outcome.remark = CACHE_TOO_SMALL
        enough = cache_fit.enough(done.bytes, done.files)
        message = (
            f"{size(done.cached)} of {size(done.bytes)} are in the cache of this node, which has space for"
            f" {size(limit)}: a size of {enough} MiB would do, with as much disk or memory"
        )
        self.work.log.warning(message, reason=CACHE_TOO_SMALL)
        return message

    def _pass(
        self, control: Control, action: CacheAction, share: "array[int]", look: Callable[[int], None] = lambda _: None
    ) -> Filled:
        """Apply the action to all files of the share. `look` gets the number of loaded bytes, about once a second."""
        total = Filled(0, 0, 0)
        for start in range(0, len(share), MOST_PATHS):
            self.work.stop.check()
            before = total

            def tell(files: int, size: int, before: Filled = before) -> None:
                if action is CacheAction.LOAD:
                    progress = self.work.outcome.progress
                    progress.files_done, progress.bytes_done = before.files + files, before.bytes + size
                    look(before.bytes + size)

            total += control.fill(action, share[start : start + MOST_PATHS], self.config.threads, tell)
        return total

    def _share(self) -> "array[int]":
        """Return the inode numbers of the files that this partition loads."""
        share, mine, of = array("Q"), self.work.outcome.partition, self.config.partitions
        target = self.config.target
        # The seed is equal for all partitions and all runs of a spec.
        seed = f"{target.kind}/{target.namespace}/{target.name}".encode()
        for number, (path, inode) in enumerate(self._files()):
            if number % 1024 == 0:
                self.work.stop.check()
            if of == 1 or mine == (number if self.config.strategy == "sequence" else _dealt(seed, path)) % of:
                share.append(inode)
        return share

    def _files(self) -> Iterator[tuple[str, int]]:
        wanted = self._listed() if self.config.file is not None else [paths.parts(path) for path in self.config.paths]
        # Sorted and without duplicates: a path below another wanted path is left out.
        chosen: list[tuple[str, ...]] = []
        for names in sorted(set(wanted)) or [()]:
            if not chosen or names[: len(chosen[-1])] != chosen[-1]:
                chosen.append(names)
        for names in chosen:
            yield from paths.files(self._mount, names)

    def _listed(self) -> list[tuple[str, ...]]:
        """Return the wanted paths from a file of the dataset that lists them, each split by `paths.parts`.

        The file has one path per line, relative to the dataset or beginning with the mount's path. Raises AttemptError
        (exit code 4) if the file is missing, and (exit code 2) if it cannot be used.
        """
        with paths.opened(self._mount, paths.parts(self.config.file or "")) as entry:
            if entry is None or entry.found is None:
                message = f"There is no {self.config.file!r} in the dataset, which lists the paths to load"
                raise AttemptError(ExitCode.NOT_FOUND, "NotFound", message)
            listed = entry.folder.read(entry.name, LONGEST_LIST)
        if listed is None:
            message = (
                f"{self.config.file!r} is no file of at most {LONGEST_LIST >> 20} MiB: give it as paths, one a line"
            )
            raise AttemptError(ExitCode.BAD_SPEC, "BadList", message)
        texts = [line.rstrip("\r") for line in listed.decode(errors="surrogateescape").split("\n")]
        mount = f"{self.config.mount_path.rstrip('/')}/"
        found = [paths.parts(text.removeprefix(mount)) for text in texts if text.strip()]
        if not found:
            raise AttemptError(ExitCode.BAD_SPEC, "EmptyList", f"{self.config.file!r} lists no path to load")
        return found

    def _mark(self, sync: str | None, code: ExitCode) -> None:
        """Write the warmup marker, by which waiting jobs know that the dataset is warm or the warmup has failed.

        `sync` is the run of the sync before this warmup. None writes nothing: no job waits for a warmup without a sync.
        Nor does one wait for a warmup after a sync that does not complete the dataset.
        """
        if sync is None or self.work.run is None or self.config.marks is False:
            return
        partition = self.work.outcome.partition
        marker = WarmupMarker(
            run=self.work.run,
            result="failed" if code else "succeeded",
            exitCode=int(code),
            partition=partition,
            partitions=self.config.partitions,
            sync=sync,
        )
        try:
            safe_files.write(self._mount, warmup_path(partition), marker.model_dump_json(by_alias=True) + "\n")
        except PermissionError:
            message = f"No permission to say that the dataset is warm: {TASK_USER}"
            raise AttemptError(ExitCode.AUTH, "NoPermission", message) from None

    @property
    def _mount(self) -> Path:
        return Path(self.config.mount_path)


def _dealt(seed: bytes, path: str) -> int:
    """Return a number that depends only on `seed`, which identifies the spec, and on `path`.

    It selects the cluster node for a file. So new or removed files do not move other files to another cluster node.
    """
    return int.from_bytes(blake2b(path.encode(errors="surrogateescape"), digest_size=8, key=seed[:64]).digest(), "big")


def _percent(filled: Filled) -> str:
    """Return the cached share of the bytes, such as `99.9%`, rounded down: `100.0%` means all bytes."""
    return f"{filled.cached * 1000 // filled.bytes / 10:.1f}%" if filled.bytes else "100.0%"
