"""What is remembered of the last `validate`, errors or not: people run it again and again while they mend."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.incremental import build_stamp, fingerprint
from stowplan.compiler.incremental.build_stamp import LastRun
from stowplan.schema.frozen import dataclass

if TYPE_CHECKING:
    from stowplan.compiler.incremental.spec_cache import Before, Kept
    from stowplan.compiler.pipeline import Compiled


@dataclass(frozen=True, slots=True)
class LastValidate(LastRun):
    """One run. What is kept of each spec is of the last one without errors: `sound` is its name, if there is one."""

    sound: str | None


Look = build_stamp.Look[LastValidate]


def look(repo: Path) -> Look:
    """Compare the inputs with those of the last run."""
    contents = dict[str, bytes]()
    return build_stamp.Look(
        build_stamp.inputs(repo, contents), contents, build_stamp.read(build_stamp.place(repo), LastValidate)
    )


def before(repo: Path, look: Look) -> "Before":
    """What the next run can use of what was seen and kept."""
    from stowplan.compiler.incremental import spec_cache_file  # noqa: PLC0415 - start-up time
    from stowplan.compiler.incremental.spec_cache import Before  # noqa: PLC0415

    sound = look.last.sound if look.last else None
    kept = spec_cache_file.read(build_stamp.kept_beside(build_stamp.place(repo))) if sound else None
    return Before(kept if kept and kept.run == sound else None, look.contents)


def remember(repo: Path, look: Look, report: Report, compiled: "Compiled", known: "Kept | None") -> None:
    """Keep what is known of a run that has just ended.

    `look` is what was seen before it, `known` what it knew of an earlier run.
    """
    record, sound = build_stamp.place(repo), look.last.sound if look.last else None
    with suppress(OSError):
        program = fingerprint.of_program()
        # Of the same inputs, another Stowplan may keep something else.
        kept = compiled.kept.named(f"{program} {look.inputs}") if compiled.kept else None
        sound = kept.run if kept else sound
        last = LastValidate(look.inputs, program, compiled.objects, tuple(report.diagnostics), sound)
        if not look.inputs or not last.shows(compiled.texts, look.contents):
            record.unlink(missing_ok=True)
            return
        build_stamp.write(record, last, kept, known)
