"""The remotes of DataCubes, by the name that `type` of a side gives."""

from importlib import import_module
from typing import get_args

from stowplan.library.dialects.data_cube.remotes.remote import Remote
from stowplan.schema.remotes.registry import RemoteName

REMOTES: dict[str, Remote] = {
    name: import_module(f"stowplan.library.dialects.data_cube.remotes.{name}").REMOTE for name in get_args(RemoteName)
}
"""The module of a remote has the remote's name."""
