"""The documents by which health scripts are tested are such as a server holds: it takes their specs and statuses whole.

What the scripts say of them is in `tests/unit/library/health`.
"""

import itertools

import pytest

from stowplan.library.health import FOLDER
from tests.cluster.client import Manifest, ref
from tests.cluster.control_plane import Cluster
from tests.cluster.crds import CRDS
from tests.cluster.shared import load_one

OURS = {path.stem.partition("_")[0] for path in CRDS.values()}
"""API groups. The status of other kinds is their own controllers'."""
DOCUMENTS = [path for group in sorted(OURS) for path in sorted((FOLDER / group).glob("*/testdata/*.yaml"))]


@pytest.mark.usefixtures("served")
def test_the_server_holds_each_document(cluster: Cluster) -> None:
    admin, namespace, numbers = cluster.admin, cluster.namespace("health"), itertools.count()
    assert DOCUMENTS
    for path in DOCUMENTS:
        document = load_one(path)
        target = ref(document["apiVersion"], document["kind"], f"health-{next(numbers)}", namespace)
        live = admin.apply({**target, "spec": document["spec"]})
        if status := document.get("status"):
            live = admin.apply({**target, "status": status}, subresource="status")
        assert _told(live) == _told(document), path
    admin.delete(ref("v1", "Namespace", namespace))


def _told(document: Manifest) -> tuple[Manifest, Manifest | None]:
    return document["spec"], document.get("status")
