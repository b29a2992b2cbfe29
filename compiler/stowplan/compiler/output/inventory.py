"""The inventory: the list of the files that the last command wrote. `inventory_files` says in which files it is.

It decides which files may be removed and which committed runs are reused. Anyone may have edited the committed files or
merged them badly: lines that cannot be read are reported and never trusted. An entry counts the same in every file of
the inventory, because people and merges move lines; only the next `synth` moves it back.
"""

import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from hashlib import file_digest
from io import BytesIO
from itertools import islice
from pathlib import Path

from stowplan.compiler.diagnostics.report import Diagnostic
from stowplan.compiler.output import inventory_files, paths
from stowplan.compiler.output.inventory_files import OLD, PENDING
from stowplan.compiler.output.inventory_lines import Entry, from_lines
from stowplan.compiler.output.inventory_problems import broken
from stowplan.schema.diagnostics import Severity
from stowplan.schema.meta import SpecId

FORMAT = "stowplan.dev/inventory/v1"
_FAMILY = FORMAT.rpartition("/")[0]
_FIRST = json.dumps({"format": FORMAT}).encode()
_CHUNK = 1000
"""Number of lines encoded at a time, so that a large file is not in memory as a string too."""


@dataclass(frozen=True)
class Inventory:
    """The files that one command wrote, sorted by path. `complete` is False if a part could not be read.

    `sha256` is a digest of the inventory's files; empty without a file.
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

    def of(self, specs: Iterable[SpecId | None]) -> "Inventory":
        """Return a complete inventory of these specs alone; None stands for the objects that belong to no spec."""
        return Inventory(tuple(entry for spec in specs for entry in self.by_spec.get(spec, ())))


def of_lines(lines: Iterable[str]) -> bytes:
    """Return the bytes of a file: a line with the format, then `lines`, those of entries, which the caller sorts."""
    rest, parts = iter(lines), [_FIRST + b"\n"]
    while chunk := list(islice(rest, _CHUNK)):
        parts.append(("\n".join(chunk) + "\n").encode())
    return b"".join(parts)


def is_ours(content: bytes) -> bool:
    """Whether a file with this content is one of an inventory of any version, or empty."""
    return not content or _FAMILY.encode() in content.partition(b"\n")[0]


def read(out: Path) -> tuple[Inventory, list[Diagnostic]]:
    """Return the inventory of the output folder `out`, empty without files, and its diagnostics.

    Lines that cannot be read are skipped and make the inventory incomplete.
    """
    contents, problems = _contents(out)
    found, more = parse(contents, out, crashed=os.path.lexists(out / PENDING), agrees=partial(_agrees, out))
    return replace(found, complete=found.complete and not problems), [*problems, *more]


def _agrees(out: Path, entry: Entry) -> bool:
    """Whether the file of an entry is as the entry says."""
    with suppress(OSError), (out / entry.path).open("rb") as file:
        return file_digest(file, "sha256").hexdigest() == entry.sha256
    return False


def _contents(out: Path) -> tuple[dict[str, bytes], list[Diagnostic]]:
    """Return the contents of the inventory's files by path, and a diagnostic for each that cannot be read."""
    contents: dict[str, bytes] = {}
    problems: list[Diagnostic] = []
    try:
        present = inventory_files.present(out)
    except OSError as error:
        return {}, [broken(out, paths.INVENTORY, 1, str(error.strerror))]
    for path in present:
        try:
            content = inventory_files.content(out, path)
        except FileNotFoundError:
            continue
        except OSError as error:
            problems.append(broken(out, path, 1, str(error.strerror)))
            continue
        if content is None:
            problems.append(broken(out, path, 1, "it is not a regular file"))
        else:
            contents[path] = content
    return contents, problems


def parse(
    contents: Mapping[str, bytes],
    out: Path,
    *,
    crashed: bool = False,
    agrees: Callable[[Entry], bool] = lambda _: False,
) -> tuple[Inventory, list[Diagnostic]]:
    """Return the inventory in the files `contents`, by path, and its diagnostics, as `read`.

    `out` is the folder that diagnostics name. If two files have different entries of one path, the entry that `agrees`
    with the file at the path counts. If none does, it is an error, except in two cases, in which the first entry
    counts: a command was stopped while it wrote the inventory (`crashed`), or one of the two is in the file of version
    0.1.0, which is read last and which the next `synth` removes.
    """
    entries: dict[str, Entry] = {}
    problems: list[Diagnostic] = []
    for path in sorted(contents, key=lambda each: (each == OLD, each)):
        lines = BytesIO(contents[path])
        if lines.readline().rstrip(b"\n") != _FIRST:
            problems.append(broken(out, path, 1, f"its first line does not name the format {FORMAT}"))
            continue
        bad: list[int] = []
        own: set[str] = set()
        for number, found in from_lines(lines, first=2):
            if found is None or found.path in own:
                bad.append(number)
                continue
            own.add(found.path)
            before = entries.setdefault(found.path, found)
            if before == found or agrees(before):
                continue
            if agrees(found):
                entries[found.path] = found
            elif not (crashed or path == OLD):
                bad.append(number)
        if bad:
            problems.append(broken(out, path, bad[0], _reason(bad)))
    ordered = tuple(entries[path] for path in sorted(entries))
    return Inventory(ordered, not problems, inventory_files.digest(contents)), problems


def _reason(bad: Sequence[int]) -> str:
    which = f"line {bad[0]} is" if len(bad) == 1 else f"{len(bad)} lines, the first of them line {bad[0]}, are"
    return f"{which} no entry, or name a file that another line has named"


def is_still(previous: Inventory, out: Path) -> bool:
    """Whether the inventory of the output folder `out` is still equal to `previous`, which was read from it before."""
    contents, problems = _contents(out)
    if previous.sha256 and not problems and inventory_files.digest(contents) == previous.sha256:
        return True
    return read(out)[0] == previous


def unless_known_newer(out: Path, found: Diagnostic) -> Diagnostic:
    """Return a diagnostic about the inventory as a warning, for a user who wants a new inventory.

    If one of its files has another format, perhaps of a newer Stowplan, return the diagnostic unchanged.
    """
    contents, _ = _contents(out)
    firsts = {content.partition(b"\n")[0] for content in contents.values()} - {_FIRST}
    if any(_FAMILY.encode() in first for first in firsts):
        return found
    return replace(found, severity=Severity.WARNING)
