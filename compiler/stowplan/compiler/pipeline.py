"""The stages in their order, for each target of a repository.

1. `reading.read`: files to specs, and the platform of the target.
2. `compile`: specs to objects. It knows nothing of what is committed.
3. `keep`: the committed runs that stay take the place of compiled ones.
4. `check`: the objects of each spec alone, then those of all specs.
5. The result has the files to write; `output.write` writes them.

Stages 2 to 4 are taken for some specs at a time, perhaps in other processes (`compiling.steps`). Every stage adds to
one report. After an error, stages that need sound input do not run. This module writes no files.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from stowplan.compiler.checks import spec_stage, stage
from stowplan.compiler.checks.per_spec.custom_resources import Definitions
from stowplan.compiler.committed.recompile import NOTHING, Recompile
from stowplan.compiler.compiling.compile_all import Parts, specs_alone, with_platform
from stowplan.compiler.compiling.reading import Reading, read, report_unused, texts
from stowplan.compiler.compiling.steps import Validation
from stowplan.compiler.diagnostics.report import Diagnostic, Report
from stowplan.compiler.environments.target import Target
from stowplan.compiler.lowering.app_checks import AppChecks
from stowplan.compiler.lowering.composer_pool import ComposerPool
from stowplan.compiler.lowering.extensions import Extensions, extend
from stowplan.compiler.lowering.lower import lower
from stowplan.compiler.lowering.plain_objects import plain_objects
from stowplan.compiler.lowering.platform_objects import settings
from stowplan.compiler.model import OutputFile, Program
from stowplan.compiler.output.inventory import Inventory
from stowplan.compiler.repository.load import Checkout
from stowplan.compiler.repository.spec_count import SpecCount
from stowplan.library.manifest import Json
from stowplan.schema.meta import ObjectId, SpecId

if TYPE_CHECKING:
    from stowplan.compiler.committed.last_output import Committed
    from stowplan.compiler.committed.runs import Start
    from stowplan.compiler.committed.vouching import Base
    from stowplan.compiler.output.render import Rendered


@dataclass(frozen=True, slots=True)
class Options:
    """How a target is compiled: `recompile` are the specs whose runs are not reused.

    `base` holds the runs of the base commit, which may be reused although the specs compile to other files now; None if
    there is none. With `keep_objects`, the result has the outputs.
    """

    recompile: Recompile = NOTHING
    base: "Base | None" = None
    keep_objects: bool = True


@dataclass(frozen=True, slots=True)
class Compiled:
    """What a target is compiled to. After an error, `Compiler.synth` gives only `texts`.

    `texts` are the contents of the files that diagnostics name, by path. `files` are the files of the output, without
    contents that the output folder has already, and `objects` is the number of objects. `committed` is the inventory of
    the committed output. `starts` are the Jobs that a sync would start. `specs` are the identities of all specs, and
    `count` is their number. `waiting` are the infos about runs that wait to be started, by spec. `runs` are the hashes
    of the runs of training jobs that are written, by spec. `placed` are the objects that `validate` found, with their
    paths.
    """

    texts: Mapping[str, str]
    outputs: tuple[OutputFile, ...] = ()
    files: tuple["Rendered", ...] = ()
    objects: int = 0
    committed: Inventory = field(default_factory=Inventory)
    starts: tuple["Start", ...] = ()
    program: Program | None = None
    specs: tuple[SpecId, ...] = ()
    count: SpecCount = field(default_factory=SpecCount)
    waiting: Mapping[SpecId, Diagnostic] = field(default_factory=dict)
    runs: Mapping[SpecId, frozenset[str]] = field(default_factory=dict)
    placed: tuple[tuple[str, ObjectId], ...] = ()


Extending = Callable[[Program], Extensions]
"""Returns the units of a program, with what an app adds to them."""


class Compiler:
    """Compiles the targets of one checkout, one after the other. The caller closes `composer`.

    `app` is the program that calls the compiler; None for the command line.

    Clusters of one environment differ in what Argo CD is told, so that their specs are equal: they are compiled once,
    unless their committed outputs differ.
    """

    def __init__(self, checkout: Checkout, composer: ComposerPool, app: Extending | None = None) -> None:
        self.checkout = checkout
        self._app = app
        self._composer = composer
        self._equal: tuple[object, Parts] | None = None

    def validate(self, target: Target, report: Report, *, keep_objects: bool = True) -> Compiled:
        """Compile and check, without extensions, Node.js and the committed output. Diagnostics go to `report`."""
        reading = read(self.checkout, target, (), report)
        if not reading.program.platform.extensions:
            report_unused(self.checkout, reading, report)
        plain = plain_objects(reading.program)
        steps = Validation(reading, _definitions(plain, reading), keep_objects)
        parts = with_platform(self._specs(steps, None, report), steps, plain)
        _check(parts, reading, parts.gone, report)
        return replace(_compiled(self.checkout, reading, parts, report), placed=parts.placed(target.runs))

    def synth(self, target: Target, out: Path, options: Options, report: Report) -> Compiled:
        """Compile for the target's folder `out`. Diagnostics go to `report`. Raises as `ComposerPool.render` does."""
        from stowplan.compiler.committed import argocd_name, program  # noqa: PLC0415 - `validate` starts without it
        from stowplan.compiler.committed.last_output import Committed  # noqa: PLC0415
        from stowplan.compiler.compiling.keep import Keeping, spoiled, strays  # noqa: PLC0415
        from stowplan.compiler.output.render import Renderings  # noqa: PLC0415

        reading, extended = self._read(target, report)
        report_unused(self.checkout, reading, report)
        if extended and report.failed:
            return Compiled(texts(self.checkout, report))
        specs = [each.id for each in reading.program.specs]
        committed = Committed.read(out, specs, options.base, options.recompile)
        report.add(*program.others(committed.tree, reading.program, self.checkout.repo.folder))
        others = (*(extended.additions if extended else ()), *plain_objects(reading.program))
        units = {each.spec: each for each in extended.units} if extended else {}
        steps = Keeping(reading, _definitions(others, reading), options.keep_objects, committed, self._composer, units)
        parts = with_platform(self._specs(steps, committed, report), steps, others)
        if parts.complete:
            report.add(*spoiled(committed, reading))
        settled = argocd_name.findings(reading.program.platform.argocd, committed)
        report.add_findings(reading.program.platform_document, settled)
        _check(parts, reading, {**parts.gone, **strays(committed)}, report)
        if report.failed:
            return Compiled(texts(self.checkout, report))
        more = settings(reading.program, self._composer.render_charts)
        return replace(
            _compiled(self.checkout, reading, parts, report),
            outputs=(*parts.outputs, *more) if options.keep_objects else (),
            files=(*parts.files, *Renderings().all(more, committed.tree)),
            objects=parts.objects + len(more),
            committed=committed.inventory,
        )

    def _specs(self, steps: Validation, committed: "Committed | None", report: Report) -> Parts:
        """Compile all specs, or return what an equal target was compiled to.

        Equal targets are clusters of one environment, of which the same of specs is committed.
        """
        environment = steps.reading.target.environment
        if len(environment.clusters) < 2 or report.failed:
            return specs_alone(steps, report)
        key = (environment.name, committed and (committed.fingerprint, committed.base))
        if self._equal is None or self._equal[0] != key or (committed and not committed.fingerprint):
            parts = specs_alone(steps, report)
            # What is said of reused files names the folder of the target.
            self._equal = (key, parts) if parts.complete and not parts.reused else None
            return parts
        report.add(*(each for own in self._equal[1].lowered.values() for each in own))
        return self._equal[1]

    def _read(self, target: Target, report: Report) -> tuple[Reading, Extensions | None]:
        """Read a target, and let programs extend it; the reading then has the specs that they made, too."""
        reading = read(self.checkout, target, (), report)
        if not (self._app or reading.program.platform.extensions):
            return reading, None
        extended = self._extended(reading, report)
        if extended.made:
            reading = read(self.checkout, target, extended.made, report)
        return reading, extended

    def _extended(self, reading: Reading, report: Report) -> Extensions:
        """Let the app and the extensions extend the units of all specs, unless there is an error."""
        program = reading.program
        extended = self._app(program) if self._app else self._lowered(reading, report)
        if report.failed:
            return extended
        extended = extend(program, extended, self.checkout.repo.folder, AppChecks(reading.sources.prepared))
        report.add(*extended.diagnostics)
        return extended

    def _lowered(self, reading: Reading, report: Report) -> Extensions:
        """Return the units of all specs, rendered in the Node.js process of extensions unless there is an error."""
        units = lower(reading.program.specs, reading.program, reading.context, report)
        if not report.failed:
            self._composer.use_jsii()
            units = self._composer.render(units)
        return Extensions(tuple(units), reading.context)


def _definitions(outputs: Sequence[OutputFile], reading: Reading) -> Definitions:
    return spec_stage.definitions(outputs, reading.program.platform.kubernetes_version)


def _compiled(checkout: Checkout, reading: Reading, parts: Parts, report: Report) -> Compiled:
    return Compiled(
        texts(checkout, report),
        parts.outputs,
        objects=parts.objects,
        starts=parts.starts,
        program=reading.program,
        specs=tuple(each.id for each in reading.program.specs),
        count=SpecCount(len(reading.program.specs), len({each.document.file for each in reading.program.specs})),
        waiting={spec: each for spec, own in parts.lowered.items() for each in own if each.code == "SP810"},
        runs=parts.runs,
    )


def _check(parts: Parts, reading: Reading, gone: Mapping[ObjectId, Json], report: Report) -> None:
    """Add the diagnostics of all checks to `report`, unless an error stopped the compilation.

    `gone` are the committed objects that no spec compiles to any more.
    """
    if parts.complete:
        report.add(*parts.reused)
        stage.conclude(parts.checked, reading.program, gone, report)
