"""`juicefs sync` from a source into a volume or a claim: its arguments, its progress and its result."""

import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.progress import Progress
from stowplan.agents.cache.drivers.juicefs.child import Child
from stowplan.agents.cache.drivers.juicefs.listing.wanted import WantedKeys
from stowplan.agents.cache.drivers.juicefs.verdict import checked, count, failure
from stowplan.agents.cache.drivers.juicefs.watch import SyncWatch, Tally
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
lead out of it. Such keys are an error before the copy, but one may be new since then.
"""

LISTS = (1, 3)
"""First version of JuiceFS that takes a list of keys (`--files-from`)."""

LEFTOVERS = (
    ".jfs.*.tmp.[0-9]*",
    f".*.tmp.{'[0-9]' * 12}*",
    f".*.tmp{'[0-9]' * 12}*",
    ".juicefs-sync-checkpoint.*.json",
)
"""Patterns of the names of unfinished files: the first from JuiceFS 1.4 on, the second before (`cmd/object.go`), the
third in a claim (`pkg/object/file.go`); and of checkpoints of JuiceFS 1.4, which this agent has used in version 0.1.0.

The second and the third require 12 digits. The number in a name is random and has 63 bits, so it has fewer digits only
once in millions. Names that people choose end in shorter numbers.
"""

SELECTING = frozenset(
    {"include", "exclude", "match-full-path", "start", "end", "max-size", "min-size", "max-age", "min-age", "limit"}
)
"""Options that select objects of the source."""

WHOLE = frozenset({"delete-dst", "dirs", "perms"})
"""Options that have an effect on more than the objects that are copied."""


@dataclass(frozen=True)
class Sync:
    """One copy from a source into a volume or a claim by `juicefs sync`: call `check`, then `fetch`, `run` or both."""

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
    reserved: Sequence[str] = ()
    """Names in the root of the destination that are not copied."""
    tally: Tally = field(default_factory=Tally)

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

    def access(self) -> list[str]:
        """Return the arguments by which any `juicefs sync` reaches the source."""
        return ["--no-https"] if self.flags.get("no-https") else []

    def selecting(self) -> list[str]:
        """Return the arguments that select objects of the source; an empty list if none are left out."""
        chosen = {name: value for name, value in self.flags.items() if name in SELECTING}
        # The limit counts folders too.
        return _written(chosen if "limit" in chosen or not chosen else {**chosen, "dirs": True})

    def is_empty(self) -> bool:
        """Return whether the source has no objects. Raises AttemptError if the source cannot be listed."""
        # With a separate destination the dry run asks only for the source's objects.
        words = ("sync", "--dry", "--limit=2", "--dirs", "--metrics=127.0.0.1:0", *self.access())
        slash = "/" if self.source.endswith("/") else ""
        with tempfile.TemporaryDirectory(prefix="stowplan-") as nothing:
            ended = self.child.run(*words, self.source, f"file://{nothing}/nothing{slash}", more=self.variables)
        counted = checked(ended, f"the source {self.source}")
        return counted.found + counted.excluded == 0

    def run(self) -> None:
        """Copy what is missing or has another size, or what the options say, and add the count to `tally`.

        Raises AttemptError if any object failed or was lost, and StoppedError if the work must stop.
        """
        self._pass(_written(self.flags), whole=True)

    def fetch(self, wanted: WantedKeys) -> None:
        """Copy the objects with these keys, whatever the destination has, and add the counts to `tally`.

        Raises AttemptError if one failed or was lost, and StoppedError if the work must stop.
        """
        kept = {name: value for name, value in self.flags.items() if name not in SELECTING | WHOLE}
        flags = _written({**kept, "force-update": True})
        lists = self.takes_lists()
        for path in wanted.lists() if lists else ():
            self._pass([*flags, f"--files-from={path}"], whole=False)
        for key in wanted.unlisted() if lists else wanted.keys():
            # No other key is between these two, and in a directory JuiceFS leaves out the last one.
            self._pass([*flags, *([f"--start={key}"] if key else []), f"--end={key}\x01"], whole=False)

    def _pass(self, flags: Sequence[str], *, whole: bool) -> None:
        watch = SyncWatch(self.progress, self.log, self.tally, whole, self.progress.files_total)
        own = [f"--exclude={each}" for each in (PROTECTION, OUTSIDE, *(f"/{name}" for name in self.reserved))]
        with watch.looking():
            words = ("sync", "--metrics=127.0.0.1:0", *own, *flags, self.source, self.destination)
            ended = self.child.run(*words, more=self.variables, said=watch.said)
        counted = count(ended)
        if counted:
            self.tally.tell(
                self.progress,
                skipped=counted.skipped,
                copied=counted.copied,
                # The last poll of the counters may be a second old, and a short copy may end before the first poll.
                sizes=(counted.skipped_bytes, counted.copied_bytes),
                whole=whole,
            )
            self.tally.add(counted, whole=whole)
            missing = counted.failed + counted.lost
            self.progress.files_total = max(watch.planned, self.progress.files_done + missing)
        if problem := failure(ended, f"the copy of {self.source}", claim=self.destination.startswith("file://")):
            raise problem

    def remove_leftovers(self) -> None:
        """Remove the unfinished files of killed copies from the destination. A failure is only logged."""
        folder = self.destination.rpartition("/")[0] + "/"
        wanted = ("--include=*/", *(f"--include={each}" for each in LEFTOVERS), "--exclude=*")
        with tempfile.TemporaryDirectory(prefix="stowplan-") as nothing:
            words = ("sync", "--metrics=127.0.0.1:0", "--delete-dst", *wanted)
            ended = self.child.run(*words, f"file://{nothing}/", folder)
        if problem := failure(ended, "the leftovers of an earlier copy"):
            self.log.warning("Could not remove what a killed copy left", error=str(problem))

    def takes_lists(self) -> bool:
        """Return whether this version of JuiceFS takes a list of keys."""
        found = re.search(r"version (\d+)\.(\d+)", self.child.run("--version", seconds=10).text)
        return found is not None and (int(found[1]), int(found[2])) >= LISTS


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
