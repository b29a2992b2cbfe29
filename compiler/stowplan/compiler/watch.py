"""`stowplan watch`: compiles again whenever a file changes that the output depends on."""

import os
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from watchfiles import Change, watch

from stowplan.compiler.cache import fingerprint
from stowplan.compiler.cache.compiled_file import CompiledFiles, Known
from stowplan.compiler.cache.output_index import OutputIndex
from stowplan.compiler.committed import adoption
from stowplan.compiler.compiling.alike import Made, of_environment
from stowplan.compiler.compiling.destinations import destinations
from stowplan.compiler.diagnostics.report import Diagnostic, Report
from stowplan.compiler.environments.combining import combined
from stowplan.compiler.environments.target import Target
from stowplan.compiler.environments.together import Result, judged, left, strange
from stowplan.compiler.lowering.composer_pool import ComposerPool
from stowplan.compiler.output.folder import OutputFolder, seen
from stowplan.compiler.output.write import WriteResult, digests, write
from stowplan.compiler.pipeline import Compiled, compile_repository
from stowplan.compiler.repository.layout import SPECS, Repository

QUIET_MILLISECONDS = 20
"""Time without changes to wait for before compiling, because an editor writes a file in several steps."""


FIRST_LOOK_MILLISECONDS = 500
"""Time until the first check for changes that happened before the watcher started."""


@dataclass(frozen=True, slots=True)
class Round:
    """Result of compiling once, with the duration in seconds.

    `texts` are the contents of the files that diagnostics name, by path. `written` has each output folder that was
    written, one for each target of a platform file with environments, and what changed in it.
    """

    report: Report
    texts: Mapping[str, str]
    written: tuple[tuple[Path, WriteResult], ...]
    seconds: float


@dataclass
class _Kept:
    """What one output folder was compiled to in the last round."""

    compiled: CompiledFiles | None = None
    outputs: OutputIndex = field(default_factory=OutputIndex)


@dataclass(frozen=True, slots=True)
class _Part:
    """One output folder in a round: what it was before (`tree`, `outputs`) and what it compiles to."""

    out: Path
    target: Target | None
    report: Report
    compiled: Compiled
    tree: OutputFolder
    outputs: OutputIndex


@dataclass
class Watcher:
    """Compiles one repository again and again; compiled files stay in this process instead of the cache.

    `env` names one environment or target; None for all.
    """

    repo: Repository
    out: Path
    _composer: ComposerPool = field(default_factory=ComposerPool)
    _kept: dict[Path, _Kept] = field(default_factory=dict)
    env: str | None = None

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
        """End Node.js, which stays alive between rounds."""
        self._composer.close()

    def round(self) -> Round:
        """Compile once and, if there is no error, write the output folder, or those of all targets."""
        began = time.perf_counter()
        broken, texts = Report(), dict[str, str]()
        targets: Sequence[Target] = ()
        if self.repo.may_have_environments:
            targets, found = destinations(self.repo, broken)
            texts |= found
        if broken.failed:
            return Round(broken, texts, (), time.perf_counter() - began)
        wanted: list[Target | None] = [
            each for each in targets if self.env in (None, "all", each.name, each.environment.name)
        ]
        parts = self._parts(wanted or [None])
        said, written = self._of_all(parts, targets), list[tuple[Path, WriteResult]]()
        report = _reported(parts, said)
        if not report.failed:
            written = [(each.out, self._write(each)) for each in parts]
            report = _reported(parts, said)
        texts = {file: text for each in parts for file, text in each.compiled.texts.items()}
        return Round(report, texts, tuple(written), time.perf_counter() - began)

    def _parts(self, targets: Sequence[Target | None]) -> list[_Part]:
        parts, first = list[_Part](), None
        for target in targets:
            part = self._part(target, of_environment(first, target) if target else None)
            first = part.compiled.made or first
            parts.append(replace(part, compiled=replace(part.compiled, made=None)))
        return parts

    def _of_all(self, parts: Sequence[_Part], targets: Sequence[Target]) -> list[Diagnostic]:
        """Return what is to be said of all targets together; nothing without environments."""
        results = [
            Result(each.target, [(file.path, file.id) for file in each.compiled.files], each.compiled.runs)
            for each in parts
            if each.target and not each.report.failed
        ]
        if not targets:
            return []
        return [*left(self.out, targets, taken=True), *strange(self.out, targets), *judged(results)]

    def _part(self, target: Target | None, first: Made | None) -> _Part:
        report, out = Report(), self.out / target.name if target else self.out
        tree, kept = seen(out), self._kept.setdefault(out, _Kept())
        outputs = kept.outputs.look(tree) if kept.compiled else OutputIndex(time.time_ns())
        known = Known(kept.compiled or CompiledFiles(), tree=tree, outputs=outputs)
        # The first round compiles everything, which several processes do faster. Later rounds use the lasting composer.
        composer = self._composer if kept.compiled else None
        compiled = compile_repository(
            self.repo, out, report, composer=composer, known=known, keep_objects=False, target=target, first=first
        )
        return _Part(out, target, report, compiled, tree, outputs)

    def _write(self, part: _Part) -> WriteResult:
        written = write(part.compiled.files, part.out, part.compiled.committed, part.report)
        if not part.report.failed:
            if part.target:
                adoption.remove(part.target, part.out, part.compiled.files)
            own = self._kept[part.out]
            own.compiled = part.compiled.known or CompiledFiles()
            own.outputs = part.outputs.updated(part.tree, digests(part.compiled.files, written))
        return written

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


def _reported(parts: Sequence[_Part], of_all: Sequence[Diagnostic]) -> Report:
    """Return the report of all parts; without environments there is one part, whose report it is.

    `of_all` are the diagnostics about all targets together.
    """
    pairs = [(each.target, each.report) for each in parts if each.target]
    report = combined(pairs) if pairs else parts[0].report
    report.add(*of_all)
    return report
