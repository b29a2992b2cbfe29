"""What a spec runs after: the field `runAfter`, or the annotation of kinds that do not have it."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, finding, nearest
from stowplan.schema.kinds.custom_resource import CustomResource
from stowplan.schema.kinds.kind import values
from stowplan.schema.kinds.native.run_after import RunAfter
from stowplan.schema.kinds.table import DATASET_KINDS, KINDS
from stowplan.schema.meta import AFTER_ANNOTATION, SpecId

ANNOTATION = CustomResource.AFTER
_FORM = re.compile(r"([A-Za-z]+)/([a-z0-9]([-a-z0-9.]*[a-z0-9])?)")


class Predecessor(NamedTuple):
    """A spec that must be done first, and the path at which it is named."""

    spec: SpecId
    at: FieldPath


def of_model(model: CustomResource, namespace: str) -> tuple[Predecessor, ...]:
    """Return what a spec in `namespace` names, in its field or its annotation; nothing for a dataset."""
    if model.AFTER == ANNOTATION:
        return of_annotation(model.metadata.annotations, namespace)
    given: list[RunAfter] = (vars(model)["spec"].run_after if model.AFTER else None) or []
    return tuple(
        Predecessor(SpecId(each.kind, namespace, each.name), (*model.AFTER, index, "name"))
        for index, each in enumerate(given)
    )


def of_document(document: Mapping[str, Any], model: type[CustomResource], namespace: str) -> Iterator[SpecId]:
    """Yield what a document of the kind `model` in `namespace` names; what has another form is left out."""
    for given, _ in values(document, *model.AFTER):
        if isinstance(given, str):
            yield from (each.spec for each in of_annotation({AFTER_ANNOTATION: given}, namespace))
        for each in given if isinstance(given, list) else ():
            if isinstance(each, dict) and each.get("kind") and each.get("name"):
                yield SpecId(str(each["kind"]), namespace, str(each["name"]))


def of_annotation(annotations: Mapping[str, str], namespace: str) -> tuple[Predecessor, ...]:
    """Return what the annotation names, if a spec in `namespace` has it; what is not understood is left out."""
    found = (_FORM.fullmatch(each) for each in _listed(annotations))
    pairs = [(each[1], each[2]) for each in found if each and each[1] in KINDS]
    return tuple(Predecessor(SpecId(kind, namespace, name), ANNOTATION) for kind, name in dict.fromkeys(pairs))


def specs(predecessors: tuple[Predecessor, ...]) -> tuple[SpecId, ...]:
    """Return the specs, sorted and each once."""
    return tuple(sorted({each.spec for each in predecessors}))


def annotation_findings(annotations: Mapping[str, str]) -> Iterator[Finding]:
    """Yield findings about an annotation that is not understood."""
    if AFTER_ANNOTATION not in annotations:
        return
    if not _listed(annotations):
        yield finding("SP755", ANNOTATION, "The annotation names nothing.", f"{_EXAMPLE}, or remove it.")
    for each in _listed(annotations):
        found = _FORM.fullmatch(each)
        if not found:
            yield finding("SP755", ANNOTATION, f"Found {each!a}; allowed is `Kind/name`.", f"{_EXAMPLE}.")
        elif found[1] not in KINDS:
            near = nearest(found[1], KINDS)
            hint = f'Did you mean "{near}"?' if near else f"Kinds are {', '.join(KINDS)}."
            yield finding("SP755", ANNOTATION, f"{found[1]} is no kind of a spec.", hint)


def no_annotation(annotations: Mapping[str, str]) -> Iterator[Finding]:
    """Yield a finding about the annotation at a spec that has the field."""
    if AFTER_ANNOTATION in annotations:
        message = "The annotation has no effect at this kind, which has a field for it."
        yield finding("SP755", ANNOTATION, message, "Write `runAfter` below `spec`.", anchor=Anchor.KEY)


def refused(kind: str, annotations: Mapping[str, str]) -> Iterator[Finding]:
    """Yield a finding about the annotation at a dataset, which cannot wait for other specs."""
    if AFTER_ANNOTATION in annotations and kind in DATASET_KINDS:
        message = f"The sync of a {kind} waits for no other spec."
        hint = "Remove the annotation. A task on the dataset, or a job that uses it, can wait."
        yield finding("SP755", ANNOTATION, message, hint, anchor=Anchor.KEY)


_EXAMPLE = "Write such as `SampleJob/clean, SampleSet/imagenet`"


def _listed(annotations: Mapping[str, str]) -> list[str]:
    return [each.strip() for each in annotations.get(AFTER_ANNOTATION, "").split(",") if each.strip()]
