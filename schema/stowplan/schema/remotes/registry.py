"""The remotes by name, and what is made of all of them."""

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Literal, Union, get_args

from pydantic import Field, create_model

from stowplan.schema.meta import Model
from stowplan.schema.remotes.place import Place
from stowplan.schema.remotes.remote import RemoteEndpoint, RemoteModels

RemoteName = Literal["s3", "huggingface", "git"]
"""The table of remotes. Each is a module of `stowplan.schema.remotes`, of `stowplan.library.dialects.dataset.places`
and of `stowplan.library.dialects.data_cube.remotes`, and a module or package of `stowplan.agents.transfer.remotes`.
"""

REMOTES: dict[str, RemoteModels] = {
    name: import_module(f"stowplan.schema.remotes.{name}").REMOTE for name in get_args(RemoteName)
}

SOURCES: Mapping[str, type[Place]] = {name: each.source for name, each in REMOTES.items() if each.source}
"""What the native kinds copy from, by the name of the remote and of the field."""

TARGETS: Mapping[str, type[Place]] = {name: each.target for name, each in REMOTES.items() if each.target}
"""What the native kinds copy to."""

SIDES = dict(sorted(REMOTES.items()))
"""The remotes as sides of a DataCube."""


class _Places(Model):
    """The blocks of places, by the names of the remotes."""

    @property
    def given(self) -> tuple[str, Place] | None:
        """The name of the remote whose block is given, the first one of several, and the block; None without any."""
        blocks = ((name, getattr(self, name, None)) for name in REMOTES)
        return next(((name, block) for name, block in blocks if block is not None), None)


if TYPE_CHECKING:
    # Type checkers cannot follow types that are made at run time.
    AnyEndpoint = RemoteEndpoint
    RemoteBlocks = Model
    SideType = str

    class SourceBlocks(_Places): ...

    class TargetBlocks(_Places): ...

else:
    SideType = Literal[(*SIDES, "pvc")]
    AnyEndpoint = Union[tuple(each.endpoint for each in SIDES.values())]  # noqa: UP007 - of a tuple
    RemoteBlocks = create_model(
        "RemoteBlocks",
        __base__=Model,
        __doc__="Blocks of settings: an optional field for each remote that has settings, with the remote's name.",
        **{
            name: (each.settings | None, Field(default=None, description=each.about))
            for name, each in SIDES.items()
            if each.settings
        },
    )
    SourceBlocks, TargetBlocks = (
        create_model(
            "PlaceBlocks",
            __base__=_Places,
            __doc__="An optional field for each remote, with the remote's name.",
            **{name: (each | None, Field(default=None, description=each.ABOUT)) for name, each in blocks.items()},
        )
        for blocks in (SOURCES, TARGETS)
    )
