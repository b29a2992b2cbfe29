"""Our strategic merge of pod templates against that of a real API server.

The objects are of kind PodTemplate: its template has the type of a Job's, and may be changed.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from stowplan.library.values.strategic_merge import PatchError, merge
from tests.cluster.client import ApiError, Manifest, ref
from tests.cluster.control_plane import Cluster
from tests.unit.library.values.test_strategic_merge import BASE, PATCHES, REFUSED, TEMPLATE

NAME = ref("v1", "PodTemplate", "strategic-merge", "default")


@pytest.fixture(scope="module")
def base(cluster: Cluster) -> Iterator[Manifest]:
    """The template to patch, stored."""
    yield cluster.admin.create({**NAME, "template": BASE})
    cluster.admin.delete(NAME)


def patched_by_the_server(cluster: Cluster, patch: dict[str, Any]) -> Any:
    """The template that the server makes of `BASE` and `patch`, with its defaults."""
    content_type, parameters = "application/strategic-merge-patch+json", {"dryRun": "All", "fieldValidation": "Strict"}
    path = cluster.admin.path(NAME)
    return cluster.admin.request("PATCH", path, {"template": patch}, content_type, parameters)["template"]


def stored(cluster: Cluster, template: dict[str, Any]) -> Any:
    """A template as the server stores it, with its defaults."""
    named = ref("v1", "PodTemplate", "strategic-merge-ours", "default")
    return cluster.admin.create({**named, "template": template}, dry_run=True)["template"]


@pytest.mark.parametrize("patch", PATCHES.values(), ids=PATCHES)
@pytest.mark.usefixtures("base")
def test_ours_is_the_servers(cluster: Cluster, patch: dict[str, Any]) -> None:
    assert stored(cluster, merge(BASE, patch, TEMPLATE)) == patched_by_the_server(cluster, patch)


@pytest.mark.parametrize("patch", [patch for patch, _, _ in REFUSED])
@pytest.mark.usefixtures("base")
def test_what_we_refuse_the_server_refuses(cluster: Cluster, patch: dict[str, Any]) -> None:
    with pytest.raises(PatchError):
        merge(BASE, patch, TEMPLATE)
    with pytest.raises(ApiError):
        patched_by_the_server(cluster, patch)
