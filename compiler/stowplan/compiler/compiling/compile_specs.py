"""Compiling some of the specs without the others, perhaps in another process.

Unless they are asked for, objects do not leave the process: those of thousands of specs would fill the memory. What
leaves it are files, and what the checks across specs need to know.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from stowplan.compiler.checks import spec_stage
from stowplan.compiler.checks.per_spec.custom_resources import Definitions
from stowplan.compiler.checks.spec_stage import Checked
from stowplan.compiler.committed import compiler_mark, runs
from stowplan.compiler.committed.last_output import Committed
from stowplan.compiler.committed.objects import previous
from stowplan.compiler.committed.runs import Recompile
from stowplan.compiler.diagnostics.report import Diagnostic, Report
from stowplan.compiler.lowering import output_layout
from stowplan.compiler.lowering.composer_pool import ComposerPool
from stowplan.compiler.lowering.lower import lower
from stowplan.compiler.model import Output, Program, Spec
from stowplan.compiler.output.inventory import Inventory
from stowplan.compiler.output.render import Rendered, Renderings
from stowplan.library.dialects.shared.context import Context
from stowplan.library.manifest import Json, Unit
from stowplan.schema.diagnostics import Severity
from stowplan.schema.meta import ObjectId, SpecId

SIZE = 50
"""Specs that a process compiles at a time: their objects take little memory, and each process has something to do."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What is the same for all specs of a run.

    `committed` is what the last run wrote; without it nothing is rendered. `units` are those that extensions have
    seen; without them they are made here, and `composer` renders them. `keep_objects` asks for the outputs too.
    """

    program: Program
    context: Context
    definitions: Definitions
    keep_objects: bool
    committed: Committed | None = None
    recompile: Recompile = field(default_factory=Recompile)
    composer: ComposerPool | None = None
    units: Mapping[SpecId, Unit] | None = None


@dataclass(frozen=True, slots=True)
class Compilation:
    """What some specs, or the platform file, were compiled to. Where lowering found an error, `lowered` is all.

    `kept` says what is wrong with committed runs. `gone` are objects that the last run wrote of these specs and this
    one does not. A spec from the cache has no `outputs`, and nothing of it changed since the last run.
    """

    lowered: Mapping[SpecId, tuple[Diagnostic, ...]] = field(default_factory=dict)
    outputs: tuple[Output, ...] = ()
    files: tuple[Rendered, ...] = ()
    checked: tuple[Checked, ...] = ()
    kept: tuple[Diagnostic, ...] = ()
    starts: tuple[ObjectId, ...] = ()
    gone: Mapping[ObjectId, Json] = field(default_factory=dict)


def lowered(spec: Spec, setting: Setting) -> tuple[Unit, tuple[Diagnostic, ...]]:
    """The unit of a spec, and what lowering found; nothing more where extensions have seen the unit."""
    if setting.units is not None:
        return setting.units[spec.id], ()
    report = Report()
    (unit,) = lower([spec], setting.program, setting.context, report)
    return unit, tuple(report.diagnostics)


def compile_specs(specs: Sequence[Spec], setting: Setting) -> Compilation:
    """All that can be done for some specs alone."""
    said: dict[SpecId, tuple[Diagnostic, ...]] = {}
    units: list[Unit] = []
    for spec in specs:
        unit, said[spec.id] = lowered(spec, setting)
        units.append(unit)
    if any(each.severity is Severity.ERROR for found in said.values() for each in found):
        return Compilation(said)
    if setting.composer is not None and setting.units is None:
        units = setting.composer.render(units)
    outputs = output_layout.of_specs(units, specs, compiler_mark.marks(specs, setting.context))
    return replace(finish(outputs, setting, [spec.id for spec in specs]), lowered=said)


def warm_up(examples: Sequence[Spec], setting: Setting) -> None:
    """Have this process make what each one makes once, such as validators: those forked from it need not."""
    compile_specs(examples, replace(setting, composer=None))


def finish(outputs: Sequence[Output], setting: Setting, specs: Sequence[SpecId | None]) -> Compilation:
    """The outputs of `specs`, checked by themselves and rendered; None stands for the platform file."""
    platform, committed = setting.program.platform, setting.committed
    if committed is None:
        checked = spec_stage.check(outputs, platform, setting.definitions, {})
        return Compilation(outputs=tuple(outputs) if setting.keep_objects else (), checked=tuple(checked))
    own, renderings = Inventory(committed.entries(specs)), Renderings()
    kept = runs.keep(outputs, own, committed.tree, setting.recompile, renderings, base=committed.base)
    written = previous(kept.outputs, own, committed.tree, renderings)
    before = {**committed.strays, **written}
    meant = runs.without_recompiled(before, Inventory((*own.entries, *committed.gone)), setting.recompile)
    checked = spec_stage.check(kept.outputs, platform, setting.definitions, meant)
    present = {output.id for output in kept.outputs}
    files = [] if _wrong(checked) else renderings.all(kept.outputs, committed.tree)
    return Compilation(
        outputs=kept.outputs if setting.keep_objects else (),
        files=tuple(files),
        checked=tuple(checked),
        kept=kept.diagnostics,
        starts=runs.starts(kept.outputs, before),
        gone={known: body for known, body in meant.items() if known in written and known not in present},
    )


def _wrong(checked: Sequence[Checked]) -> bool:
    """Whether there are errors: some objects cannot be rendered, and nothing will be written."""
    return any(found.found.severity is Severity.ERROR for each in checked for found in each.findings)
