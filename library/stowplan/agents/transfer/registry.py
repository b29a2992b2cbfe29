"""Choice of the engine by the type of the remote side. Only its libraries are imported, which saves time and memory."""

from importlib import import_module
from typing import cast

from stowplan.agents.runtime.settings import SettingsError
from stowplan.agents.transfer.engine import Engine
from stowplan.agents.transfer.settings import TransferSettings
from stowplan.schema.remotes.remote import RemoteEndpoint


def engine(settings: TransferSettings) -> Engine:
    """Return the engine for the remote side. Raises SettingsError if a setting or a package is missing or invalid.

    The module or package of a remote has the remote's name, and a function `make_engine`.
    """
    remote = import_module(f"stowplan.agents.transfer.remotes.{settings.remote.type}")
    try:
        return cast("Engine", remote.make_engine(settings))
    except ModuleNotFoundError as error:
        extra = settings.remote.EXTRA if isinstance(settings.remote, RemoteEndpoint) else "all"
        message = (
            f"The package {error.name} is not installed: install Stowplan with its extra `{extra}`, "
            f"as `pip install '.[{extra}]'` does in a checkout of Stowplan"
        )
        raise SettingsError(message) from None
