"""`Cube`: a DataCube in the form that its rules and builders share. Every part is looked up and parsed once."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stowplan.library.builders.pods import agent_pod
from stowplan.library.dialects.data_cube import arguments as data_cube_arguments
from stowplan.library.dialects.data_cube import environment
from stowplan.library.dialects.data_cube.environment import Variable
from stowplan.library.dialects.data_cube.options import Side
from stowplan.library.dialects.data_cube.remotes.registry import REMOTES
from stowplan.library.dialects.data_cube.remotes.remote import Remote
from stowplan.library.dialects.data_cube.remotes.remote_side import RemoteSide
from stowplan.library.dialects.shared import task_resources
from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.shared.task_resources import Resources
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath, Finding
from stowplan.schema.kinds.data_cube import ClaimReference, DataCube, Executor, ExecutorOptions
from stowplan.schema.meta import Model, SpecId

KIND = "DataCube"

_EXECUTOR = {
    "parallelism": "parallelism",
    "part_size_mib": "part_size",
    "request_retries": "request_retries",
    "max_delete": "max_delete",
}
"""The fields of `executor.options` that flags can give too, by setting."""


@dataclass(frozen=True, slots=True)
class Cube(RemoteSide):
    """A DataCube with exactly one claim, as `view` makes it.

    `kind` is what the remote of its remote side declares. `claim`, `executor` and `given`, the options of the executor,
    are empty models if the spec has none. `replaced` are values of variables that replace literal options. `resources`
    are the requests and limits of the pod.
    """

    model: DataCube
    id: SpecId
    kind: Remote
    claim: ClaimReference
    executor: Executor
    given: ExecutorOptions
    variables: tuple[Variable, ...]
    replaced: Mapping[str, str]
    resources: Resources

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


def view(model: DataCube, context: Context) -> tuple[Cube, list[Finding]]:
    """Return the `Cube` of a DataCube with exactly one claim, and findings about its `extraArgs`."""
    side: Side = "sink" if model.spec.source.type == "pvc" else "source"
    source, sink = model.spec.source, model.spec.sink
    near, remote = (source, sink) if side == "sink" else (sink, source)
    executor = model.spec.executor or Executor()
    own = executor.options or ExecutorOptions()
    kind = REMOTES[remote.type]
    arguments, found = data_cube_arguments.understood(kind, own.extra_args or [])
    variables = environment.of_model(model)
    cube = Cube(
        side=side,
        reference=remote,
        options=kind.options,
        fields=_fields(own, getattr(remote, remote.type, None), kind),
        arguments=arguments,
        environment=frozenset(str(each.get("name")) for each in executor.env or ()),
        model=model,
        id=context.id(model),
        kind=kind,
        claim=near.pvc or ClaimReference(),
        executor=executor,
        given=own,
        variables=tuple(variables),
        replaced=kind.replaced(remote),
        resources=task_resources.merged(executor.resources or {}, agent_pod.amounts(context.platform.resources.task)),
    )
    return cube, found


def _fields(options: ExecutorOptions, block: Model | None, kind: Remote) -> dict[str, Any]:
    """Return the values of fields that flags can give too, by setting: fields of the executor and of the block."""
    values = {setting: getattr(options, field) for setting, field in _EXECUTOR.items()}
    values |= {name: getattr(block, name, None) for name in kind.settings}
    return {setting: value for setting, value in values.items() if value is not None}
