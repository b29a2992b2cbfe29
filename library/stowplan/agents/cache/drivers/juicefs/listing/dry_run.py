"""Listings by `juicefs sync --dry --verbose`, which copies nothing, creates nothing and logs a line for each object."""

import re
import tempfile
from collections.abc import Generator, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.cache.drivers.juicefs.child import Child, ChildEnd
from stowplan.agents.cache.drivers.juicefs.listing.entry import Entry, Place
from stowplan.agents.cache.drivers.juicefs.verdict import checked
from stowplan.schema.agents.exit_codes import ExitCode

_DRY = ("sync", "--dry", "--verbose", "--force-update", "--threads=1", "--metrics=127.0.0.1:0")
"""Words of a listing. With `--force-update` the destination is not asked, and one thread keeps the order of keys."""

_EXCLUDED = re.compile(
    r"exclude (?P<key>.*) size: (?P<size>\d+), mtime: (?P<date>\d{4}-\d\d-\d\d) (?P<time>\d\d:\d\d:\d\d)\S* "
    r"(?P<sign>[+-])(?P<hours>\d\d)(?P<minutes>\d\d) .*",
    re.DOTALL,
)
_CHOSEN = re.compile(r"Will copy (?P<key>.*) \(\d+ bytes\)", re.DOTALL)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class DryRun:
    """Lists objects by `juicefs`. Both methods yield in ascending order of keys and must be closed.

    They raise AttemptError if the objects cannot be listed, and StoppedError if the work must stop.
    """

    child: Child
    variables: Mapping[str, str]
    """Environment variables with credentials."""
    flags: tuple[str, ...] = ()
    """Arguments that the access needs."""

    def entries(self, place: Place, what: str, *, strict: bool) -> Generator[Entry]:
        """Yield all objects of a place, with keys relative to it. `what` names it for messages.

        JuiceFS tells the time of an object only if it leaves the object out, so it gets options to leave all out. With
        `strict` a key that holds a line break is an error, AttemptError (5); otherwise it is passed over.
        """
        words = ["--exclude=*"]
        if place.stem:
            # In a directory JuiceFS leaves out the first key itself.
            words += [f"--start={place.stem[:-1]}", f"--end={place.stem}\U0010ffff"]
        told = 0
        with closing(self._lines(place.folder, what, words)) as lines:
            for each in lines:
                if isinstance(each, ChildEnd):
                    if strict and checked(each, what).excluded != told:
                        raise _broken(what)
                    continue
                if not each.startswith("exclude "):
                    continue
                found = _EXCLUDED.fullmatch(each)
                if found:
                    told += 1
                    if found["key"].startswith(place.stem):
                        yield Entry(found["key"][len(place.stem) :], int(found["size"]), _seconds(found))
                elif strict:
                    raise _broken(what)

    def chosen(self, address: str, flags: list[str], what: str) -> Generator[str]:
        """Yield the keys, relative to `address`, that a sync with these arguments copies; `what` is for messages."""
        with closing(self._lines(address, what, flags)) as lines:
            for each in lines:
                if not isinstance(each, ChildEnd) and (found := _CHOSEN.fullmatch(each)):
                    yield found["key"]

    def _lines(self, address: str, what: str, words: list[str]) -> Generator[str | ChildEnd]:
        """Yield the text of each line about an object, and the end at last."""
        with tempfile.TemporaryDirectory(prefix="stowplan-") as empty:
            nowhere = f"file://{empty}/nothing{'/' if address.endswith('/') else ''}"
            words = [*_DRY, *self.flags, *words, address, nowhere]
            with closing(self.child.lines(*words, more=self.variables)) as lines:
                for each in lines:
                    if isinstance(each, ChildEnd):
                        checked(each, what)
                        yield each
                    elif each.level == "DEBUG":
                        yield each.text


def _seconds(found: re.Match[str]) -> int:
    local = datetime.fromisoformat(f"{found['date']}T{found['time']}+00:00")
    offset = timedelta(hours=int(found["hours"]), minutes=int(found["minutes"]))
    passed = local - _EPOCH - (offset if found["sign"] == "+" else -offset)
    return passed.days * 86400 + passed.seconds


def _broken(what: str) -> AttemptError:
    message = f"A key of {what} cannot be a file: it holds a line break"
    return AttemptError(ExitCode.CONFLICT, "UnsafeKeys", message)
