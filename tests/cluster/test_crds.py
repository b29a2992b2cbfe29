"""The CRDs are served unchanged, and accept the documents of the old systems' users."""

import re
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from tests.cluster.client import Manifest, ref
from tests.cluster.control_plane import Cluster
from tests.cluster.crds import CRDS, LEGACY_GROUP, establish_legacy, refusal
from tests.cluster.documents import documents
from tests.cluster.shared import corpus, load_one, parameters
from tests.tier import STEPS

LEGACY = ["batch.paddlepaddle.org_samplesets", "batch.paddlepaddle.org_samplejobs", "batch.paddlepaddle.org_paddlejobs"]


def test_crds_are_structural_and_their_names_are_free(served: dict[str, Manifest]) -> None:
    for crd in served.values():
        conditions = {condition["type"]: condition["status"] for condition in crd["status"]["conditions"]}
        assert conditions.get("NamesAccepted") == "True"
        assert conditions.get("NonStructuralSchema", "False") == "False"
        assert conditions.get("KubernetesAPIApprovalPolicyConformant", "True") == "True"


@pytest.mark.parametrize("path", parameters(corpus(), "../shared/corpus"))
def test_document_of_the_replaced_systems_is_accepted(
    cluster: Cluster, served: dict[str, Manifest], path: Path
) -> None:
    """Not strictly: the old server pruned unknown fields, and aliases are the compiler's to rename, versions too."""
    document = _without_placeholders(load_one(path))
    if document["kind"] not in served:
        pytest.skip(f"no CRD for {document['kind']} in schema/crds")
    (version,) = served[document["kind"]]["spec"]["versions"]
    document["apiVersion"] = f"{document['apiVersion'].partition('/')[0]}/{version['name']}"
    document["metadata"]["namespace"] = cluster.namespace("corpus")
    cluster.admin.create(document, dry_run=True, strict=False)


def _without_placeholders(value: Any) -> Any:
    """`<PVC_NAME>` becomes `pvc-name`: where users fill in names of their own."""
    if isinstance(value, dict):
        return {key: _without_placeholders(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_placeholders(item) for item in value]
    if isinstance(value, str):
        return re.sub(r"<(\w+)>", lambda found: found[1].lower().replace("_", "-"), value)
    return value


@pytest.mark.parametrize("name", parameters({name: name for name in LEGACY if name in CRDS}, "CRDs in schema/crds"))
def test_what_the_legacy_crd_accepts_is_accepted(cluster: Cluster, served: dict[str, Manifest], name: str) -> None:
    legacy = establish_legacy(cluster.admin, name)
    namespace = cluster.namespace("legacy")
    (version,) = legacy["spec"]["versions"]
    schema = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    kind = legacy["spec"]["names"]["kind"]
    group = served[kind]["spec"]["group"]
    tried: list[bool] = []

    @hypothesis.settings(max_examples=STEPS)
    @hypothesis.given(spec=documents(schema))
    def check(spec: Any) -> None:
        old = {**ref(f"{LEGACY_GROUP}/{version['name']}", kind, "generated", namespace), "spec": spec}
        tried.append(refusal(cluster.admin, cluster.admin.collection(old), old, strict=True) is None)
        hypothesis.assume(tried[-1])
        cluster.admin.create({**old, "apiVersion": f"{group}/{version['name']}"}, dry_run=True)

    check()
