"""`juicefs sync` from a source into a volume or a claim: its arguments, its progress and its result."""

import re
import tempfile
import threading
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.progress import Progress
from stowplan.agents.cache.drivers.juicefs.child import Child, Line
from stowplan.agents.cache.drivers.juicefs.verdict import Count, count, failure
from stowplan.agents.runtime.log import Log
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.agents.marker import STATE_DIRECTORY
from stowplan.schema.juicefs.sync_keys import is_ignored

PROTECTION = f"/{STATE_DIRECTORY}/***"
"""Exclude pattern for Stowplan's state directory: a sync neither copies it from the source nor deletes it from the
destination.
"""

OUTSIDE = ".."
"""Exclude pattern for keys with a segment `..`, such as `../x`: a destination of files would take them for paths that
lead out of it. Such objects are not copied.
"""

LOOK_SECONDS = 1.0
"""Seconds between two reads of the child's counters."""

MOST_WARNINGS = 20
"""Maximum number of the child's warnings and errors that are logged."""

LARGEST_METRICS = 1 << 20
"""Maximum size in bytes of the child's metrics, from which the counters are read."""

CHECKPOINTS = (1, 4)
"""First version of JuiceFS that can resume a stopped sync."""

LEFTOVERS = (".jfs.*.tmp.[0-9]*", f".*.tmp.{'[0-9]' * 12}*", f".*.tmp{'[0-9]' * 12}*")
"""Patterns of the names of unfinished files: the first from JuiceFS 1.4 on, the second before (`cmd/object.go`), the
third in a claim (`pkg/object/file.go`).

The others require 12 digits. The number in a name is random and has 63 bits, so it has fewer digits only once in
millions. Names that people choose end in shorter numbers.
"""

_LISTENS = re.compile(r"Prometheus metrics listening on (127\.0\.0\.1:\d+)")
_METRIC = re.compile(r"^juicefs_sync_(\w+)(?:\{[^}]*\})? (\S+)$", re.MULTILINE)


@dataclass
class SyncWatch:
    """Follows one `juicefs sync`: logs its warnings, and copies its counters into `progress` once a second."""

    progress: Progress
    log: Log
    _address: str = ""
    _warnings: int = 0
    _over: threading.Event = field(default_factory=threading.Event)

    def said(self, line: Line) -> None:
        if found := _LISTENS.search(line.text):
            self._address = found[1]
        elif line.level not in ("DEBUG", "INFO") and line.text and self._warnings < MOST_WARNINGS:
            self._warnings += 1
            self.log.warning("JuiceFS says", said=line.shown)

    @contextmanager
    def looking(self) -> Iterator[None]:
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
        self.progress.files_done = skipped + copied
        # JuiceFS up to 1.3 also counts objects that only the destination has as `scanned`.
        self.progress.files_total = max(skipped + copied, int(found.get("scanned", 0) - found.get("extra", 0)))
        self.progress.files_unchanged = skipped
        self.progress.files_deleted = int(found.get("deleted", 0))
        self.progress.resumed_bytes = int(found.get("skipped_bytes", 0))
        self.progress.bytes_done = int(found.get("copied_bytes", 0)) + self.progress.resumed_bytes


