"""Specs whose Jobs try again by themselves, so that the annotation for restarts of training jobs means nothing."""

from collections.abc import Iterator

from stowplan.library.builders.job import BACKOFF_LIMIT
from stowplan.schema.diagnostics import Anchor, Finding, finding
from stowplan.schema.kinds.custom_resource import CustomResource
from stowplan.schema.meta import RESTARTS_ANNOTATION

_ALWAYS = f"Remove it: a failed attempt is tried again by itself, at most {BACKOFF_LIMIT} times."
_HINTS = {
    "DataCube": "Remove it, and give the number of retries in `spec.executor.options.backoffLimit`.",
    "Dataset": _ALWAYS,
    "DatasetTask": _ALWAYS,
    "SampleJob": _ALWAYS,
    "SampleSet": _ALWAYS,
}
"""What to do, by kind."""


def findings(model: CustomResource) -> Iterator[Finding]:
    """Yield a finding about the annotation `stowplan.dev/restarts` on anything but a training job."""
    if model.kind in _HINTS and RESTARTS_ANNOTATION in model.metadata.annotations:
        path = ("metadata", "annotations", RESTARTS_ANNOTATION)
        message = f"The annotation has no effect on a {model.kind}: it is for training jobs."
        yield finding("SP406", path, message, _HINTS[model.kind], anchor=Anchor.KEY)
