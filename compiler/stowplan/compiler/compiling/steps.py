"""What becomes of some specs of a program, without regard to the others; perhaps in another process.

They are compiled, perhaps in part replaced by the committed output (`keep`), checked and written as YAML. The results
hold files, and facts for the checks across specs. They hold objects only on request, because the objects of thousands
of specs would fill the memory.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from stowplan.compiler.checks import spec_stage
from stowplan.compiler.checks.per_spec.custom_resources import Definitions
from stowplan.compiler.checks.spec_stage import Checked
from stowplan.compiler.committed import compiler_mark
from stowplan.compiler.compiling.reading import Reading
from stowplan.compiler.diagnostics.report import Diagnostic, Report
from stowplan.compiler.lowering import output_layout
from stowplan.compiler.lowering.lower import lower
from stowplan.compiler.model import OutputFile, Spec
from stowplan.library.composition import tree
from stowplan.library.composition.tree import ChartSource
from stowplan.library.manifest import Json, Unit
from stowplan.schema.diagnostics import Severity
from stowplan.schema.meta import ObjectId, SpecId

if TYPE_CHECKING:
    from stowplan.compiler.committed.runs import Start
    from stowplan.compiler.output.render import Rendered

Said = Mapping[SpecId, tuple[Diagnostic, ...]]
"""Diagnostics by the spec that they are about."""


@dataclass(frozen=True, slots=True)
class Compilation:
    """Result of compiling some specs, or the platform file. After an error in lowering, only `lowered` is set.

    `lowered` has the diagnostics of lowering, and `reused` those about committed runs. `outputs` are the objects, on
    request only, and `files` is what is to be written, nothing for `validate`. `checked` has one entry for each spec,
    with the findings of its checks. `starts` are the Jobs that a sync would start. `gone` holds the bodies of committed
    objects that these specs no longer have.
    """

    lowered: Said = field(default_factory=dict)
    outputs: tuple[OutputFile, ...] = ()
    files: tuple["Rendered", ...] = ()
    checked: tuple[Checked, ...] = ()
    reused: tuple[Diagnostic, ...] = ()
    starts: tuple["Start", ...] = ()
    gone: Mapping[ObjectId, Json] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        """Whether lowering found an error."""
        return any(each.severity is Severity.ERROR for found in self.lowered.values() for each in found)


@dataclass(frozen=True, slots=True)
class Validation:
    """The steps of `validate`. `definitions` are the CRDs to check by. With `keep_objects`, results have `outputs`."""

    reading: Reading
    definitions: Definitions
    keep_objects: bool

    def of_specs(self, specs: Sequence[Spec]) -> Compilation:
        """Lower some specs and, unless that finds an error, take the steps of `of_outputs` for all of their outputs."""
        units, said = self.units(specs)
        lowered = Compilation(said)
        if lowered.failed:
            return lowered
        reading = self.reading
        marks = compiler_mark.marks(specs, reading.program, reading.context, argocd=not reading.target.name)
        made = self.of_outputs(output_layout.of_specs(self.rendered(units), specs, marks), [each.id for each in specs])
        return replace(made, lowered={spec: (*own, *made.lowered.get(spec, ())) for spec, own in said.items()})

    def of_outputs(self, outputs: Sequence[OutputFile], specs: Sequence[SpecId | None]) -> Compilation:  # noqa: ARG002
        """Take the steps after lowering for `outputs`, all those of `specs`; None stands for the platform file."""
        checked = spec_stage.check(outputs, self.reading.program.platform, self.definitions, {})
        return Compilation(outputs=tuple(outputs) if self.keep_objects else (), checked=tuple(checked))

    @property
    def alone(self) -> bool:
        """Whether this process has to do all the work."""
        return False

    def composed(self, charts: Sequence[ChartSource]) -> Sequence[ChartSource]:
        """Return charts that belong to no spec with what they give to their objects."""
        return list(map(tree.completed, charts))

    def rendered(self, units: Sequence[Unit]) -> Sequence[Unit]:
        """Return units of specs with what their charts give to objects."""
        return list(map(tree.rendered, units))

    def prepare(self) -> None:
        """Build what forked processes share, such as validators, before the fork: compile one spec of each kind."""
        examples = {spec.id.kind: spec for spec in self.reading.program.specs}
        Validation(self.reading, self.definitions, keep_objects=False).of_specs(list(examples.values()))

    def units(self, specs: Sequence[Spec]) -> tuple[list[Unit], Said]:
        """Lower specs; return their units in the same order, and their diagnostics, with an entry for each spec."""
        units: list[Unit] = []
        said: dict[SpecId, tuple[Diagnostic, ...]] = {}
        for spec in specs:
            report = Report()
            units += lower([spec], self.reading.program, self.reading.context, report)
            said[spec.id] = tuple(report.diagnostics)
        return units, said
