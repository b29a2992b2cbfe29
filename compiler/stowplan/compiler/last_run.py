"""What is remembered of a run that left everything up to date, so that the next one can see that nothing changed.

It lies in the user's cache folder, never in the repository: outputs do not depend on it, and losing it costs a whole
run. What a change of the output led to (a Job that starts anew, a file that was removed) is told once: a run that said
any of it is not remembered.
"""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from stowplan.compiler import fingerprint
from stowplan.compiler.source import Diagnostic, Location, Report
from stowplan.schema.diagnostics import Severity

KEPT = 200
"""Repositories that are remembered; the one that was compiled longest ago gives way."""

_OF_A_CHANGE = frozenset(("SP511", "SP512", "SP513", "SP516", "SP540", "SP541", "SP542"))
"""What is said of the step from one output to the next, and so not again by a run that takes no step."""


@dataclass(frozen=True, slots=True)
class LastRun:
    """A run that would be the same if it were done again. `objects` and `files` are what it counted."""

    inputs: str
    outputs: str
    program: str
    objects: int
    files: int
    diagnostics: tuple[Diagnostic, ...]

    @property
    def report(self) -> Report:
        """What the run said of the specs."""
        report = Report()
        report.add(*self.diagnostics)
        return report

    def texts(self, repo: Path) -> dict[str, str]:
        """The files that it said something of."""
        files = {each.location.file for each in self.diagnostics}
        return {file: (repo / file).read_text(encoding="utf-8") for file in files if (repo / file).is_file()}


def unchanged(repo: Path, out: Path) -> LastRun | None:
    """The last run, where neither inputs nor outputs nor Stowplan changed since; outputs by existence and size."""
    with suppress(OSError, ValueError, KeyError, TypeError, fingerprint.UnusualError):
        fields = json.loads(_file(repo, out).read_bytes())
        if fields["program"] == fingerprint.of_program():
            last = LastRun(**fields | {"diagnostics": tuple(map(_diagnostic, fields["diagnostics"]))})
            return last if (last.inputs, last.outputs) == fingerprint.of_both(repo, out) else None
    return None


def inputs(repo: Path) -> str:
    """What `remember` wants to know of a run that is about to begin; empty where such a run cannot be remembered."""
    with suppress(fingerprint.UnusualError):
        return fingerprint.of_inputs(repo)
    return ""


def remember(repo: Path, out: Path, inputs: str, report: Report, *, objects: int, files: int) -> None:
    """Keep what is known of a run without errors that has just ended. `inputs` are those that it began with."""
    path = _file(repo, out)
    with suppress(OSError, fingerprint.UnusualError):
        if not inputs or any(each.code in _OF_A_CHANGE for each in report.diagnostics):
            path.unlink(missing_ok=True)
            return
        known = tuple(report.diagnostics)
        last = LastRun(inputs, fingerprint.of_outputs(out), fingerprint.of_program(), objects, files, known)
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, json.dumps(asdict(last)).encode())
        _let_go(path.parent)


def _replace(path: Path, content: bytes) -> None:
    """Whole or not at all, also for one who reads at the same time."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    temporary.write_bytes(content)
    temporary.replace(path)


def _let_go(folder: Path) -> None:
    newest_first = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in newest_first[KEPT:]:
        path.unlink(missing_ok=True)


def _file(repo: Path, out: Path) -> Path:
    """One for each pair of repository and output folder."""
    places = f"{os.path.realpath(repo)}\0{os.path.realpath(out)}"
    top = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    return Path(top, "stowplan/runs", blake2b(os.fsencode(places), digest_size=16).hexdigest())


def _diagnostic(fields: Mapping[str, Any]) -> Diagnostic:
    known = {"location": Location(**fields["location"]), "severity": Severity(fields["severity"])}
    return Diagnostic(**{**fields, **known})
