"""Init container that delays a training pod until its dataset is ready.

It reads only marker files in the volume, so it needs neither a token nor RBAC rights.
"""

from collections.abc import Iterator

from stowplan.library.builders.pods import agent_pod
from stowplan.library.ir.data import Site
from stowplan.library.manifest import Json
from stowplan.library.values import labels
from stowplan.schema.agents.cache_config import DATA_DIRECTORY, POD_ENV, RUN_ENV
from stowplan.schema.agents.exit_codes import PERMANENT, ExitCode
from stowplan.schema.agents.wait_config import WaitConfig

CONTAINER = "wait-dataset"
_COMMAND = ("python", "-m", "stowplan.agents.wait_dataset")


def path(dataset: str) -> str:
    """Return the path at which the init container mounts the dataset, `/mnt/<dataset>`."""
    return f"{DATA_DIRECTORY}/{dataset}"


def container(volume: str, config: WaitConfig, site: Site, *, sub_path: str = "") -> Json:
    """Return the init container. `volume` names the pod's volume with the dataset, `sub_path` the directory in it.

    An empty `sub_path` means the root of the volume.
    """
    # HostToContainer: the container sees a mount that the CSI driver recovers.
    mount = {"mountPath": config.path, "mountPropagation": "HostToContainer", "name": volume, "readOnly": True}
    return {
        "name": CONTAINER,
        "image": agent_pod.image(site, "control"),
        "command": list(_COMMAND),
        "args": config.arguments(),
        "env": [
            agent_pod.field_env(POD_ENV, "metadata.name"),
            agent_pod.field_env(RUN_ENV, f"metadata.labels['{labels.RUN_HASH}']"),
        ],
        "resources": agent_pod.amounts(site.platform.resources.control),
        "securityContext": agent_pod.restricted_container(),
        "volumeMounts": [{**mount, "subPath": sub_path} if sub_path else mount],
    }


def is_ours(container: Json) -> bool:
    """Return whether `container` is the init container that `container()` makes, not a user's of the same name."""
    return container.get("name") == CONTAINER and container.get("command") == list(_COMMAND)


def rules(template: Json) -> Iterator[Json]:
    """Yield the Job's rule for pods that wait for a dataset; nothing if the pods of `template` do not wait.

    With this rule the Job fails at once if the wait fails for good, since a retry would fail too.
    """
    if any(map(is_ours, template["spec"].get("initContainers") or ())):
        codes = [int(code) for code in (*PERMANENT, ExitCode.SOFT_DEADLINE)]
        yield {
            "action": "FailJob",
            "onExitCodes": {"containerName": CONTAINER, "operator": "In", "values": codes},
        }
