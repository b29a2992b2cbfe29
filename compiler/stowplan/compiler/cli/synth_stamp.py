"""What is remembered of a `synth` that left everything up to date.

What a change of the output led to (a Job that starts anew, a file that was removed) is told once.
"""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.incremental import build_stamp, fingerprint
from stowplan.compiler.incremental.build_stamp import LastRun
from stowplan.schema.frozen import dataclass

if TYPE_CHECKING:
    from stowplan.compiler.incremental.spec_cache import Before, Kept
    from stowplan.compiler.output.write import WriteResult
    from stowplan.compiler.pipeline import Compiled

_OF_A_CHANGE = frozenset(("SP540", "SP541", "SP542"))
"""What is said of the step from one output to the next, and so not again by a run that takes no step."""

_OF_A_REPAIR = frozenset(("SP511", "SP512", "SP513", "SP516"))
"""What is said of an output that was not as the last run left it. The next run looks at all of it again."""


@dataclass(frozen=True, slots=True)
class LastSynth(LastRun):
    """One that left these `outputs`, by existence and size of files. `files` is what it counted."""

    outputs: str
    files: int


@dataclass(frozen=True, slots=True)
class Look(build_stamp.Look[LastSynth]):
    """`last` is the run that left the `outputs` as they are."""

    outputs: fingerprint.Outputs | None = None


def look(repo: Path, out: Path) -> Look:
    """Compare inputs and outputs with those of the last run."""
    last, contents = build_stamp.read(build_stamp.place(repo, out), LastSynth), dict[str, bytes]()
    if last:
        with suppress(fingerprint.UnusualError):
            found, outputs = fingerprint.both(repo, out, contents)
            return Look(found, contents, last if last.outputs == outputs.digest else None, outputs)
    contents.clear()
    return Look(build_stamp.inputs(repo, contents), contents)


def before(repo: Path, out: Path, look: Look, *, whole: bool) -> "Before":
    """What the next run can use of what was seen and kept; of what was kept nothing if it is to be a `whole` one."""
    from stowplan.compiler.incremental import spec_cache_file  # noqa: PLC0415 - start-up time
    from stowplan.compiler.incremental.spec_cache import Before  # noqa: PLC0415
    from stowplan.compiler.output.folder import of_files  # noqa: PLC0415

    kept = (
        spec_cache_file.read(build_stamp.kept_beside(build_stamp.place(repo, out))) if look.last and not whole else None
    )
    tree = of_files(out, look.outputs.paths()) if look.outputs else None
    return Before(kept if kept and look.last and kept.run == look.last.inputs else None, look.contents, tree)


def remember(
    repo: Path,
    out: Path,
    look: Look,
    report: Report,
    *,
    compiled: "Compiled",
    written: "WriteResult",
    known: "Kept | None",
) -> None:
    """Keep what is known of a run without errors that has just ended.

    `look` is what was seen before it, `known` what it knew of the run before.
    """
    record, kept = build_stamp.place(repo, out), compiled.kept
    with suppress(OSError, fingerprint.UnusualError):
        if kept is None or not look.inputs or any(each.code in _OF_A_REPAIR for each in report.diagnostics):
            record.unlink(missing_ok=True)
            return
        made = (*written.created, *written.changed)
        outputs = look.outputs.after(out, (*made, *written.removed)) if look.outputs else fingerprint.outputs(out)
        diagnostics = tuple(each for each in report.diagnostics if each.code not in _OF_A_CHANGE)
        files = len(made) + len(written.unchanged)
        program = fingerprint.of_program()
        last = LastSynth(look.inputs, program, compiled.objects, diagnostics, outputs.digest, files)
        if not last.shows(compiled.texts, look.contents):
            record.unlink(missing_ok=True)
            return
        build_stamp.write(record, last, kept.written(look.inputs, out), known)
