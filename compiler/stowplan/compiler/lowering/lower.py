"""Lowering of the program to units: the manifests of each spec."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.model import Program, Spec
from stowplan.library.dialects import awaited
from stowplan.library.dialects.data_cube import environment
from stowplan.library.dialects.registry import lower as lower_spec
from stowplan.library.dialects.shared.context import Context
from stowplan.library.manifest import ExternalReference, Unit
from stowplan.schema.diagnostics import FieldPath, Finding, did_you_mean, finding
from stowplan.schema.juicefs.options import VOLUME_SECRET_KEYS
from stowplan.schema.kinds.custom_resource import CustomResource
from stowplan.schema.kinds.data_cube import DataCube
from stowplan.schema.kinds.native.dataset import Dataset
from stowplan.schema.kinds.native.dataset_task import DatasetTask
from stowplan.schema.kinds.sample_set import SampleSet
from stowplan.schema.kinds.table import DATASET_KINDS


def context_of(program: Program, version: str) -> Context:
    """Return the context that dialects need. `version` is that of Stowplan, the default tag of agent images."""
    context = Context(
        program.platform,
        version,
        {s.id: s.model for s in program.specs if s.id.kind in DATASET_KINDS},
        {(s.id.kind, s.id.namespace, s.id.name): s.document.file for s in program.specs},
        frozenset(refused for refused in program.refused if refused.kind in DATASET_KINDS),
        program.incomplete,
    )
    named = {one for spec in program.specs for one in awaited.named(spec.model, context)}
    return replace(context, specs={spec.id: spec.model for spec in program.specs if spec.id in named})


def lower(specs: Iterable[Spec], program: Program, context: Context, report: Report) -> list[Unit]:
    """Lower specs; return one unit for each, in their order. Findings go to `report`."""
    return [_unit(spec, program, context, report) for spec in specs]


def _unit(spec: Spec, program: Program, context: Context, report: Report) -> Unit:
    lowered = lower_spec(spec.model, context)
    found = [each for each in lowered.findings if not _about_other_spelling(each, spec)]
    report.add_findings(spec.document, [*found, *_missing_keys(spec, lowered.unit, program)])
    return lowered.unit


def _about_other_spelling(found: Finding, spec: Spec) -> bool:
    """Whether a finding is SP407 at a field that the user wrote under a legacy name, which SP212 reports already."""
    return found.code == "SP407" and not spec.document.root.nearest(found.path)[1]


def _missing_keys(spec: Spec, unit: Unit, program: Program) -> list[Finding]:
    """Return SP304 for keys that a spec needs and a Secret of the repository lacks.

    Checked are the Secrets of datasets, of copies and of DataCubes. Other tasks use the Secrets of their dataset, so
    the finding is not repeated for them.
    """
    if not program.secret_keys:
        return []
    if isinstance(spec.model, DataCube):
        return list(_missing_options(spec.model, spec.id.namespace, program))
    copies = isinstance(spec.model, DatasetTask) and spec.model.spec.copy_ is not None
    if not copies and not isinstance(spec.model, Dataset | SampleSet):
        return []
    found = []
    for reference in unit.externals:
        keys = program.secret_keys.get((reference.namespace, reference.name))
        missing = sorted(set(reference.keys) - keys) if keys is not None else []
        if missing:
            message = f"Secret {reference.namespace}/{reference.name} lacks {', '.join(missing)}."
            hint = "Add the keys where the Secret is defined."
            found.append(finding("SP304", _secret_path(spec.model, reference), message, hint))
    return found


def _secret_path(model: CustomResource, reference: ExternalReference) -> FieldPath:
    """Return the path of the field that names the Secret of a dataset or a copy."""
    if isinstance(model, DatasetTask) and model.spec.copy_:
        (place,) = model.spec.copy_.to.model_dump(exclude_none=True)
        return ("spec", "copy", "to", place, "secretRef", "name")
    if not isinstance(model, Dataset):
        return ("spec", "secretRef", "name")
    if reference.keys == VOLUME_SECRET_KEYS:
        return ("spec", "volume", "juicefs", "secretRef", "name")
    (kind,) = model.spec.source.model_dump(exclude_none=True) if model.spec.source else ("",)
    return ("spec", "source", kind, "secretRef", "name")


def _missing_options(model: DataCube, namespace: str, program: Program) -> Iterator[Finding]:
    for path, name, key in environment.secret_keys(model):
        keys = program.secret_keys.get((namespace, name))
        if keys is not None and key not in keys:
            message = f'Secret {namespace}/{name} has no key "{key}".'
            yield finding("SP304", path, message, did_you_mean(key, keys))
