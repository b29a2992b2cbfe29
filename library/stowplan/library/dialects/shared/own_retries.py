"""Specs whose Jobs try again by themselves, so that the annotation for restarts of training jobs means nothing."""

from collections.abc import Iterator

from stowplan.library.builders.job import BACKOFF_LIMIT
from stowplan.schema.diagnostics import Anchor, Finding, finding
from stowplan.schema.kinds.custom_resource import CustomResource
from stowplan.schema.meta import RESTARTS_ANNOTATION


def findings(model: CustomResource, field: str) -> Iterator[Finding]:
    """Yield a finding about the annotation `stowplan.dev/restarts` on anything but a training job.

    `field` is the path of the field with the number of retries, empty if there is none.
    """
    if not model.TRAINS and RESTARTS_ANNOTATION in model.metadata.annotations:
        path = ("metadata", "annotations", RESTARTS_ANNOTATION)
        message = f"The annotation has no effect on a {model.kind}: it is for training jobs."
        hint = f"Remove it: a failed attempt is tried again by itself, at most {BACKOFF_LIMIT} times."
        if field:
            hint = f"Remove it, and give the number of retries in `{field}`."
        yield finding("SP406", path, message, hint, anchor=Anchor.KEY)
