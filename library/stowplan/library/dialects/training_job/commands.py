"""The commands of a TrainingJob's roles: its entrypoints, or those of the image that the old operator came with.

The old launcher, `paddle_k8s` in that image, is in https://github.com/PaddlePaddle/PaddleCloud, `docker/paddle_k8s`.
"""

import shlex
from functools import lru_cache

from stowplan.library.dialects.training_job.etcd import ETCD_PORT, Endpoints, endpoints
from stowplan.library.values import image_reference
from stowplan.schema.kinds.training_job import ServerRole, TrainingJob

IMAGE = "paddlepaddle/paddlecloud-job"
MASTER_PORT = 8080

_MASTER_COMMAND = ["paddle_k8s", "start_master"]
_MASTER_PROGRAM = [
    "/usr/bin/master",
    f"-port={MASTER_PORT}",
    "-chunk-per-task=1",
    "-task-timeout-dur=16s",
]
"""The command that the launcher's `start_master` runs. It is used with a user's etcd: the launcher uses only localhost.
"""

_SERVER_COMMAND = ["paddle_k8s", "start_pserver"]
_SERVER_PROGRAM = ["/usr/bin/pserver", "-port=$(PADDLE_INIT_PORT)", "-num-pservers=$(PSERVERS)"]
"""The command that the launcher's `start_new_pserver` runs, for the servers of a fault-tolerant job.

The launcher itself asks the API server for the master's pod, which pods may not do.
"""


def command(model: TrainingJob, role: str) -> list[str] | None:
    """Return the command of a role's container; None if its image decides.

    Raises `ValueError` if a quote in the entrypoint is not closed.
    """
    if role == "master":
        return _master(model)
    words = entrypoint(getattr(model.spec, role))
    return words or (server_command(model) if role == "pserver" and is_old_image(model) else None)


def entrypoint(role: ServerRole | None) -> list[str]:
    """Return the entrypoint, split into words as by a shell; empty if the role has none.

    Raises `ValueError` if a quote is not closed.

    A backslash at the end of a line joins it with the next.
    """
    return list(_words(role.entrypoint)) if role and role.entrypoint else []


@lru_cache
def _words(text: str) -> tuple[str, ...]:
    """Split an entrypoint. Rules and pods split the same entrypoint, so the result is cached."""
    return tuple(shlex.split(text.replace("\\\n", " ")))


def server_command(model: TrainingJob) -> list[str]:
    """Return the command by which the old operator's image starts a parameter server of the job."""
    if not model.spec.fault_tolerant:
        return _SERVER_COMMAND
    own = own_etcd(model)
    return [*_SERVER_PROGRAM, f"-etcd-endpoint={own.text if own else f'http://$(ETCD_IP):{ETCD_PORT}'}"]


def is_old_image(model: TrainingJob) -> bool:
    """Return whether the job has the old operator's default image, perhaps from another registry.

    The command of that image is the launcher without arguments, which prints how it is used and ends with 0.
    """
    image = image_reference.parse(model.spec.image or IMAGE)
    return image is not None and f"/{image.name}".endswith(f"/{IMAGE}")


def own_etcd(model: TrainingJob) -> Endpoints | None:
    """Return the user's etcd; None if the spec names none."""
    given = model.spec.master.etcd_endpoint if model.spec.master else None
    return endpoints(given) if given else None


def _master(model: TrainingJob) -> list[str]:
    own = own_etcd(model)
    return [*_MASTER_PROGRAM, f"-endpoints={own.text}"] if own else _MASTER_COMMAND
