"""Init container that delays a training pod until its dataset is ready.

It reads only marker files in the volume, so it needs neither a token nor RBAC rights.
"""

import re
from collections.abc import Iterator, Sequence

from stowplan.library.builders.job import on_exit
from stowplan.library.builders.pods import agent_pod
from stowplan.library.ir.data import Site
from stowplan.library.manifest import Json
from stowplan.schema.agents.agent_config import DATA_DIRECTORY
from stowplan.schema.agents.exit_codes import PERMANENT, ExitCode
from stowplan.schema.agents.wait_config import RETRY, WaitConfig

CONTAINER = "wait-dataset"
_NAME = re.compile(rf"{CONTAINER}(-[1-9][0-9]*)?")
_COMMAND = ("python", "-m", "stowplan.agents.wait_dataset")


def path(dataset: str) -> str:
    """Return the path at which the init container mounts the dataset, `/mnt/<dataset>`."""
    return f"{DATA_DIRECTORY}/{dataset}"


def name(number: int) -> str:
    """Return the name of the init container that waits for dataset number `number` of the pod, counted from 0."""
    return f"{CONTAINER}-{number}" if number else CONTAINER


def container(volume: str, config: WaitConfig, site: Site, *, sub_path: str = "", number: int = 0) -> Json:
    """Return the init container, which ends once a dataset is ready.

    `volume` names the pod's volume with the dataset, `sub_path` the directory in it; an empty one means the root of the
    volume. `number` counts the datasets for which the pod waits, from 0.
    """
    # HostToContainer: the container sees a mount that the CSI driver recovers.
    mount = {"mountPath": config.path, "mountPropagation": "HostToContainer", "name": volume, "readOnly": True}
    return agent_pod.control(
        name(number),
        _COMMAND,
        site,
        args=config.arguments(),
        env=[*agent_pod.OF_RUN],
        volumeMounts=[{**mount, "subPath": sub_path} if sub_path else mount],
    )


def is_ours(container: Json) -> bool:
    """Return whether `container` is the init container that `container()` makes, not a user's of the same name."""
    return _NAME.fullmatch(str(container.get("name"))) is not None and container.get("command") == list(_COMMAND)


def rules(template: Json, codes: Sequence[ExitCode] = (*PERMANENT, ExitCode.SOFT_DEADLINE)) -> Iterator[Json]:
    """Yield the Job's rules for pods that wait for datasets; nothing if the pods of `template` do not wait.

    With these rules the Job fails at once if a wait fails for good, since a retry would fail too. `codes` are the exit
    codes that mean so, ascending. A pod that waits in a run that a gate has opened is replaced after its timeout, which
    is no failure of the job.
    """
    for each in filter(is_ours, template["spec"].get("initContainers") or ()):
        yield on_exit("FailJob", each["name"], codes)
        if RETRY in each["args"]:
            yield on_exit("Ignore", each["name"], [ExitCode.TRANSIENT])
