"""`stowplan watch`: compiles again whenever a file changes that the output depends on."""

import os
import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from watchfiles import Change, watch

from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.incremental import build_stamp
from stowplan.compiler.incremental.output_snapshot import Standing
from stowplan.compiler.incremental.spec_cache import Before, Kept
from stowplan.compiler.lowering.composer_pool import ComposerPool
from stowplan.compiler.output import lock
from stowplan.compiler.output.folder import Seen, Tree, is_temporary, scan, seen_at
from stowplan.compiler.output.write import WriteResult, write
from stowplan.compiler.pipeline import Compiled, compile_repository
from stowplan.compiler.repository.file_cache import SeenFiles
from stowplan.compiler.repository.layout import PLATFORM_FILES, SPECS

QUIET_MILLISECONDS = 20
"""An editor writes a file in several steps; so long after the last one there is peace."""


FIRST_LOOK_MILLISECONDS = 500
"""When it is looked at whether something changed before notices began."""


@dataclass(frozen=True, slots=True)
class Round:
    """One compilation: what came of it, and how many seconds it took."""

    report: Report
    compiled: Compiled
    written: WriteResult
    seconds: float


@dataclass
class Watcher:
    """Compiles one repository, and remembers what the next round can use."""

    repo: Path
    out: Path
    _memory: ComposerPool = field(default_factory=ComposerPool)
    _kept: Kept | None = None
    _standing: Standing | None = None
    _seen: SeenFiles = field(default_factory=SeenFiles)
    _left: dict[str, Seen] = field(default_factory=dict)
    """What rounds touched below the output folder, as they left it."""
    _blind: bool = False
    """Whether nobody would notice who else writes the output folder."""
    _extended: bool = False

    def rounds(self) -> Generator[Round, None, None]:
        """One round at once, and one for each change; ends when the process is interrupted."""
        with closing(self._memory):
            begun = build_stamp.inputs(self.repo)
            yield self.round()
            self._memory.start()
            for found in self._changes():
                due = self.notice(path for _, path in found)
                # An edit while the first round went on, or before it was asked for the next, gave no notice.
                missed = bool(begun) and begun != build_stamp.inputs(self.repo)
                begun = ""
                if missed or due:
                    yield self.round()

    def notice(self, changed: Iterable[str]) -> bool:
        """Take in which files changed; whether a round is due. Of a changed output, nothing is known any more."""
        paths = list(changed)
        if any(map(self._is_foreign, paths)):
            self._kept = self._standing = None
        return any(map(self._matters, paths))

    def _changes(self) -> Iterator[set[tuple[Change, str]]]:
        """What changed, and nothing where nothing did for some time."""
        elsewhere = not self.out.resolve().is_relative_to(self.repo.resolve())
        self._blind = elsewhere and not self.out.exists()
        return watch(
            *([self.repo, self.out] if elsewhere and not self._blind else [self.repo]),
            watch_filter=lambda _, path: self._matters(path) or self._is_foreign(path),
            debounce=200,
            step=QUIET_MILLISECONDS,
            rust_timeout=FIRST_LOOK_MILLISECONDS,
            yield_on_timeout=True,
            raise_interrupt=False,
            ignore_permission_denied=True,
        )

    def round(self) -> Round:
        """Compiles and, if there is no error, writes."""
        began, report = time.perf_counter(), Report()
        # Notices of the last moment may be yet to come.
        if self._standing and not self._standing.lasts():
            self._kept = self._standing = None
        # A lasting Node serves one process. Where everything is compiled, several are faster.
        memory = self._memory if self._kept or self._extended else None
        before = Before(self._kept, standing=self._standing, seen=self._seen)
        compiled = compile_repository(self.repo, self.out, report, memory=memory, before=before, keep_objects=False)
        written = WriteResult() if report.failed else self._write(compiled, report)
        return Round(report, compiled, written, time.perf_counter() - began)

    def _write(self, compiled: Compiled, report: Report) -> WriteResult:
        before = self._standing.tree if self._standing else None
        # Whatever keeps it from being written may be a change of the output.
        self._kept = self._standing = None
        written = write(compiled.files, self.out, compiled.committed, report, before)
        if report.failed:
            return written
        self._extended = compiled.kept is None
        if compiled.kept and not self._blind:
            made = (*written.created, *written.changed)
            tree = before.after(made, written.removed) if before else scan(self.out)
            self._kept = compiled.kept
            self._standing = Standing.of_run(tree, written.inventory, compiled.files, compiled.committed)
        touched = Tree(self.out).after((*written.created, *written.changed, *written.removed), ())
        self._left |= {path: seen_at(self.out / path) for path in (*touched.files, *touched.folders)}
        return written

    def _matters(self, path: str) -> bool:
        """Specs, the platform file, and Python files, which may be extensions; never what this very command writes."""
        place = os.path.relpath(path, os.path.realpath(self.repo))
        top = Path(place).parts[0]
        if self._below_out(path) is not None:
            return False
        return top == SPECS or place in PLATFORM_FILES or (path.endswith(".py") and not top.startswith("."))

    def _is_foreign(self, path: str) -> bool:
        """An output that somebody else changed. All are compared again in the next round."""
        output = self._below_out(path)
        if output is None or output.name == lock.NAME or is_temporary(output.name):
            return False
        known = output.as_posix()
        return known not in self._left or self._left[known] != seen_at(self.out / output)

    def _below_out(self, path: str) -> Path | None:
        """The path relative to the output folder; None for a path elsewhere. A link there is not followed."""
        folder, name = os.path.split(path)
        found, out = Path(os.path.realpath(folder), name), Path(os.path.realpath(self.out))
        return found.relative_to(out) if found.is_relative_to(out) else None
