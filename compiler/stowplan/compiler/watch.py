"""`stowplan watch`: compiles again whenever a file changes that the output depends on."""

import os
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from watchfiles import Change, watch

from stowplan.compiler.cache import fingerprint
from stowplan.compiler.compiling.destinations import destinations
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.environments.together import strange
from stowplan.compiler.lowering.composer_pool import ComposerPool
from stowplan.compiler.output.write import WriteResult
from stowplan.compiler.pipeline import Compiler, Options
from stowplan.compiler.repository.layout import SPECS, Repository
from stowplan.compiler.repository.load import Checkout
from stowplan.compiler.synthesis import synthesis, write_all

QUIET_MILLISECONDS = 20
"""Time without changes to wait for before compiling, because an editor writes a file in several steps."""


FIRST_LOOK_MILLISECONDS = 500
"""Time until the first check for changes that happened before the watcher started."""


@dataclass(frozen=True, slots=True)
class Round:
    """Result of compiling once, with the duration in seconds.

    `texts` are the contents of the files that diagnostics name, by path. `written` has each output folder that was
    written, one for each target of a platform file with environments, and what changed in it; empty after an error.
    """

    report: Report
    texts: Mapping[str, str]
    written: tuple[tuple[Path, WriteResult], ...]
    seconds: float


class EnvironmentGoneError(Exception):
    """The platform file has no longer the environment that is watched."""


@dataclass
class Watcher:
    """Compiles one repository again and again, in a process that has everything it needs in memory.

    `out` is the output folder of all targets. `env` names one environment or target, which exists; None for all. Call
    `rounds` alone, or `round` as often as needed and then `close`.
    """

    repo: Repository
    out: Path
    env: str | None = None
    _composer: ComposerPool = field(default_factory=ComposerPool)

    def rounds(self) -> Generator[Round, None, None]:
        """Yield one round at once and one after each change that matters, until the process is interrupted."""
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
            self.repo.folder,
            watch_filter=lambda _, path: self._matters(path),
            debounce=200,
            step=QUIET_MILLISECONDS,
            rust_timeout=FIRST_LOOK_MILLISECONDS,
            yield_on_timeout=True,
            raise_interrupt=False,
            ignore_permission_denied=True,
        )

    def close(self) -> None:
        """End Node.js, which stays alive between rounds. `rounds` calls this at its end."""
        self._composer.close()

    def round(self) -> Round:
        """Compile once and, if there is no error, write the output of all targets.

        Raises EnvironmentGoneError if the platform file has lost the environment `env`.
        """
        began, checkout, broken = time.perf_counter(), Checkout(self.repo), Report()
        targets = destinations(checkout, self.out, broken)
        if not targets:
            return Round(broken, checkout.texts, (), time.perf_counter() - began)
        chosen = [each for each in targets if self.env in (None, "all", each.name, each.environment.name)]
        if not chosen:
            raise EnvironmentGoneError(f"The platform file has no environment {self.env} any more.")
        options = Options(keep_objects=False)
        found = synthesis(Compiler(checkout, self._composer), self.out, chosen, {each.name: options for each in chosen})
        report, results = write_all(found, list(strange(self.out, targets, refused=False)))
        places = [each.out for each in found.parts] if results else []
        written = tuple(zip(places, results, strict=True))
        return Round(report, found.texts, written, time.perf_counter() - began)

    def _matters(self, path: str) -> bool:
        """Whether the output may depend on a path: below `specs`, the platform file, or a Python file (an extension).

        Files in the output folder do not matter.
        """
        place = Path(os.path.relpath(path, os.path.realpath(self.repo.folder)))
        top = place.parts[0]
        if self._is_below_out(path):
            return False
        return (
            top == SPECS
            or place.as_posix() in self.repo.top_files
            or (path.endswith(".py") and not top.startswith("."))
        )

    def _is_below_out(self, path: str) -> bool:
        """Whether a path is in the output folder. Links inside the folder are not followed."""
        folder, name = os.path.split(path)
        return Path(os.path.realpath(folder), name).is_relative_to(os.path.realpath(self.out))
