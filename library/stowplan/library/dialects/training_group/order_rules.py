"""Rules for a training job that runs after other specs."""

from collections.abc import Iterator

from stowplan.library.dialects.shared import run_order
from stowplan.library.dialects.training_group import waiting
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, finding
from stowplan.schema.kinds.custom_resource import CustomResource
from stowplan.schema.meta import AFTER_ANNOTATION
from stowplan.schema.platform.platform import Platform


def findings(model: CustomResource, platform: Platform) -> Iterator[Finding]:
    """Yield findings about `runAfter` of a job, or its annotation: its form, and who opens the job."""
    notes, annotated = model.metadata.annotations, model.AFTER == run_order.ANNOTATION
    yield from (run_order.annotation_findings if annotated else run_order.no_annotation)(notes)
    if AFTER_ANNOTATION in notes if annotated else run_order.of_model(model, ""):
        yield from _opened(model.AFTER, platform)


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
