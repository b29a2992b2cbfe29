"""Stowplan's CRDs refuse every invalid case that the old operator's CRDs refuse.

Cases that only the compiler refuses are listed.
"""

import json
from pathlib import Path

import pytest
import yaml

from tests.cluster.client import ApiError, Client, Manifest, ref
from tests.cluster.control_plane import Cluster
from tests.cluster.crds import LEGACY_GROUP, establish_legacy, refusal
from tests.cluster.shared import parameters
from tests.repositories import INVALID_CASES

GROUP = "batch.paddlepaddle.org"
NAMESPACE = "invalid-cases"
VERSIONS = {"PaddleJob": "v1", "SampleJob": "v1alpha1", "SampleSet": "v1alpha1"}
"""Of the kinds that the old operator served."""
LEGACY = {kind: f"{GROUP}_{kind.lower()}s" for kind in VERSIONS}
"""Its CRDs."""
ALIASES = "SP107"
"""Cases whose aliases no client expands; what they would become does not fit into memory."""
BROKEN_TEMPLATES = {
    "SP213-beside-rules",
    "SP213-mapping-for-string",
    "SP213-refused-pods",
    "SP213-template",
    "SP436-twice",
}
"""Cases with a mistake in a pod template that the legacy CRD refuses and ours accepts. Our CRDs have no schema for
templates, since it would make them too large. The compiler checks templates against the platform's Kubernetes
version."""


class _Loader(yaml.CSafeLoader):
    """YAML as clients of Kubernetes make JSON of it: a date is text. A key's second value wins."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def _cases() -> dict[str, list[Manifest]]:
    """By the name of the case, the documents of the old kinds that a client could send."""
    found = {
        name: [document for path in _specs(case) for document in _documents(path)]
        for name, case in sorted(INVALID_CASES.items())
        if not name.startswith(ALIASES)
    }
    return {name: documents for name, documents in found.items() if documents}


def _specs(case: Path) -> list[Path]:
    return [case] if case.is_file() else sorted(case.glob("specs/**/*.yaml"))


def _documents(path: Path) -> list[Manifest]:
    try:
        documents = list(yaml.load_all(path.read_bytes(), Loader=_Loader))
        json.dumps(documents, allow_nan=False)
    except (yaml.YAMLError, TypeError, ValueError):
        return []
    kinds = [document for document in documents if isinstance(document, dict) and document.get("kind") in LEGACY]
    return [document for document in kinds if not _is_in_a_claim(document)]


def _is_in_a_claim(document: Manifest) -> bool:
    """Whether the driver is one that the old operator did not have, so that its CRD refuses the word itself."""
    spec = document.get("spec")
    csi = spec.get("csi") if isinstance(spec, dict) else None
    return isinstance(csi, dict) and csi.get("driver") == "pvc"


DOCUMENTS = _cases()


@pytest.fixture(scope="module")
def server(cluster: Cluster, served: dict[str, Manifest]) -> Client:
    """Serves both CRDs of each kind, ours by the fixture `served`, and has a namespace for the cases."""
    for name in LEGACY.values():
        establish_legacy(cluster.admin, name)
    cluster.namespace(NAMESPACE)
    return cluster.admin


@pytest.mark.parametrize("case", parameters({name: name for name in DOCUMENTS}, "cases in tests/cases_invalid"))
def test_what_the_legacy_crd_refuses_is_refused(server: Client, case: str) -> None:
    """By its schema, that is: unknown fields were pruned, and some of them our CRD knows."""
    refused = _refused(server, LEGACY_GROUP, DOCUMENTS[case])
    assert (_refused(server, GROUP, refused) == refused) != (case in BROKEN_TEMPLATES)


def _refused(server: Client, group: str, documents: list[Manifest]) -> list[Manifest]:
    return [document for document in documents if _refusal(server, group, document)]


def _refusal(server: Client, group: str, document: Manifest) -> ApiError | None:
    """As a client asks that was told to use the tests' namespace, whatever the document says."""
    version = VERSIONS[document["kind"]]
    path = server.collection(ref(f"{group}/{version}", document["kind"], "", NAMESPACE))
    moved = dict(document)
    if moved.get("apiVersion") == f"{GROUP}/{version}":
        moved["apiVersion"] = f"{group}/{version}"
    if isinstance(moved.get("metadata"), dict):
        moved["metadata"] = {**moved["metadata"], "namespace": NAMESPACE}
    return refusal(server, path, moved, strict=False)
