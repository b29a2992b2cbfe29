"""What is done with some of the specs, without the others, and perhaps in another process.

Unless they are asked for, objects do not leave a batch: those of thousands of specs would fill the memory. What leaves
it are files, and what the checks across specs need to know.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from stowplan.compiler.checks import spec_stage
from stowplan.compiler.checks.per_spec.custom_resources import Definitions
from stowplan.compiler.checks.spec_stage import Checked
from stowplan.compiler.committed import compiler_mark, runs
from stowplan.compiler.committed.last_output import Committed
from stowplan.compiler.committed.objects import previous
from stowplan.compiler.committed.runs import Recompile
from stowplan.compiler.diagnostics.report import Diagnostic, Report
from stowplan.compiler.incremental.pickled_specs import Packed
from stowplan.compiler.lowering import output_layout
from stowplan.compiler.lowering.composer_pool import ComposerPool
from stowplan.compiler.lowering.lower import lower
from stowplan.compiler.model import Output, Program, Spec
from stowplan.compiler.output.content_spool import Spool
from stowplan.compiler.output.inventory import Inventory
from stowplan.compiler.output.render import Rendered, Renderings, spooled
from stowplan.library.dialects.shared.context import Context
from stowplan.library.manifest import Json, Unit
from stowplan.schema.diagnostics import Severity
from stowplan.schema.frozen import dataclass
from stowplan.schema.meta import ObjectId, SpecId

SIZE = 50
"""Specs in a batch: few enough that their objects take little memory, enough that a process has something to do."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What is the same for all batches of a run.

    `committed` is what the last run wrote; without it nothing is rendered. `units` are those that extensions have
    seen; without them a batch makes its own, and has `memory` render them. `keep_objects` asks for the outputs too.
    Contents of files go to `spool` where there is one.
    """

    program: Program
    context: Context
    definitions: Definitions
    keep_objects: bool
    committed: Committed | None = None
    recompile: Recompile = Recompile()
    memory: ComposerPool | None = None
    units: Mapping[SpecId, Unit] | None = None
    spool: Spool | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """What became of some specs, or of what no spec makes. Where lowering found an error, that is all there is.

    `kept` says what is wrong with committed runs. `gone` are objects that the last run wrote of these specs and this
    one does not.
    """

    lowered: tuple[Diagnostic, ...] = ()
    outputs: tuple[Output, ...] = ()
    files: tuple[Rendered, ...] = ()
    checked: tuple[Checked, ...] = ()
    kept: tuple[Diagnostic, ...] = ()
    starts: tuple[ObjectId, ...] = ()
    gone: Mapping[ObjectId, Json] = field(default_factory=dict)


def compile_specs(part: Packed | Sequence[Spec], setting: Setting) -> Batch:
    """All that can be done for some specs alone."""
    report = Report()
    specs = part.specs() if isinstance(part, Packed) else part
    if setting.units is None:
        units = lower(specs, setting.program, setting.context, report)
    else:
        units = [setting.units[spec.id] for spec in specs]
    lowered = tuple(report.diagnostics)
    if report.failed:
        return Batch(lowered)
    if setting.memory is not None and setting.units is None:
        units = setting.memory.render(units)
    outputs = output_layout.of_specs(units, specs, compiler_mark.marks(specs, setting.context))
    return finish(outputs, setting, [spec.id for spec in specs], lowered)


def warm_up(examples: Sequence[Spec], setting: Setting) -> None:
    """Have this process make what each one makes once, such as validators: those forked from it need not."""
    compile_specs(examples, replace(setting, memory=None))


def finish(
    outputs: Sequence[Output],
    setting: Setting,
    specs: Sequence[SpecId | None],
    lowered: tuple[Diagnostic, ...] = (),
) -> Batch:
    """The outputs of `specs`, checked by themselves and rendered; None stands for what no spec makes."""
    platform, committed = setting.program.platform, setting.committed
    if committed is None:
        checked = spec_stage.check(outputs, platform, setting.definitions, {})
        return Batch(lowered, tuple(outputs) if setting.keep_objects else (), checked=tuple(checked))
    own, renderings = Inventory(committed.entries(specs)), Renderings()
    kept = runs.keep(outputs, own, committed.tree, setting.recompile, renderings, base=committed.base)
    written = previous(kept.outputs, own, committed.tree, renderings)
    before = {**committed.strays, **written}
    meant = runs.without_recompiled(before, Inventory((*own.entries, *committed.gone)), setting.recompile)
    checked = spec_stage.check(kept.outputs, platform, setting.definitions, meant)
    present = {output.id for output in kept.outputs}
    files = [] if _wrong(checked) else renderings.all(kept.outputs, committed.tree)
    return Batch(
        lowered,
        kept.outputs if setting.keep_objects else (),
        tuple(spooled(files, setting.spool) if setting.spool else files),
        tuple(checked),
        kept.diagnostics,
        runs.starts(kept.outputs, before),
        {known: body for known, body in meant.items() if known in written and known not in present},
    )


def _wrong(checked: Sequence[Checked]) -> bool:
    """Whether there are errors: some objects cannot be rendered, and nothing will be written."""
    return any(found.found.severity is Severity.ERROR for each in checked for found in each.findings)
