"""`Platform`: what a platform team chooses for all specs of a repository, in the file `stowplan.yaml`."""

from typing import Literal

from pydantic import Field

from stowplan.schema.platform.environments import Environment
from stowplan.schema.platform.settings import Settings


class Platform(Settings):
    """What a platform team decides for all specs of a repository. An empty file is enough."""

    api_version: Literal["stowplan.dev/v1alpha1"] = Field(
        default="stowplan.dev/v1alpha1", description="Version of this kind."
    )
    kind: Literal["Platform"] = Field(default="Platform", description="Always `Platform`.")
    requires: str | None = Field(
        default=None,
        max_length=128,
        description="Versions of Stowplan that may compile this repository, such as `>=0.2,<1`. Any other version refuses, so that two versions never overwrite each other's output.",
    )
    environments: list[Environment] = Field(
        default_factory=list,
        max_length=64,
        description="The places that the specs go to, in the order in which changes reach them, such as `dev` and `prod`. Each has an output of its own, `out/<name>`, with its own Argo CD objects. Without any, the output is `out` itself.",
    )
