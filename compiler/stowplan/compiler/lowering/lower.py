"""Lowering of the program to units: the manifests of each spec."""

from collections.abc import Iterable, Iterator

from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.model import Program, Spec
from stowplan.library.dialects.registry import DIALECTS
from stowplan.library.dialects.registry import lower as lower_spec
from stowplan.library.dialects.shared.context import Context
from stowplan.library.manifest import Unit
from stowplan.schema.diagnostics import Finding, did_you_mean, finding
from stowplan.schema.kinds.table import DATASET_KINDS


def context_of(program: Program, version: str) -> Context:
    """Return the context that dialects need. `version` is that of Stowplan, the default tag of agent images."""
    return Context(
        program.platform,
        version,
        {s.id: s.model for s in program.specs if s.id.kind in DATASET_KINDS},
        {(s.id.kind, s.id.namespace, s.id.name): s.document.file for s in program.specs},
        frozenset(refused for refused in program.refused if refused.kind in DATASET_KINDS),
        program.incomplete,
        {spec.id: spec.model for spec in program.specs},
    )


def lower(specs: Iterable[Spec], program: Program, context: Context, report: Report) -> list[Unit]:
    """Lower specs; return one unit for each, in their order. Findings go to `report`."""
    units = []
    for spec in specs:
        lowered, document = lower_spec(spec.model, context), spec.document
        # A field that the user wrote under a legacy name is not at its path, and SP212 reports it already.
        found = [x for x in lowered.findings if x.code != "SP407" or document.root.nearest(x.path)[1]]
        report.add_findings(document, [*found, *_missing_keys(spec, lowered.unit, program)])
        units.append(lowered.unit)
    return units


def _missing_keys(spec: Spec, unit: Unit, program: Program) -> Iterator[Finding]:
    """Yield SP304 for keys that a spec needs and a Secret of the repository lacks."""
    if not program.secret_keys:
        return
    for wanted in DIALECTS[spec.id.kind].secrets(spec.model, unit):
        own = wanted.reference
        keys = program.secret_keys.get((own.namespace, own.name))
        missing = sorted(set(own.keys) - keys) if keys is not None else []
        if missing and wanted.chosen:
            message = f'Secret {own.namespace}/{own.name} has no key "{missing[0]}".'
            yield finding("SP304", wanted.at, message, did_you_mean(missing[0], keys or ()))
        elif missing:
            message = f"Secret {own.namespace}/{own.name} lacks {', '.join(missing)}."
            yield finding("SP304", wanted.at, message, "Add the keys where the Secret is defined.")
