"""The remotes of DataCubes, by the name that `type` of a side gives."""

from importlib import import_module

from stowplan.library.dialects.data_cube.remotes.remote import Remote
from stowplan.schema.remotes.registry import SIDES

REMOTES: dict[str, Remote] = {
    name: import_module(f"stowplan.library.dialects.data_cube.remotes.{name}").REMOTE for name in SIDES
}
"""The module of a remote has the remote's name."""
