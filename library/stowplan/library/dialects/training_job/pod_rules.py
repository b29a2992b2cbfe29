"""Rules for the pods of a TrainingJob."""

from collections.abc import Iterator
from dataclasses import replace

from stowplan.library.builders.pods import await_pod
from stowplan.library.dialects.training_group import pod_template
from stowplan.library.dialects.training_job.fields import written
from stowplan.library.dialects.training_job.pods import outline
from stowplan.library.dialects.training_job.topology import shape
from stowplan.schema.diagnostics import Finding
from stowplan.schema.kinds.training_job import TrainingJob
from stowplan.schema.platform.platform import Platform


def findings(model: TrainingJob, platform: Platform) -> Iterator[Finding]:
    """Yield all findings about the pod templates of the roles with pods, without duplicates.

    Each is at the field of the document that gives the wrong value. Other fields may have errors.
    """
    layout = shape(model, platform)
    present = {"master": layout.master, "pserver": layout.servers, "trainer": True}
    seen = set()
    for role in (role for role, pods in present.items() if pods):
        template = outline(model, role, layout, platform)
        found = pod_template.findings(template, ())
        if role != "trainer":
            found += pod_template.taken(template, await_pod.CONTAINER, await_pod.VOLUMES, ())
        for each in found:
            placed = replace(each, path=written(each.path, role))
            if placed not in seen:
                seen.add(placed)
                yield placed
