"""Transfers with repositories on a Hugging Face Hub."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

from stowplan.agents.transfer.engine import Engine
from stowplan.agents.transfer.settings import TransferSettings


def make_engine(settings: TransferSettings) -> Engine:
    """Return the engine. Raises SettingsError if a setting or a package is missing or invalid."""
    from stowplan.agents.transfer.remotes.huggingface.hub.environment import prepare  # noqa: PLC0415 - they import this one
    from stowplan.agents.transfer.remotes.huggingface.hub.settings import huggingface_settings  # noqa: PLC0415

    scratch = TemporaryDirectory(prefix="stowplan-huggingface-", ignore_cleanup_errors=True)
    prepare(settings, os.environ, Path(scratch.name))
    hub = huggingface_settings(settings)
    # The libraries of Hugging Face read variables of the environment at their import.
    from stowplan.agents.transfer.remotes.huggingface.engine import HuggingFaceEngine  # noqa: PLC0415

    return HuggingFaceEngine(hub, scratch)
