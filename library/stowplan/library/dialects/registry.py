"""The dialects, by kind."""

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from typing import Any

from stowplan.library.builders.job import BACKOFF_LIMIT
from stowplan.library.dialects import awaited
from stowplan.library.dialects.reading.api import NOTHING, Reading
from stowplan.library.dialects.shared.context import Context, Lowered
from stowplan.library.dialects.shared.dialect import USUAL, Dialect, Pods
from stowplan.library.dialects.training_group import waiting
from stowplan.library.values.by_name import ByName
from stowplan.schema.diagnostics import Finding, without_effect
from stowplan.schema.kinds.custom_resource import CustomResource
from stowplan.schema.kinds.table import DATASET_KINDS, KINDS, TRAINING_KINDS
from stowplan.schema.meta import RESTARTS_ANNOTATION, SpecId


def _dialect(kind: str) -> Dialect[Any]:
    found: Dialect[Any] = import_module(f"stowplan.library.dialects.{KINDS[kind].module}.dialect").DIALECT
    return found


DIALECTS = ByName(_dialect)
"""The dialect of each kind by its name, which its module `dialect` has as `DIALECT`."""


def reading(kind: object) -> Reading:
    """Return what others read in documents with this `kind`, any value; `NOTHING` if it names no kind of a spec."""
    return DIALECTS[str(kind)].reading if kind in KINDS else NOTHING


def pods(spec: SpecId | None) -> Pods:
    """Return what others ask about the pods of a spec; None stands for objects that belong to no spec."""
    return DIALECTS[spec.kind].pods if spec else USUAL


def lower(model: CustomResource, context: Context) -> Lowered:
    """Return the manifests and the findings of one spec. A user's mistake becomes a finding and never raises."""
    if model.kind in DATASET_KINDS:
        made = waiting.own(model, _lower, context)
    else:
        waits = awaited.of(model, context, _lower)
        made = _lower(model, replace(context, awaited=waits) if waits else context)
    found = tuple(_own_retries(model))
    return replace(made, findings=(*made.findings, *found)) if found else made


def _lower(model: CustomResource, context: Context) -> Lowered:
    return DIALECTS[model.kind].lower(model, context)


def _own_retries(model: CustomResource) -> Iterator[Finding]:
    """Yield a finding about the annotation for restarts of training jobs at a spec whose Jobs retry by themselves."""
    if model.kind not in TRAINING_KINDS and RESTARTS_ANNOTATION in model.metadata.annotations:
        path, field = ("metadata", "annotations", RESTARTS_ANNOTATION), DIALECTS[model.kind].retries
        message = f"The annotation has no effect on a {model.kind}: it is for training jobs."
        hint = f"Remove it: a failed attempt is tried again by itself, at most {BACKOFF_LIMIT} times."
        if field:
            hint = f"Remove it, and give the number of retries in `{field}`."
        yield without_effect(path, message, hint)
