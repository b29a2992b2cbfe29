"""The health scripts on objects as the server returns them, with a status that the agent's account applied.

For kinds without a reporting agent, an admin applies the status. The cases are those of the layout for Argo CD, so each
of its documents is also known to fit the CRD.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from stowplan.compiler.live.lua import assess
from stowplan.library.health import FOLDER
from tests.cluster import sync
from tests.cluster.accounts import accounts
from tests.cluster.client import ApiError, Client, Manifest, ref, wait_for
from tests.cluster.control_plane import Cluster
from tests.cluster.crds import CRDS
from tests.cluster.shared import load_one, parameters
from tests.repositories import compiled

NAMESPACE = "health"
SPECS = f"""\
kind: Platform
defaultNamespace: {NAMESPACE}
---
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleSet
metadata: {{name: imagenet}}
spec: {{partitions: 1, noSync: true, secretRef: {{name: volume}}}}
---
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleJob
metadata: {{name: imagenet}}
spec: {{type: rmr, sampleSetRef: {{name: imagenet}}, rmrOptions: {{paths: [old]}}}}
---
apiVersion: tensorstack.dev/v1beta1
kind: DataCube
metadata: {{name: llama}}
spec:
  source: {{type: s3, s3: {{anonymous: true}}, options: [{{name: s3-uri, value: s3://models/llama/}}]}}
  sink: {{type: pvc, pvc: {{name: models}}}}
"""
EARLIER = {
    "DataCube": {"source": {"type": "s3"}, "sink": {"type": "pvc"}},
    "DatasetTask": {"datasetRef": {"name": "imagenet"}, "sync": {}},
    "Training": {"framework": "torch", "image": "registry.example.com/ml/train:0"},
}
"""By kind, a spec of a generation before that of the case; of others, an empty one."""
OURS = {path.stem.partition("_")[0] for path in CRDS.values()}
"""API groups. The status of other kinds is their own controllers'."""
CASES = {
    f"{tests.parent.name}-{Path(case['inputPath']).stem}": (tests.parent, case)
    for tests in sorted(FOLDER.glob("*/*/health_test.yaml"))
    if tests.parents[1].name in OURS
    for case in load_one(tests)["tests"]
}


@pytest.fixture(scope="module")
def reporters(
    cluster: Cluster, served: dict[str, Manifest], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, tuple[Manifest, Client]]]:
    """By kind, the resource that an agent reports on, and a client with its token."""
    cluster.namespace(NAMESPACE)
    result = compiled(tmp_path_factory.mktemp("health"), {"specs.yaml": SPECS})
    assert result.errors == []
    manifests = sync.apply(cluster.admin, [output.manifest.body for output in result.outputs])
    agents = {
        account.target["kind"]: (account.target, cluster.client_for_service_account(account.namespace, account.name))
        for account in accounts(manifests).values()
    }
    yield agents
    for manifest in manifests:
        if manifest["kind"] != "CustomResourceDefinition":
            cluster.admin.delete(manifest)


@pytest.mark.parametrize("case", parameters(CASES, "health tests"))
def test_health_of_what_the_server_holds(
    cluster: Cluster,
    reporters: dict[str, tuple[Manifest, Client]],
    case: tuple[Path, Manifest],
) -> None:
    folder, expected = case
    document = load_one(folder / expected["inputPath"])
    own = ref(document["apiVersion"], document["kind"], document["metadata"]["name"], NAMESPACE)
    target, reporter = reporters.get(document["kind"], (own, cluster.admin))
    _make(cluster.admin, target, document)
    if status := document.get("status"):
        _report(reporter, {**target, "status": status})

    live = cluster.admin.get(target)
    assert live["metadata"]["generation"] == document["metadata"]["generation"]
    assert live.get("status") == document.get("status")
    assert assess((folder / "health.lua").read_text(encoding="utf-8"), live) == expected["healthStatus"]


def _make(client: Client, target: Manifest, document: Manifest) -> None:
    """The resource anew; each edit of its spec is another generation."""
    if client.find(target):
        client.delete(target)
    for _ in range(document["metadata"]["generation"] - 1):
        client.apply({**target, "spec": EARLIER.get(document["kind"], {})})
    client.apply({**target, "spec": document["spec"]})


def _report(agent: Client, document: Manifest) -> None:
    """As the agent, once the server's authorizer has seen its binding."""

    def applied() -> bool:
        try:
            agent.apply(document, manager="stowplan-cache-sum", subresource="status")
        except ApiError as error:
            if error.status == 403:
                return False
            raise
        return True

    wait_for(applied, what="the binding")
