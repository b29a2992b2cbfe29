"""The quick start of the old operator's guide, through Git and Argo CD, on nodes that are real.

The specs are those of the guide and the example but for the bucket's address, the job's command, which reads the
samples and ends, and its image: a Python from Debian's packages. Redis and the S3 server run beside the nodes.
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from tests.agents.cache import redis_server
from tests.agents.cache.redis_server import PASSWORD
from tests.agents.cache.volume import NAME
from tests.agents.transfer import server
from tests.agents.transfer.server import ACCESS_KEY, SECRET_KEY, new_bucket
from tests.cluster.binaries import Missing, obtain
from tests.cluster.markdown import Markdown
from tests.cluster.quick_start import DATASET, DEMO, NAMESPACE, SOURCE_SECRET, WHOLE, example_specs, reading, samples
from tests.cluster.tools import VERSITYGW
from tests.node import images, network
from tests.node.delivery import Delivery, delivering, needed, secret
from tests.node.place import Place
from tests.repositories import EXAMPLES

DRIVER = "csi.juicefs.com"


@pytest.fixture(scope="module")
def source(with_argocd: None, place: Place, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The bucket with the samples; Secrets for it and for the volume are in the cluster."""
    found, redis = obtain(VERSITYGW), redis_server.program()
    if isinstance(found, Missing):
        pytest.skip(str(found))
    if redis is None:
        pytest.skip("no redis-server on this machine")
    folder = tmp_path_factory.mktemp("stores")
    (folder / "s3").mkdir()
    with ExitStack() as stack:
        metadata = stack.enter_context(redis_server.running(folder / "redis", redis, network.HOST))
        url = stack.enter_context(server.serving(found.paths["versitygw"], folder / "s3", address=network.HOST))
        bucket, blocks = new_bucket(url), new_bucket(url)
        bucket.put(samples(DEMO, "imagenet/demo/") | samples(WHOLE, "imagenet/"))
        keys = {"access-key": ACCESS_KEY, "secret-key": SECRET_KEY}
        volume = {
            "name": NAME,
            "metaurl": metadata.url(1).replace("redis://", f"redis://:{PASSWORD}@"),
            "storage": "minio",
            "bucket": f"{url}/{blocks.bucket}",
        }
        place.cluster.namespace(NAMESPACE, "baseline")
        for each in (secret(NAMESPACE, DATASET, volume | keys), secret(NAMESPACE, SOURCE_SECRET, keys)):
            place.cluster.admin.apply(each)
        yield f"minio://{url.removeprefix('http://')}/{bucket.bucket}/"


@pytest.fixture(scope="module")
def delivery(
    with_argocd: None, place: Place, source: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Delivery]:
    """The platform of the example; its agents' images are on the nodes."""
    programs = needed()
    folder = tmp_path_factory.mktemp("delivery")
    platform = yaml.safe_load((EXAMPLES[DATASET] / "stowplan.yaml").read_text(encoding="utf-8"))
    images.load(place, images.names(platform), folder / "images")
    place.start_csi(DRIVER)
    with delivering(place, programs, platform, folder / "argocd") as made:
        yield made


def test_quick_start(delivery: Delivery, source: str, snapshot: SnapshotAssertion) -> None:
    specs = example_specs(source)
    dataset, sync, warmup = specs[DATASET], specs["imagenet-sync"], specs["imagenet-warmup"]
    dataset["spec"]["source"]["secretRef"] = sync["spec"]["secretRef"] = {"name": SOURCE_SECRET}

    delivery.commit(dataset)
    delivery.reaches(dataset, phase="Ready", Warmed="Succeeded")
    delivery.tell("The dataset is ready")

    delivery.commit(sync, warmup)
    delivery.reaches(warmup, phase="Succeeded")
    delivery.tell("More was copied, and is in the cache")

    job = reading()
    helper = job["spec"]["ps"]["template"]["spec"]["containers"][0]
    helper |= {"image": images.PYTHON, "command": ["python3", "-m", "http.server", "36000"]}
    delivery.commit(job)
    delivery.reaches(job, phase="Completed")
    delivery.tell("The training has read all samples")
    (worker,) = delivery.pods("stowplan.dev/name=ps-demo,stowplan.dev/role=worker")
    log = delivery.place.kubectl("logs", f"--namespace={NAMESPACE}", worker["metadata"]["name"], "--container=sample")
    assert json.loads(log) == {name: hashlib.sha256(data).hexdigest() for name, data in samples(WHOLE).items()}

    dataset["spec"]["partitions"] = 2
    delivery.commit(dataset)
    scaled = {"readyReplicas": 2, "runtimeReady": "2/2", "specReplicas": 2}
    delivery.reaches(dataset, phase="Ready", runtimeStatus=scaled)
    delivery.tell("The dataset is cached on both nodes")
    caches = delivery.pods("stowplan.dev/name=imagenet,app.kubernetes.io/component=runtime")
    assert {each["spec"]["nodeName"] for each in caches} == {each.name for each in delivery.place.nodes}
    assert "\n".join(delivery.steps) == snapshot(extension_class=Markdown)
