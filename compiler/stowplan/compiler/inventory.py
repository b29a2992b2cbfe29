"""The inventory: what the last run wrote, in `inventory.jsonl` beside the manifests.

It decides which files may be removed and which runs are kept. It is committed, so it is input that anyone may have
edited or merged badly: what cannot be read is reported and never trusted.
"""

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from stat import S_ISREG
from typing import Any

from pydantic import TypeAdapter, ValidationError

from stowplan.compiler import paths
from stowplan.compiler.model import Output
from stowplan.compiler.source import Diagnostic, diagnose_at
from stowplan.library.manifest import ExternalReference
from stowplan.schema.diagnostics import Severity, finding
from stowplan.schema.meta import ObjectId, SpecId

NAME = "inventory.jsonl"
FORMAT = "stowplan.dev/inventory/v1"
_FAMILY = FORMAT.rpartition("/")[0]


@dataclass(frozen=True, slots=True)
class Entry:
    """One file that a run wrote. `sha256` and `size` (bytes) are those of the whole file, header included."""

    path: str
    id: ObjectId
    sha256: str
    size: int
    spec: SpecId | None
    spec_digest: str
    wave: int
    run: bool
    externals: tuple[ExternalReference, ...] = ()


@dataclass(frozen=True, slots=True)
class Inventory:
    """The files of one run, sorted by path. `complete` is false where some of the file could not be read."""

    entries: tuple[Entry, ...] = ()
    complete: bool = True


_ENTRY: TypeAdapter[Entry] = TypeAdapter(Entry)


def entry(output: Output, content: bytes) -> Entry:
    """The entry of an output whose file holds `content`."""
    return Entry(
        path=output.path,
        id=output.manifest.id,
        sha256=sha256(content).hexdigest(),
        size=len(content),
        spec=output.spec,
        spec_digest=output.spec_digest,
        wave=output.manifest.wave,
        run=output.manifest.run,
        externals=output.externals,
    )


def render(inventory: Inventory) -> bytes:
    """The file: a line with the format, then one JSON object a line, keys sorted."""
    records: Iterable[dict[str, Any]] = (_ENTRY.dump_python(each, mode="json") for each in inventory.entries)
    lines = [json.dumps(record, sort_keys=True) for record in ({"format": FORMAT}, *records)]
    return ("\n".join(lines) + "\n").encode()


def is_ours(content: bytes) -> bool:
    """Whether a file called `inventory.jsonl` is an inventory of any version, or empty."""
    return not content or _FAMILY.encode() in content.partition(b"\n")[0]


def read(out: Path) -> tuple[Inventory, list[Diagnostic]]:
    """The inventory of `out`, empty where there is none, and what is wrong with it. Never raises for its content.

    Lines that cannot be read are left out and make the inventory incomplete.
    """
    file = out / NAME
    try:
        if not S_ISREG(file.lstat().st_mode):
            return _broken(out, 1, "it is not a regular file")
        content = file.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return Inventory(), []
    except OSError as error:
        return _broken(out, 1, str(error.strerror))
    return parse(content, out)


def parse(content: bytes, out: Path) -> tuple[Inventory, list[Diagnostic]]:
    """`read` for bytes at hand; `out` is only named in diagnostics."""
    first, *lines = content.split(b"\n")
    if first != json.dumps({"format": FORMAT}).encode():
        return _broken(out, 1, f"its first line does not name the format {FORMAT}")
    entries: dict[str, Entry] = {}
    bad: list[int] = []
    for number, line in enumerate(lines, start=2):
        if not line:
            continue
        found = _parsed(line)
        if found is None or found.path in entries:
            bad.append(number)
        else:
            entries[found.path] = found
    ordered = tuple(entries[path] for path in sorted(entries))
    if not bad:
        return Inventory(ordered), []
    which = f"line {bad[0]} is" if len(bad) == 1 else f"{len(bad)} lines, the first of them line {bad[0]}, are"
    return _broken(out, bad[0], f"{which} no entry, or name a file that another line has named", entries=ordered)


def _parsed(line: bytes) -> Entry | None:
    try:
        found = _ENTRY.validate_json(line, strict=True)
    except ValidationError:
        return None
    return found if paths.safe(found.path) else None


def _broken(
    out: Path, line: int, reason: str, *, entries: tuple[Entry, ...] = ()
) -> tuple[Inventory, list[Diagnostic]]:
    message = f"The inventory of the last run cannot be read: {reason}. {_WITHOUT}"
    hint = (
        f"{_restore(out)}, or use the version of Stowplan that wrote it. After a merge, take one side of it with"
        f" `git checkout --theirs {_named(out)}` and run `stowplan synth`. {_RENEW}"
    )
    problem = finding("SP511", (), message, hint)
    return Inventory(entries, complete=False), [diagnose_at(paths.location(out, NAME, line), problem)]


def missing(out: Path) -> Diagnostic:
    """SP516, for a folder that holds files of ours but no inventory."""
    message = f"The output holds files of an earlier run, but not its inventory. {_WITHOUT}"
    hint = f"{_restore(out)}; see that no .gitignore keeps it out. {_RENEW}"
    return diagnose_at(paths.location(out, NAME), finding("SP516", (), message, hint))


_WITHOUT = "It says which runs are kept and which files may be removed, so by default nothing is written without it."
_RENEW = (
    "If it is lost, `stowplan synth --recompile all` makes a new one: look in the diff for Jobs with new names, which"
    " would run again."
)


def _restore(out: Path) -> str:
    return f"Restore it with `git checkout {_named(out)}`"


def _named(out: Path) -> str:
    return paths.location(out, NAME).file


def unless_known_newer(out: Path, found: Diagnostic) -> Diagnostic:
    """A warning in place of an error, for who wants a new inventory; but none of a newer format is overwritten."""
    with suppress(OSError):
        first = (out / NAME).read_bytes().partition(b"\n")[0]
        if _FAMILY.encode() in first and first != json.dumps({"format": FORMAT}).encode():
            return found
    return replace(found, severity=Severity.WARNING)
