"""Compiling some of the specs without the others, perhaps in another process.

The result holds files and the facts for the checks across specs. It holds objects only on request, because the objects
of thousands of specs would fill the memory.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from stowplan.compiler.checks import spec_stage
from stowplan.compiler.checks.per_spec.custom_resources import Definitions
from stowplan.compiler.checks.spec_stage import Checked
from stowplan.compiler.committed import compiler_mark, retirement, runs
from stowplan.compiler.committed.last_output import Committed
from stowplan.compiler.committed.objects import previous
from stowplan.compiler.committed.runs import Recompile, Start
from stowplan.compiler.committed.started import Sorted, Started, sort
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
"""Number of specs that a process compiles at a time: few enough for little memory and an even share of the work."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Values that are the same for all specs of a program.

    `definitions` are the CRDs by which custom resources are checked. `committed` is the committed output; if it is
    None, no YAML is rendered. `units` are the units that extensions returned; if it is None, specs are lowered here and
    `composer` renders them. `started` are the runs that may start in an environment with `runs: manual`; None where all
    may. With `keep_objects`, the result also holds the outputs with their objects. `retired` are the specs whose run is
    over: its objects are left out. `of_target` is True for an environment or one of its clusters.
    """

    program: Program
    context: Context
    definitions: Definitions
    keep_objects: bool
    committed: Committed | None = None
    recompile: Recompile = field(default_factory=Recompile)
    composer: ComposerPool | None = None
    started: Started | None = None
    units: Mapping[SpecId, Unit] | None = None
    retired: frozenset[SpecId] = frozenset()
    of_target: bool = False


@dataclass(frozen=True, slots=True)
class Compilation:
    """Result of compiling some specs, or the platform file. After an error, only `lowered` is set.

    `lowered` has the diagnostics of lowering by spec, `reused` those about committed runs. `starts` are the
    Jobs that a sync would start. `gone` holds the bodies of committed objects that these specs no longer have.
    """

    lowered: Mapping[SpecId, tuple[Diagnostic, ...]] = field(default_factory=dict)
    outputs: tuple[Output, ...] = ()
    files: tuple[Rendered, ...] = ()
    checked: tuple[Checked, ...] = ()
    reused: tuple[Diagnostic, ...] = ()
    starts: tuple[Start, ...] = ()
    gone: Mapping[ObjectId, Json] = field(default_factory=dict)


def lowered(spec: Spec, setting: Setting) -> tuple[Unit, tuple[Diagnostic, ...]]:
    """Lower a spec; return its unit and the diagnostics. A unit that extensions returned comes without diagnostics."""
    if setting.units is not None:
        return setting.units[spec.id], ()
    report = Report()
    (unit,) = lower([spec], setting.program, setting.context, report)
    return unit, tuple(report.diagnostics)


def compile_specs(specs: Sequence[Spec], setting: Setting) -> Compilation:
    """Lower, render and check some specs, without regard to the other specs of the program."""
    said: dict[SpecId, tuple[Diagnostic, ...]] = {}
    units: list[Unit] = []
    for spec in specs:
        unit, said[spec.id] = lowered(spec, setting)
        units.append(unit)
    if any(each.severity is Severity.ERROR for found in said.values() for each in found):
        return Compilation(said)
    if setting.composer is not None and setting.units is None:
        units = setting.composer.render(units)
    other = setting.program.other_platform
    marks = compiler_mark.marks(specs, setting.context, other_platform=other, argocd=not setting.of_target)
    outputs = output_layout.of_specs(units, specs, marks)
    made = finish(outputs, setting, [spec.id for spec in specs])
    return replace(made, lowered={spec: (*found, *made.lowered.get(spec, ())) for spec, found in said.items()})


def warm_up(examples: Sequence[Spec], setting: Setting) -> None:
    """Build validators and the like in this process, so that the workers forked from it share them."""
    compile_specs(examples, replace(setting, composer=None))


def finish(outputs: Sequence[Output], setting: Setting, specs: Sequence[SpecId | None]) -> Compilation:
    """Reuse committed runs, check the outputs of `specs`, and render their YAML in memory.

    None among `specs` stands for the platform file. Without `setting.committed`, the outputs are only checked. The
    result has the infos about runs that wait to be started as `lowered`.
    """
    platform, committed = setting.program.platform, setting.committed
    if other := setting.program.other_platform:
        outputs = [replace(each, other_platform=other) for each in outputs]
    if committed is None:
        checked = spec_stage.check(outputs, platform, setting.definitions, {})
        return Compilation(outputs=tuple(outputs) if setting.keep_objects else (), checked=tuple(checked))
    own, renderings = Inventory(committed.entries(specs)), Renderings()
    wanted = retirement.without_runs(outputs, setting.retired) if setting.retired else outputs
    kept = Inventory(tuple(each for each in own.entries if each.spec not in setting.retired))
    chosen = Sorted(wanted)
    if setting.started:
        specs_of = {spec.id: spec for spec in setting.program.specs}
        chosen = sort(setting.started, wanted, specs_of, kept, committed, recompile=setting.recompile)
    reused = runs.reuse(
        chosen.outputs, kept, committed.tree, setting.recompile, renderings, base=committed.base, kept=chosen.kept
    )
    compared = committed.compared
    listed = compared.listed(specs)
    written = previous(reused.outputs, listed, compared.files, renderings)
    before = {**compared.strays, **written}
    meant = runs.without_recompiled(before, Inventory((*listed.entries, *compared.gone)), setting.recompile)
    checked = spec_stage.check(reused.outputs, platform, setting.definitions, meant)
    present = {output.id for output in reused.outputs}
    files = [] if _wrong(checked) else renderings.all(reused.outputs, committed.tree)
    return Compilation(
        lowered={
            spec: tuple(found[spec] for found in (chosen.waiting, chosen.incomplete) if spec in found)
            for spec in {**chosen.waiting, **chosen.incomplete}
        },
        outputs=reused.outputs if setting.keep_objects else (),
        files=tuple(files),
        checked=tuple(checked),
        reused=reused.diagnostics,
        starts=runs.starts(reused.outputs, before),
        gone={known: body for known, body in meant.items() if known in written and known not in present},
    )


def _wrong(checked: Sequence[Checked]) -> bool:
    """Whether the checks found an error. Then some objects may have no YAML, and nothing is written anyway."""
    return any(found.found.severity is Severity.ERROR for each in checked for found in each.findings)
