"""The stamp of the last command: while inputs and outputs are unchanged, the next command repeats its report.

It only saves time: one that is lost, written by another user or unreadable is as none.
"""

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from msgspec import DecodeError, msgpack

from stowplan.compiler.cache import fingerprint, private_files
from stowplan.compiler.cache.output_index import OutputIndex, indexed
from stowplan.compiler.diagnostics.report import Diagnostic, Report
from stowplan.compiler.output.folder import seen
from stowplan.compiler.repository.layout import Repository
from stowplan.compiler.repository.spec_count import SpecCount
from stowplan.compiler.repository.work_tree import Around, around

_OF_A_CHANGE = frozenset(("SP540", "SP541", "SP542"))
"""Diagnostic codes about the change from the previous output. They do not apply to the next command."""

_OF_A_REPAIR = frozenset(("SP511", "SP512", "SP513", "SP516"))
"""Diagnostic codes about an output folder that somebody changed by hand.

A command that reports one of them leaves no stamp, so the next command checks everything.
"""


class Numbers(NamedTuple):
    """What a command compiled for the target of this name: the numbers of objects, of specs and of written files."""

    target: str
    objects: int
    specs: SpecCount
    files: int = 0


class Stamp(NamedTuple):
    """One finished command about all targets: digests of Stowplan, inputs and outputs, and its results.

    `outputs` is empty for a command that writes nothing; `files` is the index that it is made from. `texts` are the
    contents of the files that diagnostics name, by path. `around` is what the command saw of the Git work tree.
    """

    program: str
    inputs: str
    outputs: str
    numbers: tuple[Numbers, ...]
    diagnostics: tuple[Diagnostic, ...]
    texts: dict[str, str]
    around: Around = Around()
    files: OutputIndex = OutputIndex()

    @property
    def report(self) -> Report:
        """A report with the diagnostics of the command."""
        report = Report()
        report.add(*self.diagnostics)
        return report


@dataclass(frozen=True, slots=True)
class Look:
    """Inputs and outputs at the start of a command, at the time `at` (nanoseconds since 1970).

    `unchanged` is the stamp of the last command if inputs and outputs are as they were then, otherwise None; `file` is
    where it lies. `inputs` is a digest, or empty if the inputs are too unusual for a stamp. `contents` are the contents
    of source files by path. `out` is the output folder; None for a command that writes nothing.
    """

    file: Path
    at: int
    out: Path | None
    inputs: str
    contents: Mapping[str, bytes] = field(default_factory=dict)
    unchanged: Stamp | None = None

    def forget(self) -> None:
        """Remove the stamp, because the next command may end differently although inputs and outputs are equal."""
        with suppress(OSError):
            self.file.unlink(missing_ok=True)

    def remember(
        self,
        report: Report,
        numbers: Sequence[Numbers],
        texts: Mapping[str, str],
        written: Mapping[str, str],
        around: Around,
    ) -> None:
        """Write the stamp of a command that just ended; remove it if the same command might end differently.

        `texts` are the contents of source files by path, `written` the SHA-256 digests of all output files of the
        command, by path. A stamp that cannot be written is no error.
        """
        said = tuple(report.diagnostics)
        if not self.inputs or any(each.code in _OF_A_REPAIR for each in said):
            self.forget()
            return
        outputs, index = "", OutputIndex()
        if self.out is not None:
            tree = seen(self.out)
            index = indexed(tree, written, self.at)
            outputs = index.digest(tree)
        kept = tuple(each for each in said if each.code not in _OF_A_CHANGE)
        named = {each.location.file for each in kept} & texts.keys()
        found = {file: texts[file] for file in sorted(named)}
        program = fingerprint.of_program()
        _write(self.file, Stamp(program, self.inputs, outputs, tuple(numbers), kept, found, around, index))


def look(repo: Repository, out: Path | None = None) -> Look:
    """Return the digests of inputs and output folder, compared with the stamp of the last command.

    `out` is None for a command that writes nothing. Call it before a command reads files, and `remember` at its end.
    """
    folders, contents, at = (repo.folder, out) if out else (repo.folder,), dict[str, bytes](), time.time_ns()
    places = [os.path.realpath(folder) for folder in folders]
    file = private_files.folder() / f"{fingerprint.of(*places, *filter(None, [repo.platform]))}.stamp"
    found = Look(file, at, out, fingerprint.inputs(repo, contents), contents)
    last = _read(file)
    if last is None or not found.inputs or (last.program, last.inputs) != (fingerprint.of_program(), found.inputs):
        return found
    if out is not None:
        tree = seen(out)
        index = last.files.look(tree)
        if last.outputs != index.digest(tree) or last.around != around(
            repo, out, others=last.around.others is not None
        ):
            return found
        if not last.files.settled:
            _write(file, last._replace(files=index))
    return replace(found, unchanged=last)


def _read(file: Path) -> Stamp | None:
    """Return the stamp in a file; None if there is none that this version of Stowplan has written for this user."""
    content = private_files.read(file)
    try:
        return msgpack.decode(content, type=Stamp) if content is not None else None
    except (DecodeError, RecursionError):
        return None


def _write(file: Path, stamp: Stamp) -> None:
    """Write a stamp, unless it cannot be encoded or written."""
    with suppress(OSError, OverflowError, TypeError, ValueError):
        private_files.write(file, msgpack.encode(stamp))
