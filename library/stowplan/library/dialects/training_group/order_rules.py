"""Rules for a training job that runs after other specs."""

from collections.abc import Iterator

from stowplan.library.dialects.shared import run_order
from stowplan.library.dialects.training_group import waiting
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, finding
from stowplan.schema.kinds.custom_resource import CustomResource
from stowplan.schema.kinds.native.training import Training
from stowplan.schema.meta import AFTER_ANNOTATION
from stowplan.schema.platform.platform import Platform


def findings(model: CustomResource, platform: Platform) -> Iterator[Finding]:
    """Yield findings about `runAfter` of a Training, or the annotation of another job: its form, and who opens it."""
    notes = model.metadata.annotations
    path: FieldPath = run_order.ANNOTATION
    if isinstance(model, Training):
        yield from run_order.no_annotation(notes)
        path, given = ("spec", "runAfter"), bool(model.spec.run_after)
    else:
        yield from run_order.annotation_findings(notes)
        given = AFTER_ANNOTATION in notes
    if given:
        yield from _opened(path, platform)


def _opened(path: FieldPath, platform: Platform) -> Iterator[Finding]:
    """Yield a finding if the job cannot be closed, or nothing could open it."""
    if not waiting.kueue_gates(platform):
        message = "Kueue has no admission gates here, so it would start the job at once."
        hint = (
            "With Kueue 0.19 or later set `engines.kueueVersion` and `engines.kueueAdmissionGates: true`; else add the"
            " job once the others are done."
        )
        yield finding("SP759", path, message, hint, anchor=Anchor.KEY)
    elif not platform.reporter:
        message = "The platform has no reporter, by whose reports a gate would know that the others are done."
        hint = "Remove `reporter: false` from the platform file, or add the job once the others are done."
        yield finding("SP702", path, message, hint, anchor=Anchor.KEY)
