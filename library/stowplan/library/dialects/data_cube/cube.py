"""`Cube`: a DataCube in the form that its rules and builders share. Every part is looked up and parsed once."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stowplan.library.builders.pods import agent_pod
from stowplan.library.dialects.data_cube import arguments as data_cube_arguments
from stowplan.library.dialects.data_cube import environment, options
from stowplan.library.dialects.data_cube import resources as data_cube_resources
from stowplan.library.dialects.data_cube.arguments import Arguments
from stowplan.library.dialects.data_cube.environment import Variable
from stowplan.library.dialects.data_cube.git_url import GitUrl, Unusable
from stowplan.library.dialects.data_cube.options import Side
from stowplan.library.dialects.data_cube.resources import Resources
from stowplan.library.dialects.shared.context import Context
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath, Finding
from stowplan.schema.kinds.data_cube import ClaimReference, DataCube, DataReference, Executor, ExecutorOptions
from stowplan.schema.meta import SpecId
from stowplan.schema.s3_uri import S3Uri

KIND = "DataCube"

_TYPED: Mapping[str, tuple[str, str]] = {
    "parallelism": ("options", "parallelism"),
    "part_size_mib": ("options", "part_size"),
    "request_retries": ("options", "request_retries"),
    "max_delete": ("options", "max_delete"),
    "path_style": ("s3", "path_style"),
    "include": ("huggingface", "include"),
    "exclude": ("huggingface", "exclude"),
    "depth": ("git", "depth"),
    "submodules": ("git", "submodules"),
}
"""The field that takes precedence over a flag, by setting: the block of the remote side, and the field in this block.

The block `options` is that of the executor.
"""


@dataclass(frozen=True, slots=True)
class Cube:
    """A DataCube with exactly one claim.

    `side` is the side that is remote. `claim`, `executor` and `options` are empty models if the spec has none.
    `arguments` are the settings from `extraArgs`. `resources` are the requests and limits of the pod. `git` is the
    parsed option `url` of the remote side, None without a literal URL. `s3` is its parsed option `s3-uri`, None if that
    is no URI of S3.
    """

    model: DataCube
    id: SpecId
    side: Side
    remote: DataReference
    claim: ClaimReference
    executor: Executor
    options: ExecutorOptions
    arguments: Arguments
    variables: tuple[Variable, ...]
    resources: Resources
    git: GitUrl | Unusable | None
    s3: S3Uri | None

    @property
    def uploads(self) -> bool:
        """Whether the cube copies from the claim to the remote side."""
        return self.side == "sink"

    @property
    def remote_path(self) -> FieldPath:
        """Path of the remote side in the document."""
        return ("spec", self.side)

    @property
    def claim_path(self) -> FieldPath:
        """Path of the claim in the document."""
        return ("spec", "source" if self.uploads else "sink", "pvc")

    @property
    def template(self) -> Json | None:
        """The template of the claim that the cube creates; None if it creates none.

        A source must exist already, so its template creates no claim.
        """
        return None if self.uploads else self.claim.template

    def typed(self, setting: str) -> Any:
        """Return the value of the field in `_TYPED` for a setting; None if the field is not given."""
        block, field = _TYPED[setting]
        settings = self.options if block == "options" else getattr(self.remote, block)
        return getattr(settings, field) if settings is not None else None

    def setting(self, name: str) -> Any:
        """Return the value of the field in `_TYPED` for a setting, else that of the flag; None if neither is given."""
        value = self.typed(name)
        return self.arguments.settings.get(name) if value is None else value

    def overrides(self, setting: str) -> bool:
        """Return whether a field or an option of the spec gives this setting, so that the flag has no effect."""
        return self.typed(setting) is not None if setting in _TYPED else options.given(self.remote, setting)


def view(model: DataCube, context: Context) -> tuple[Cube, list[Finding]]:
    """Return the `Cube` of a DataCube with exactly one claim, and findings about its `extraArgs`."""
    side: Side = "sink" if model.spec.source.type == "pvc" else "source"
    source, sink = model.spec.source, model.spec.sink
    near, remote = (source, sink) if side == "sink" else (sink, source)
    executor = model.spec.executor or Executor()
    own = executor.options or ExecutorOptions()
    arguments, found = data_cube_arguments.understood(remote.type, own.extra_args or [])
    variables = environment.of_model(model)
    urls = [each.git for each in variables if each.option == "url" and each.path[1] == side]
    cube = Cube(
        model=model,
        id=SpecId(KIND, context.namespace(model.metadata.namespace), model.metadata.name),
        side=side,
        remote=remote,
        claim=near.pvc or ClaimReference(),
        executor=executor,
        options=own,
        arguments=arguments,
        variables=tuple(variables),
        resources=data_cube_resources.merged(executor, agent_pod.amounts(context.platform.resources.task)),
        git=urls[-1] if urls else None,
        s3=S3Uri.parse(options.literal(remote, "s3-uri")),
    )
    return cube, found
