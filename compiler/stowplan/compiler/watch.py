"""`stowplan watch`: compiles again whenever a file changes that the output depends on."""

import os
import time
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from watchfiles import Change, watch

from stowplan.compiler.cache import fingerprint
from stowplan.compiler.cache.compiled_file import CompiledFiles, Known
from stowplan.compiler.cache.output_index import OutputIndex
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.lowering.composer_pool import ComposerPool
from stowplan.compiler.output.folder import seen
from stowplan.compiler.output.write import WriteResult, digests, write
from stowplan.compiler.pipeline import Compiled, compile_repository
from stowplan.compiler.repository.layout import PLATFORM_FILES, SPECS

QUIET_MILLISECONDS = 20
"""Time without changes to wait for before compiling, because an editor writes a file in several steps."""


FIRST_LOOK_MILLISECONDS = 500
"""Time until the first check for changes that happened before the watcher started."""


@dataclass(frozen=True, slots=True)
class Round:
    """Result of compiling once: `compiled`, what was `written`, and the duration in seconds."""

    report: Report
    compiled: Compiled
    written: WriteResult
    seconds: float


@dataclass
class Watcher:
    """Compiles one repository again and again; compiled files stay in this process instead of the cache."""

    repo: Path
    out: Path
    _composer: ComposerPool = field(default_factory=ComposerPool)
    _compiled: CompiledFiles | None = None
    _outputs: OutputIndex = field(default_factory=OutputIndex)

    def rounds(self) -> Generator[Round, None, None]:
        """Yield one round at once and one per change, until the process is interrupted."""
        with closing(self):
            begun = fingerprint.inputs(self.repo)
            yield self.round()
            self._composer.start()
            for found in self._changes():
                # No event reports an edit that happened before the watcher started.
                missed = bool(begun) and begun != fingerprint.inputs(self.repo)
                begun = ""
                if missed or found:
                    yield self.round()

    def _changes(self) -> Iterator[set[tuple[Change, str]]]:
        """Yield sets of changed files; an empty set after some time without a change."""
        return watch(
            self.repo,
            watch_filter=lambda _, path: self._matters(path),
            debounce=200,
            step=QUIET_MILLISECONDS,
            rust_timeout=FIRST_LOOK_MILLISECONDS,
            yield_on_timeout=True,
            raise_interrupt=False,
            ignore_permission_denied=True,
        )

    def close(self) -> None:
        """End Node.js, which stays alive between rounds."""
        self._composer.close()

    def round(self) -> Round:
        """Compile once and, if there is no error, write the output folder."""
        began, report = time.perf_counter(), Report()
        tree = seen(self.out)
        outputs = self._outputs.look(tree) if self._compiled else OutputIndex(time.time_ns())
        known = Known(self._compiled or CompiledFiles(), tree=tree, outputs=outputs)
        # The first round compiles everything, which several processes do faster. Later rounds use the lasting composer.
        composer = self._composer if self._compiled else None
        compiled = compile_repository(self.repo, self.out, report, composer=composer, known=known, keep_objects=False)
        written = WriteResult()
        if not report.failed:
            written = write(compiled.files, self.out, compiled.committed, report)
        if not report.failed:
            self._compiled = compiled.known or CompiledFiles()
            self._outputs = outputs.updated(tree, digests(compiled.files, written))
        return Round(report, compiled, written, time.perf_counter() - began)

    def _matters(self, path: str) -> bool:
        """Whether the output may depend on a path: below `specs`, the platform file, or a Python file (an extension).

        Files in the output folder do not matter.
        """
        place = os.path.relpath(path, os.path.realpath(self.repo))
        top = Path(place).parts[0]
        if self._is_below_out(path):
            return False
        return top == SPECS or place in PLATFORM_FILES or (path.endswith(".py") and not top.startswith("."))

    def _is_below_out(self, path: str) -> bool:
        """Whether a path is in the output folder. Links inside the folder are not followed."""
        folder, name = os.path.split(path)
        return Path(os.path.realpath(folder), name).is_relative_to(os.path.realpath(self.out))
