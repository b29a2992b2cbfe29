"""What the tests of faults share: a small platform, small specs, and the limit for what is told of them.

The nodes, their kubelets and containers, Argo CD, the agents and their images are real, and so are the faults. Not real
are the training, which is a few lines of Python, the CSI driver (see `tests/tools/csi`), and a cloud: nobody replaces a
node that is lost.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.cluster.client import Manifest, ref
from tests.nightly.node import delivery, images
from tests.nightly.node.delivery import Delivery, needed
from tests.nightly.node.machine import Machine
from tests.nightly.node.place import Place

NAMESPACE = "faults"
SECONDS = 60
"""In which both the status and Argo CD's health tell the truth, once the API shows the fault."""
AGENTS = ("cache", "control", "git", "transfer")
PLATFORM = images.platform(NAMESPACE)


@contextmanager
def delivering(place: Place, folder: Path) -> Iterator[Delivery]:
    """Argo CD, and a repository with one job; the images of all agents are on the nodes."""
    programs = needed()
    images.load(place, images.names(PLATFORM, AGENTS), folder / "images")
    place.start_csi("csi.juicefs.com")
    place.cluster.namespace(NAMESPACE, "baseline")
    with delivery.delivering(place, programs, PLATFORM, folder / "argocd") as made:
        made.commit(job("first", "pass"))
        yield made


def job(name: str, script: str, pod: Manifest | None = None, **container: Any) -> Manifest:
    """A PaddleJob with one worker, which runs Python."""
    main = {"name": "main", "image": images.PYTHON, "command": ["python3", "-c", script], **container}
    worker = {"replicas": 1, "template": {"spec": {"containers": [main], **(pod or {})}}}
    return {**ref("batch.paddlepaddle.org/v1", "PaddleJob", name, NAMESPACE), "spec": {"worker": worker}}


def tells(delivery: Delivery, spec: Manifest, health: str, **fields: Any) -> None:
    """Within a minute the status has these fields, and Argo CD this health."""
    delivery.tells(spec, health, SECONDS, **fields)


def node(delivery: Delivery, pod: Manifest) -> Machine:
    """Where a pod is."""
    return next(each for each in delivery.place.nodes if each.name == pod["spec"]["nodeName"])
