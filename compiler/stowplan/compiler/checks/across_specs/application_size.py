"""Can the repo server of Argo CD read the folder of each Application?"""

from stowplan.compiler.checks.objects.finding import ObjectFinding, about
from stowplan.compiler.checks.objects.object_graph import ObjectGraph
from stowplan.compiler.checks.objects.summary import ObjectSummary
from stowplan.schema.wording import counted

_LARGE = 8_000_000
"""Bytes of JSON that an Application may have. Argo CD's limit of 10 MB is for YAML, which is larger."""


def check(graph: ObjectGraph) -> list[ObjectFinding]:
    """Return one finding for each folder that is too large, about the largest object of the folder."""
    sizes = [(members, sum(each.size for each in members)) for members in graph.applications.values()]
    return [_too_large(members, size) for members, size in sizes if size > _LARGE]


def _too_large(members: list[ObjectSummary], size: int) -> ObjectFinding:
    """Return the finding; `size` is in bytes.

    The repo server refuses folders above 10 MB (`reposerver.max.combined.directory.manifests.size`).
    """
    largest = min(members, key=lambda each: (-each.size, each.path))
    message = (
        f"The folder {largest.application}/ has about {size / 1e6:.0f} MB; Argo CD reads at most 10 MB for an"
        f" Application. This is the largest of its {counted(len(members), 'object')}."
    )
    hint = "Raise reposerver.max.combined.directory.manifests.size, or spread the specs over more namespaces."
    return about(largest, "SP532", (), message, hint)
