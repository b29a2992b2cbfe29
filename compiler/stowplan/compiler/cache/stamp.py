"""The stamp of the last command: while inputs and outputs are unchanged, the next command repeats its report."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from stowplan.compiler.cache import fingerprint
from stowplan.compiler.cache.output_index import OutputIndex
from stowplan.compiler.cache.record import Record
from stowplan.compiler.diagnostics.report import Diagnostic, Report
from stowplan.compiler.output.folder import OutputFolder, seen
from stowplan.compiler.repository.layout import Repository
from stowplan.compiler.repository.spec_count import SpecCount
from stowplan.compiler.repository.work_tree import Around, around

_STAMP, _OUTPUTS = "stamp", "outputs"

_OF_A_CHANGE = frozenset(("SP540", "SP541", "SP542"))
"""Diagnostic codes about the change from the previous output. They do not apply to the next command."""

_OF_A_REPAIR = frozenset(("SP511", "SP512", "SP513", "SP516"))
"""Diagnostic codes about an output folder that somebody changed by hand.

A command that reports one of them leaves no stamp, so the next command checks everything.
"""


class Numbers(NamedTuple):
    """What a command compiled for a target: the numbers of objects, of specs and of written files."""

    target: str
    objects: int
    specs: SpecCount
    files: int = 0


class Stamp(NamedTuple):
    """One finished command about all targets: digests of Stowplan, inputs and outputs, and its results.

    `outputs` is empty for a command that writes nothing. `texts` are the contents of the files that diagnostics name,
    by path. `around` is what the command saw of the Git work tree.
    """

    program: str
    inputs: str
    outputs: str
    numbers: tuple[Numbers, ...]
    diagnostics: tuple[Diagnostic, ...]
    texts: dict[str, str]
    around: Around = Around()

    @property
    def report(self) -> Report:
        """A report with the diagnostics of the command."""
        report = Report()
        report.add(*self.diagnostics)
        return report


@dataclass(frozen=True, slots=True)
class Look:
    """Inputs and outputs at the start of a command.

    `unchanged` is the stamp of the last command if inputs and outputs are as they were then, otherwise None. `inputs`
    is a digest, or empty if the inputs are too unusual for a stamp. `contents` are the contents of source files by
    path. `tree` is the list of the output folder; None for a command that writes nothing.
    """

    record: Record
    inputs: str = ""
    contents: Mapping[str, bytes] = field(default_factory=dict)
    tree: OutputFolder | None = None
    outputs: OutputIndex = field(default_factory=OutputIndex)
    unchanged: Stamp | None = None

    def forget(self) -> None:
        """Remove the stamp, because the next command may end differently although inputs and outputs are equal."""
        self.record.remove(_STAMP)

    def remember(
        self,
        report: Report,
        numbers: Sequence[Numbers],
        texts: Mapping[str, str],
        written: Mapping[str, str],
        around: Around,
    ) -> None:
        """Write the stamp of a command that just ended, unless the same command might end differently.

        `texts` are the contents of source files by path, `written` the SHA-256 digests of all output files of the
        command, by path.
        """
        said = tuple(report.diagnostics)
        if not self.inputs or any(each.code in _OF_A_REPAIR for each in said):
            self.forget()
            return
        outputs = ""
        if self.tree is not None:
            tree = seen(self.tree.root)
            index = self.outputs.updated(tree, written)
            self.record.write(_OUTPUTS, index)
            outputs = index.digest(tree)
        kept = tuple(each for each in said if each.code not in _OF_A_CHANGE)
        named = {each.location.file for each in kept} & texts.keys()
        found = {file: texts[file] for file in sorted(named)}
        stamp = Stamp(fingerprint.of_program(), self.inputs, outputs, tuple(numbers), kept, found, around)
        self.record.write(_STAMP, stamp)


def look(repo: Repository, out: Path | None = None) -> Look:
    """Return the digests of inputs and output folder, compared with the stamp of the last command.

    `out` is None for a command that writes nothing.
    """
    folders, contents = (repo.folder, out) if out else (repo.folder,), dict[str, bytes]()
    record = Record(folders, repo.platform)
    inputs = fingerprint.inputs(repo, contents)
    stamp = record.read(_STAMP, Stamp)
    same = stamp is not None and (stamp.program, stamp.inputs) == (fingerprint.of_program(), inputs) and inputs != ""
    if out is None:
        return Look(record, inputs, contents, unchanged=stamp if same else None)
    before, tree = record.read(_OUTPUTS, OutputIndex), seen(out)
    outputs = before.look(tree) if before else OutputIndex(time.time_ns())
    same = same and stamp is not None and stamp.outputs == outputs.digest(tree)
    same = same and stamp is not None and stamp.around == around(repo, out, others=stamp.around.others is not None)
    if same and before and not before.settled:
        record.write(_OUTPUTS, outputs)
    return Look(record, inputs, contents, tree, outputs, stamp if same else None)