@dataclass(frozen=True)
class Sync:
    """One copy from a source into a volume or a claim by `juicefs sync`."""

    child: Child
    source: str
    """URL of the source."""
    destination: str
    """Address in the volume, in the form `jfs://NAME/path/`, or of a directory in a claim, `file:///path/`."""
    flags: Mapping[str, str | int | bool]
    """Options of `juicefs sync`, by name without `--`."""
    variables: Mapping[str, str]
    """Environment variables with the credentials of the source."""
    progress: Progress
    log: Log

    def check(self) -> None:
        """Raise AttemptError (2) if JuiceFS would ignore the `include` or `exclude` pattern.

        Without the pattern, the sync might delete files that the pattern should protect.
        """
        for name in ("include", "exclude"):
            pattern = self.flags.get(name)
            if isinstance(pattern, str) and is_ignored(pattern):
                message = (
                    f"JuiceFS ignores the pattern {pattern!r} of `{name}`: it is no pattern, or looks like an option"
                )
                raise AttemptError(ExitCode.BAD_SPEC, "BadPattern", message)

    def is_empty(self) -> bool:
        """Return whether the source has no objects. Raises AttemptError if the source cannot be listed."""
        quiet = replace(self.child, said=lambda _: None)
        # With a separate destination the dry run asks only for the source's objects.
        words = ("sync", "--dry", "--limit=2", "--dirs", "--metrics=127.0.0.1:0", *self._storage_flags())
        slash = "/" if self.source.endswith("/") else ""
        with tempfile.TemporaryDirectory(prefix="stowplan-") as nothing:
            ended = quiet.run(*words, self.source, f"file://{nothing}/nothing{slash}", more=self.variables)
        if problem := failure(ended, f"the source {self.source}"):
            raise problem
        counted = count(ended)
        return counted is None or counted.found + counted.excluded == 0

    def run(self, *, resume: bool) -> Count:
        """Copy from the source to the destination and return the final count of the sync.

        `resume` is whether to go on from the checkpoint of a stopped sync. The caller must know that nothing else has
        changed the destination since. Raises AttemptError if any object failed or was lost, and StoppedError if the
        work must stop.
        """
        watch = SyncWatch(self.progress, self.log)
        child = replace(self.child, said=watch.said)
        flags = [
            f"--exclude={PROTECTION}",
            f"--exclude={OUTSIDE}",
            *_written(self.flags),
            *self._checkpoints(resume=resume),
        ]
        with watch.looking():
            ended = child.run(
                "sync", "--metrics=127.0.0.1:0", *flags, self.source, self.destination, more=self.variables
            )
        counted = count(ended)
        if counted:
            self.progress.files_done = counted.skipped + counted.copied
            self.progress.files_total = self.progress.files_done + counted.failed + counted.lost
            self.progress.files_unchanged = counted.skipped
            # The last poll of the counters may be a second old, and a short copy may end before the first poll.
            self.progress.bytes_done = max(self.progress.bytes_done, counted.bytes)
        problem = failure(ended, f"the copy of {self.source}", claim=self.destination.startswith("file://"))
        if problem or counted is None:
            raise problem or AttemptError(ExitCode.TRANSIENT, "SyncFailed", "JuiceFS gave no count of its copies")
        return counted

    def remove_leftovers(self) -> None:
        """Remove the unfinished files of killed copies from the destination. A failure is only logged."""
        quiet = replace(self.child, said=lambda _: None)
        folder = self.destination.rpartition("/")[0] + "/"
        wanted = ("--include=*/", *(f"--include={each}" for each in LEFTOVERS), "--exclude=*")
        with tempfile.TemporaryDirectory(prefix="stowplan-") as nothing:
            words = ("sync", "--metrics=127.0.0.1:0", "--delete-dst", *wanted)
            ended = quiet.run(*words, f"file://{nothing}/", folder)
        if problem := failure(ended, "the leftovers of an earlier copy"):
            self.log.warning("Could not remove what a killed copy left", error=str(problem))

    def _storage_flags(self) -> list[str]:
        return ["--no-https"] if self.flags.get("no-https") else []

    def _checkpoints(self, *, resume: bool) -> list[str]:
        if self.flags.get("dry") or self._version() < CHECKPOINTS:
            return []
        return ["--enable-checkpoint"] if resume else ["--enable-checkpoint", "--checkpoint-force-reset"]

    def _version(self) -> tuple[int, int]:
        found = re.search(r"version (\d+)\.(\d+)", self.child.run("--version", seconds=10).text)
        return (int(found[1]), int(found[2])) if found else (0, 0)


def _written(flags: Mapping[str, str | int | bool]) -> list[str]:
    """Return the options as command-line arguments, sorted by name, but `exclude` last.

    JuiceFS applies the first pattern that matches, so `include` must come before `exclude`.
    """
    order = sorted(flags, key=lambda name: (name == "exclude", name))
    return [word for name in order for word in _words(name, flags[name])]


def _words(name: str, value: object) -> list[str]:
    if isinstance(value, bool):
        return [f"--{name}"] if value else []
    # JuiceFS ignores `--exclude=PATTERN` if the pattern also holds a `=`.
    if name in ("include", "exclude") and "=" in str(value):
        return [f"--{name}", str(value)]
    return [f"--{name}={value}"]


def _metrics(address: str) -> dict[str, float]:
    # Ignore proxies in the environment, since the address is on this machine.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"http://{address}/metrics", timeout=2) as response:
        text = response.read(LARGEST_METRICS).decode(errors="replace")
    return {name: float(value) for name, value in _METRIC.findall(text)}
