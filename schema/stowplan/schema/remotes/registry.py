"""The remotes by name, and what is made of all of them."""

from importlib import import_module
from typing import TYPE_CHECKING, Literal, Union, get_args

from pydantic import Field, create_model

from stowplan.schema.meta import Model
from stowplan.schema.remotes.remote import RemoteEndpoint, RemoteModels

RemoteName = Literal["git", "huggingface", "s3"]
"""The remotes. Each is a module of `stowplan.schema.remotes`, of `stowplan.library.dialects.data_cube.remotes`, and a
module or package of `stowplan.agents.transfer.remotes`.
"""

REMOTES: dict[str, RemoteModels] = {
    name: import_module(f"stowplan.schema.remotes.{name}").REMOTE for name in get_args(RemoteName)
}

if TYPE_CHECKING:
    # Type checkers cannot follow types that are made at run time.
    AnyEndpoint = RemoteEndpoint
    RemoteBlocks = Model
else:
    AnyEndpoint = Union[tuple(each.endpoint for each in REMOTES.values())]  # noqa: UP007 - of a tuple
    RemoteBlocks = create_model(
        "RemoteBlocks",
        __base__=Model,
        __doc__="Blocks of settings: an optional field for each remote that has settings, with the remote's name.",
        **{
            name: (each.settings | None, Field(default=None, description=each.about))
            for name, each in REMOTES.items()
            if each.settings
        },
    )
