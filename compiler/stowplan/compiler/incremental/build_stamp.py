"""What is remembered of a run, so that the next one can see that nothing changed.

It lies in the user's cache folder, never in the repository: outputs do not depend on it, and losing it costs a whole
run. `last_synth` and `last_validate` say what is remembered of these two commands, each in a record of its own.
"""

import json
import os
from codecs import BOM_UTF8
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, field
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from stowplan.compiler.diagnostics.locations import Location
from stowplan.compiler.diagnostics.report import Diagnostic, Report
from stowplan.compiler.incremental import fingerprint
from stowplan.schema.diagnostics import Severity
from stowplan.schema.frozen import dataclass

if TYPE_CHECKING:
    from stowplan.compiler.incremental.spec_cache import Kept

KEPT = 200
"""Records: one for a repository that was validated, one for each of its output folders. The oldest gives way."""

KEPT_WHOLE = 40
"""Those beside which so much is kept that an edit is looked at alone: some megabytes for thousands of specs."""


@dataclass(frozen=True, slots=True)
class LastRun:
    """A run that would be the same if it were done again. `objects` is what it counted."""

    inputs: str
    program: str
    objects: int
    diagnostics: tuple[Diagnostic, ...]

    @property
    def report(self) -> Report:
        """What the run said of the specs."""
        report = Report()
        report.add(*self.diagnostics)
        return report

    def texts(self, contents: Mapping[str, bytes]) -> dict[str, str]:
        """The files that it said something of, given the contents of all."""
        files = {each.location.file for each in self.diagnostics} & contents.keys()
        return {file: contents[file].removeprefix(BOM_UTF8).decode(errors="replace") for file in files}

    def shows(self, texts: Mapping[str, str], contents: Mapping[str, bytes]) -> bool:
        """Whether its own `texts` are found again; not where a name or an encoding is unusual."""
        said = {each.location.file for each in self.diagnostics} & texts.keys()
        return self.texts(contents) == {file: texts[file] for file in said}


Kind = TypeVar("Kind", bound=LastRun)


@dataclass(frozen=True, slots=True)
class Look(Generic[Kind]):
    """What is seen before a run begins.

    `inputs` are those that it begins with, empty where such a run cannot be remembered, with the contents of files.
    `last` is the last run, if it was this Stowplan's.
    """

    inputs: str = ""
    contents: Mapping[str, bytes] = field(default_factory=dict)
    last: Kind | None = None

    @property
    def unchanged(self) -> Kind | None:
        """The last run, where its inputs are still the same."""
        return self.last if self.last and self.last.inputs == self.inputs else None


def inputs(repo: Path, contents: dict[str, bytes] | None = None) -> str:
    """What tells the inputs of one moment from those of another; empty where they are too unusual for that.

    `contents` takes in those of files.
    """
    with suppress(fingerprint.UnusualError):
        return fingerprint.of_inputs(repo, contents)
    return ""


def place(*folders: Path) -> Path:
    """Where the record lies of a repository, or of a repository and an output folder."""
    places = "\0".join(os.path.realpath(folder) for folder in folders)
    top = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    return Path(top, "stowplan/runs", blake2b(os.fsencode(places), digest_size=16).hexdigest())


def kept_beside(record: Path) -> Path:
    """Where lies what was kept of each spec."""
    return record.with_suffix(".kept")


def read(record: Path, kind: type[Kind]) -> Kind | None:
    """The run of a record; None where there is none of this very Stowplan's."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        fields = json.loads(record.read_bytes())
        if fields["program"] == fingerprint.of_program():
            return kind(**fields | {"diagnostics": tuple(map(_diagnostic, fields["diagnostics"]))})
    return None


def write(record: Path, last: LastRun, kept: "Kept | None", known: "Kept | None") -> None:
    """Replace a record, whole or not at all, also for one who reads at the same time; and what is kept, if anything.

    `known` is what was kept before. Raises `OSError`.
    """
    _make_private(record.parent)
    if kept:
        from stowplan.compiler.incremental import spec_cache_file  # noqa: PLC0415 - start-up time

        spec_cache_file.write(kept_beside(record), known, kept)
    temporary = record.with_name(f"{record.name}.{os.getpid()}")
    temporary.write_bytes(json.dumps(asdict(last)).encode())
    temporary.replace(record)
    _let_go(record.parent)


def _make_private(folder: Path) -> None:
    """Make a folder and those above it, readable by their owner alone. Folders that are there stay as they are."""
    if not folder.exists():
        _make_private(folder.parent)
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)


def _let_go(folder: Path) -> None:
    newest_first = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    records, kept = ([path for path in newest_first if bool(path.suffix) is large] for large in (False, True))
    for path in (*records[KEPT:], *kept[KEPT_WHOLE:]):
        path.unlink(missing_ok=True)


def _diagnostic(fields: Mapping[str, Any]) -> Diagnostic:
    known = {"location": Location(**fields["location"]), "severity": Severity(fields["severity"])}
    return Diagnostic(**{**fields, **known})
