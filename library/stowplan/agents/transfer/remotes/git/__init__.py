"""Transfers with Git repositories."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # Programs in this package, which Git starts, need nothing of an agent.
    from stowplan.agents.transfer.engine import Engine
    from stowplan.agents.transfer.settings import TransferSettings


def make_engine(settings: "TransferSettings") -> "Engine":
    """Return the engine. Raises SettingsError if a setting is missing or invalid."""
    from stowplan.agents.transfer.remotes.git.engine import GitEngine  # noqa: PLC0415 - its modules import this one
    from stowplan.agents.transfer.remotes.git.settings import git_settings  # noqa: PLC0415

    return GitEngine(git_settings(settings))
