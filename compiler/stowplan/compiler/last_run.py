"""What is remembered of a run that left everything up to date, so that the next one can see that nothing changed.

It lies in the user's cache folder, never in the repository: outputs do not depend on it, and losing it costs a whole
run. What a change of the output led to (a Job that starts anew, a file that was removed) is told once.
"""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, field
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stowplan.compiler import fingerprint
from stowplan.compiler.source import Diagnostic, Location, Report
from stowplan.schema.diagnostics import Severity
from stowplan.schema.records import dataclass

if TYPE_CHECKING:
    from stowplan.compiler.kept import Before, Kept
    from stowplan.compiler.write import WriteResult

KEPT = 200
"""Repositories that are remembered; the one that was compiled longest ago gives way."""

KEPT_WHOLE = 20
"""Repositories of which so much is kept that an edit compiles alone: some megabytes for thousands of specs."""

_OF_A_CHANGE = frozenset(("SP540", "SP541", "SP542"))
"""What is said of the step from one output to the next, and so not again by a run that takes no step."""

_OF_A_REPAIR = frozenset(("SP511", "SP512", "SP513", "SP516"))
"""What is said of an output that was not as the last run left it. The next run looks at all of it again."""


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


@dataclass(frozen=True, slots=True)
class Look:
    """What is seen before a run begins.

    `inputs` are those that it begins with, empty where such a run cannot be remembered, with the contents of files.
    `last` is the run that left the `outputs` as they are, by existence and size of files, if it was this Stowplan's.
    """

    inputs: str = ""
    contents: Mapping[str, bytes] = field(default_factory=dict)
    last: LastRun | None = None
    outputs: fingerprint.Outputs | None = None

    @property
    def unchanged(self) -> LastRun | None:
        """The last run, where its inputs are still the same."""
        return self.last if self.last and self.last.inputs == self.inputs else None


def look(repo: Path, out: Path) -> Look:
    """Compare inputs and outputs with those of the last run."""
    last, contents = _last(_file(repo, out)), dict[str, bytes]()
    if last:
        with suppress(fingerprint.UnusualError):
            found, outputs = fingerprint.both(repo, out, contents)
            return Look(found, contents, last if last.outputs == outputs.digest else None, outputs)
    contents.clear()
    return Look(inputs(repo, contents), contents)


def inputs(repo: Path, contents: dict[str, bytes] | None = None) -> str:
    """What tells the inputs of one moment from those of another; empty where they are too unusual for that.

    `contents` takes in those of files.
    """
    with suppress(fingerprint.UnusualError):
        return fingerprint.of_inputs(repo, contents)
    return ""


def _last(file: Path) -> LastRun | None:
    with suppress(OSError, ValueError, KeyError, TypeError):
        fields = json.loads(file.read_bytes())
        if fields["program"] == fingerprint.of_program():
            return LastRun(**fields | {"diagnostics": tuple(map(_diagnostic, fields["diagnostics"]))})
    return None


def before(repo: Path, out: Path, look: Look, *, whole: bool) -> "Before":
    """What the next run can use of what was seen and kept; of what was kept nothing if it is to be a `whole` one."""
    from stowplan.compiler import kept_file  # noqa: PLC0415 - start-up time
    from stowplan.compiler.kept import Before  # noqa: PLC0415
    from stowplan.compiler.tree import of_files  # noqa: PLC0415

    kept = kept_file.read(_kept_file(repo, out)) if look.last and not whole else None
    tree = of_files(out, look.outputs.paths()) if look.outputs else None
    return Before(kept if kept and look.last and kept.run == look.last.inputs else None, look.contents, tree)


def remember(
    repo: Path,
    out: Path,
    look: Look,
    report: Report,
    written: "WriteResult",
    *,
    objects: int,
    kept: "Kept",
    known: "Kept | None",
) -> None:
    """Keep what is known of a run without errors that has just ended.

    `look` is what was seen before it, `known` what it knew of the run before.
    """
    from stowplan.compiler import kept_file  # noqa: PLC0415 - start-up time

    path = _file(repo, out)
    with suppress(OSError, fingerprint.UnusualError):
        if not look.inputs or any(each.code in _OF_A_REPAIR for each in report.diagnostics):
            path.unlink(missing_ok=True)
            return
        made = (*written.created, *written.changed)
        outputs = look.outputs.after(out, (*made, *written.removed)) if look.outputs else fingerprint.outputs(out)
        diagnostics = tuple(each for each in report.diagnostics if each.code not in _OF_A_CHANGE)
        files = len(made) + len(written.unchanged)
        last = LastRun(look.inputs, outputs.digest, fingerprint.of_program(), objects, files, diagnostics)
        path.parent.mkdir(parents=True, exist_ok=True)
        kept_file.write(_kept_file(repo, out), known, kept.written(look.inputs, out))
        _replace(path, json.dumps(asdict(last)).encode())
        _let_go(path.parent)


def _replace(path: Path, content: bytes) -> None:
    """Whole or not at all, also for one who reads at the same time."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    temporary.write_bytes(content)
    temporary.replace(path)


def _let_go(folder: Path) -> None:
    newest_first = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    large = [path for path in newest_first if path.suffix]
    for path in {*newest_first[KEPT:], *large[KEPT_WHOLE:]}:
        path.unlink(missing_ok=True)


def _file(repo: Path, out: Path) -> Path:
    """One for each pair of repository and output folder."""
    places = f"{os.path.realpath(repo)}\0{os.path.realpath(out)}"
    top = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    return Path(top, "stowplan/runs", blake2b(os.fsencode(places), digest_size=16).hexdigest())


def _kept_file(repo: Path, out: Path) -> Path:
    return _file(repo, out).with_suffix(".kept")


def _diagnostic(fields: Mapping[str, Any]) -> Diagnostic:
    known = {"location": Location(**fields["location"]), "severity": Severity(fields["severity"])}
    return Diagnostic(**{**fields, **known})
