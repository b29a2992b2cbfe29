"""The stamp of the last run: a run with unchanged inputs and outputs repeats its report and ends."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from stowplan.compiler.cache import fingerprint
from stowplan.compiler.cache.output_index import OutputIndex
from stowplan.compiler.cache.record import Record
from stowplan.compiler.diagnostics.report import Diagnostic, Report
from stowplan.compiler.output.folder import OutputFolder, seen

_STAMP, _OUTPUTS = "stamp", "outputs"

_OF_A_CHANGE = frozenset(("SP540", "SP541", "SP542"))
"""Codes about the change from the previous output. They do not apply to the next run."""

_OF_A_REPAIR = frozenset(("SP511", "SP512", "SP513", "SP516"))
"""Codes about an output folder that somebody changed. Such a run leaves no stamp, so the next run checks everything."""


class Stamp(NamedTuple):
    """One run: digests of Stowplan, inputs and outputs, and the results: counts and diagnostics.

    `outputs` is empty for a command that writes nothing. `texts` are the contents of the files that diagnostics name.
    """

    program: str
    inputs: str
    outputs: str
    objects: int
    files: int
    diagnostics: tuple[Diagnostic, ...]
    texts: dict[str, str]

    @property
    def report(self) -> Report:
        """The diagnostics of the run."""
        report = Report()
        report.add(*self.diagnostics)
        return report


@dataclass(frozen=True, slots=True)
class Look:
    """Inputs and outputs before a run. `unchanged` is the stamp of the last run if both are unchanged.

    `inputs` is empty if they are too unusual for a stamp. `contents` are the contents of source files by path.
    """

    record: Record
    inputs: str = ""
    contents: Mapping[str, bytes] = field(default_factory=dict)
    tree: OutputFolder | None = None
    outputs: OutputIndex = field(default_factory=OutputIndex)
    unchanged: Stamp | None = None

    def forget(self) -> None:
        """Remove the stamp, because the next run may differ although inputs and outputs are equal."""
        self.record.remove(_STAMP)

    def remember(
        self,
        report: Report,
        objects: int,
        texts: Mapping[str, str],
        *,
        written: Mapping[str, str] | None = None,
    ) -> None:
        """Write the stamp of a run that just ended, unless an equal run might end differently.

        `written` are the digests of all output files of the run, by path.
        """
        said = tuple(report.diagnostics)
        if not self.inputs or any(each.code in _OF_A_REPAIR for each in said):
            self.forget()
            return
        outputs = ""
        if self.tree is not None:
            tree = seen(self.tree.root)
            index = self.outputs.look(tree, written, self.outputs.at)
            self.record.write(_OUTPUTS, index)
            outputs = index.digest(tree)
        kept = tuple(each for each in said if each.code not in _OF_A_CHANGE)
        named = {each.location.file for each in kept} & texts.keys()
        self.record.write(
            _STAMP,
            Stamp(
                fingerprint.of_program(),
                self.inputs,
                outputs,
                objects,
                len(written or ()),
                kept,
                {file: texts[file] for file in sorted(named)},
            ),
        )


def look(repo: Path, out: Path | None = None) -> Look:
    """Compare inputs and the output folder with those of the last run."""
    record, contents = Record((repo, out) if out else (repo,)), dict[str, bytes]()
    inputs = fingerprint.inputs(repo, contents)
    stamp = record.read(_STAMP, Stamp)
    same = stamp is not None and (stamp.program, stamp.inputs) == (fingerprint.of_program(), inputs) and inputs != ""
    if out is None:
        return Look(record, inputs, contents, unchanged=stamp if same else None)
    before, tree = record.read(_OUTPUTS, OutputIndex), seen(out)
    outputs = before.look(tree) if before else OutputIndex(time.time_ns())
    same = same and stamp is not None and stamp.outputs == outputs.digest(tree)
    if same and before and not before.settled:
        record.write(_OUTPUTS, outputs)
    return Look(record, inputs, contents, tree, outputs, stamp if same else None)
