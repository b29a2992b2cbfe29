"""Whether pods of a training job should or must run on the nodes that cache its datasets."""

from stowplan.library.dialects.shared.context import Context
from stowplan.schema.diagnostics import Finding, did_you_mean, finding
from stowplan.schema.meta import PLACEMENT_ANNOTATION, ObjectMeta

_PLACEMENTS = ("preferred", "required")


def is_required(metadata: ObjectMeta, context: Context) -> bool:
    """Return whether a job's pods must, not only should, run on nodes that cache its datasets.

    The annotation in `metadata` decides, or else the platform file.
    """
    given = metadata.annotations.get(PLACEMENT_ANNOTATION)
    return (given if given in _PLACEMENTS else context.platform.juicefs.placement) == "required"


def findings(metadata: ObjectMeta) -> list[Finding]:
    """Return a finding about an annotation with an unknown value, else an empty list."""
    given = metadata.annotations.get(PLACEMENT_ANNOTATION)
    if given is None or given in _PLACEMENTS:
        return []
    path = ("metadata", "annotations", PLACEMENT_ANNOTATION)
    message = f'Found "{given}"; allowed are {" and ".join(_PLACEMENTS)}.'
    return [finding("SP204", path, message, did_you_mean(given, _PLACEMENTS))]
