"""Init container that clones a Git repository into a volume of a training pod, which the trainer mounts read-only.

It reports to nobody, so it needs neither a token nor RBAC rights. A token for the repository is a file, which only this
container mounts.
"""

from collections.abc import Iterator
from typing import NamedTuple

from stowplan.library.builders.job import on_exit
from stowplan.library.builders.pods import agent_pod, secret_files
from stowplan.library.ir.data import Site
from stowplan.library.manifest import Json
from stowplan.library.values import labels
from stowplan.schema.agents.agent_config import CONFIG_DIRECTORY, RUN_ENV
from stowplan.schema.agents.exit_codes import PERMANENT
from stowplan.schema.agents.transfer_config import CLAIM_DIRECTORY

COMPONENT = "code"
CONTAINER = "fetch-code"
VOLUME, _CONFIG, _SCRATCH, _SECRETS = VOLUMES = (
    "stowplan-code",
    "stowplan-code-config",
    "stowplan-code-scratch",
    "stowplan-code-secrets",
)
_COMMAND = ("python", "-m", "stowplan.agents.transfer")


class Code(NamedTuple):
    """A repository for the trainer.

    `config` is the name of the agent's ConfigMap, `values` are the variables and files that the configuration names.
    `directory` is the path of the repository in the volume, `path` the one at which the trainer mounts it.
    """

    config: str
    values: secret_files.Values
    directory: str
    path: str


def added(template: Json, code: Code, trainer: int, site: Site) -> Json:
    """Return a copy of a pod template with the init container, before the user's own, and the mount in the trainer.

    `trainer` is the index of its container.
    """
    spec = dict(template["spec"])
    spec["initContainers"] = [_container(code, site), *(spec.get("initContainers") or ())]
    own = {"mountPath": code.path, "name": VOLUME, "readOnly": True, "subPath": code.directory}
    trains = spec["containers"][trainer]
    mounted = {**trains, "volumeMounts": [*(trains.get("volumeMounts") or ()), own]}
    spec["containers"] = [mounted if at == trainer else each for at, each in enumerate(spec["containers"])]
    spec["volumes"] = [
        *(spec.get("volumes") or ()),
        {"name": VOLUME, "emptyDir": {}},
        {"name": _CONFIG, "configMap": {"name": code.config}},
        {"name": _SCRATCH, "emptyDir": {"sizeLimit": agent_pod.GIT_SCRATCH}},
        *([{"name": _SECRETS, **code.values.source}] if code.values.source else ()),
    ]
    return {**template, "spec": spec}


def is_ours(container: Json) -> bool:
    """Return whether `container` is the init container that `added` adds, not a user's of the same name."""
    return container.get("name") == CONTAINER and container.get("command") == list(_COMMAND)


def rules(template: Json) -> Iterator[Json]:
    """Yield the rule of `podFailurePolicy` that fails a Job at once if the code of its pods can never be fetched.

    `template` is the Job's pod template. Without an init container that fetches code there is no rule.
    """
    for each in filter(is_ours, template["spec"].get("initContainers") or ()):
        yield on_exit("FailJob", each["name"], PERMANENT)


def _container(code: Code, site: Site) -> Json:
    return {
        "name": CONTAINER,
        "image": agent_pod.image(site, "git"),
        "command": list(_COMMAND),
        "env": [
            {"name": "HOME", "value": agent_pod.SCRATCH},
            agent_pod.field_env(RUN_ENV, f"metadata.labels['{labels.RUN_HASH}']"),
            *code.values.variables,
        ],
        "resources": agent_pod.amounts(site.platform.resources.task),
        "securityContext": agent_pod.restricted_container(),
        "volumeMounts": [
            {"mountPath": CONFIG_DIRECTORY, "name": _CONFIG, "readOnly": True},
            {"mountPath": agent_pod.SCRATCH, "name": _SCRATCH},
            {"mountPath": CLAIM_DIRECTORY, "name": VOLUME},
            *([secret_files.mount(_SECRETS)] if code.values.source else ()),
        ],
    }
