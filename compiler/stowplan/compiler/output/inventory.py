"""The inventory: the list of files that the last command wrote, in `inventory.jsonl` of the output folder.

It decides which files may be removed and which committed runs are reused. Anyone may have edited the committed file or
merged it badly: lines that cannot be read are reported and never trusted.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import file_digest, sha256
from io import BytesIO
from itertools import islice
from pathlib import Path
from stat import S_ISREG

from stowplan.compiler.diagnostics.report import Diagnostic, diagnose_at
from stowplan.compiler.output import paths
from stowplan.compiler.output.inventory_lines import Entry, from_lines
from stowplan.schema.diagnostics import Severity, finding
from stowplan.schema.meta import SpecId

NAME = "inventory.jsonl"
FORMAT = "stowplan.dev/inventory/v1"
_FAMILY = FORMAT.rpartition("/")[0]
_FIRST = json.dumps({"format": FORMAT}).encode()
_CHUNK = 1000
"""Number of lines encoded at a time, so that a large file is not in memory as a string too."""


@dataclass(frozen=True)
class Inventory:
    """The files that one command wrote, sorted by path. `complete` is False if a part could not be read.

    `sha256` is the digest of the inventory's file; empty without a file.
    """

    entries: tuple[Entry, ...] = ()
    complete: bool = True
    sha256: str = field(default="", compare=False, repr=False)

    def paths(self) -> set[str]:
        """Return the paths of all listed files."""
        return {entry.path for entry in self.entries}

    @cached_property
    def by_spec(self) -> Mapping[SpecId | None, Sequence[Entry]]:
        """The entries of each spec; under None, the entries of objects that belong to no spec."""
        found: defaultdict[SpecId | None, list[Entry]] = defaultdict(list)
        for entry in self.entries:
            found[entry.spec].append(entry)
        return found


def of_lines(lines: Iterable[str]) -> bytes:
    """Return the bytes of the file: a line with the format, then the lines of entries sorted by path."""
    rest, parts = iter(lines), [_FIRST + b"\n"]
    while chunk := list(islice(rest, _CHUNK)):
        parts.append(("\n".join(chunk) + "\n").encode())
    return b"".join(parts)


def is_ours(content: bytes) -> bool:
    """Whether a file called `inventory.jsonl` is an inventory of any version, or empty."""
    return not content or _FAMILY.encode() in content.partition(b"\n")[0]


def read(out: Path) -> tuple[Inventory, list[Diagnostic]]:
    """Return the inventory of the output folder `out`, empty without a file, and its diagnostics.

    Lines that cannot be read are skipped and make the inventory incomplete.
    """
    try:
        content = _content(out)
    except (FileNotFoundError, NotADirectoryError):
        return Inventory(), []
    except OSError as error:
        return _broken(out, 1, str(error.strerror))
    return _broken(out, 1, "it is not a regular file") if content is None else parse(content, out)


def _content(out: Path) -> bytes | None:
    """Return the bytes of the inventory's file; None if it is not a regular file. Raises `OSError`."""
    file = out / NAME
    return file.read_bytes() if S_ISREG(file.lstat().st_mode) else None


def parse(content: bytes, out: Path) -> tuple[Inventory, list[Diagnostic]]:
    """Return the inventory in `content` and its diagnostics, as `read`. `out` is the folder that diagnostics name."""
    lines = BytesIO(content)
    first = lines.readline().rstrip(b"\n")
    digest = sha256(content).hexdigest()
    if first != _FIRST:
        return _broken(out, 1, f"its first line does not name the format {FORMAT}", digest=digest)
    entries: dict[str, Entry] = {}
    bad: list[int] = []
    for number, found in from_lines(lines, first=2):
        if found is None or entries.setdefault(found.path, found) is not found:
            bad.append(number)
    ordered = tuple(entries[path] for path in sorted(entries))
    if not bad:
        return Inventory(ordered, sha256=digest), []
    which = f"line {bad[0]} is" if len(bad) == 1 else f"{len(bad)} lines, the first of them line {bad[0]}, are"
    reason = f"{which} no entry, or name a file that another line has named"
    return _broken(out, bad[0], reason, entries=ordered, digest=digest)


def is_still(previous: Inventory, out: Path) -> bool:
    """Whether the inventory of `out` is still equal to `previous`."""
    path = out / NAME
    with suppress(OSError):
        if previous.sha256 and S_ISREG(path.lstat().st_mode):
            with path.open("rb") as file:
                if file_digest(file, "sha256").hexdigest() == previous.sha256:
                    return True
    return read(out)[0] == previous


def _broken(
    out: Path, line: int, reason: str, *, entries: tuple[Entry, ...] = (), digest: str = ""
) -> tuple[Inventory, list[Diagnostic]]:
    message = f"The inventory of the last command cannot be read: {reason}. {_WITHOUT}"
    hint = (
        f"{_restore(out)}, or use the version of Stowplan that wrote it. After a merge, take one side of it with"
        f" `git checkout --theirs {_named(out)}` and run `stowplan synth`. {_RENEW}"
    )
    problem = finding("SP511", (), message, hint)
    return Inventory(entries, complete=False, sha256=digest), [diagnose_at(paths.location(out, NAME, line), problem)]


def missing(out: Path) -> Diagnostic:
    """Return the diagnostic SP516: the output folder `out` has generated files but no inventory."""
    message = f"The output holds files of an earlier command, but not its inventory. {_WITHOUT}"
    hint = f"{_restore(out)}; see that no .gitignore keeps it out. {_RENEW}"
    return diagnose_at(paths.location(out, NAME), finding("SP516", (), message, hint))


_WITHOUT = "It says which runs are reused and which files may be removed, so by default nothing is written without it."
_RENEW = (
    "If it is lost, `stowplan synth --recompile all` makes a new one: look in the diff for Jobs with new names, which"
    " would run again."
)


def _restore(out: Path) -> str:
    return f"Restore it with `git checkout {_named(out)}`"


def _named(out: Path) -> str:
    return paths.location(out, NAME).file


def unless_known_newer(out: Path, found: Diagnostic) -> Diagnostic:
    """Return a diagnostic about the inventory as a warning, for a user who wants a new inventory.

    If the inventory has another format, perhaps of a newer Stowplan, return the diagnostic unchanged.
    """
    with suppress(OSError):
        first = (out / NAME).read_bytes().partition(b"\n")[0]
        if _FAMILY.encode() in first and first != _FIRST:
            return found
    return replace(found, severity=Severity.WARNING)
