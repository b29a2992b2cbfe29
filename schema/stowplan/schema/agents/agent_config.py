"""What all agents are told: the names of files and environment variables, and the fields that every configuration has.

Secrets are not part of configurations: they are environment variables or files.
"""

from typing import Literal

from pydantic import Field

from stowplan.schema.meta import Model

CONFIG_DIRECTORY = "/etc/stowplan"
CONFIG_FILE = "config.json"
DATA_DIRECTORY = "/mnt"
"""Parent of mount paths: agents mount a dataset at `/mnt/<name>`, as paddle-operator did."""

RUN_ENV = "STOWPLAN_RUN"
"""Environment variable with the name of the pod's Job, which names the marker file of the run (`marker_path`).

The Jobs of a CronJob have names that end in the scheduled time.
"""

DEFAULT_MAX_DELETE = 1000
"""Most files that a sync deletes, if the spec does not say otherwise."""

POD_ENV = "STOWPLAN_POD"
NODE_ENV = "STOWPLAN_NODE"

VOLUME_SECRET_ENV = {
    "name": "STOWPLAN_VOLUME_NAME",
    "metaurl": "STOWPLAN_VOLUME_METAURL",
    "storage": "STOWPLAN_VOLUME_STORAGE",
    "bucket": "STOWPLAN_VOLUME_BUCKET",
    "access-key": "STOWPLAN_VOLUME_ACCESS_KEY",
    "secret-key": "STOWPLAN_VOLUME_SECRET_KEY",
    "envs": "STOWPLAN_VOLUME_ENVS",
}
"""Environment variables of a task that uses the metadata engine (a sync), by key of the volume Secret.

Only `name` and `metaurl` are required: the metadata of a formatted volume hold the other values. `envs` comes from the
CSI driver: a JSON object of variables such as META_PASSWORD and JFS_RSA_PASSPHRASE, which only the `juicefs` process
gets.
"""

SOURCE_SECRET_ENV = {
    "access-key": "STOWPLAN_SOURCE_ACCESS_KEY",
    "secret-key": "STOWPLAN_SOURCE_SECRET_KEY",
}
"""Environment variables of a sync, by key of the source Secret. Both are optional: sources may be public."""


class StatusTarget(Model):
    """The custom resource whose status the agent writes."""

    kind: str = Field(description="Kind of the custom resource.", max_length=63)
    namespace: str = Field(description="Its namespace.", max_length=63)
    name: str = Field(description="Its name.", max_length=253)


class AgentConfig(Model):
    """What every configuration has."""

    format: Literal[1] = Field(default=1, description="Version of this contract.")
    target: StatusTarget = Field(description="The custom resource to report on.")
    report_phase: bool = Field(
        description="Whether the agent also writes phase, conditions and counts, which a reporter writes where one runs."
    )
