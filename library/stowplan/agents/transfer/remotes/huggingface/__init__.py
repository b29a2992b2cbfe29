"""Transfers with repositories on a Hugging Face Hub."""

import os
import shutil
import weakref
from pathlib import Path
from tempfile import mkdtemp

from stowplan.agents.transfer.engine import Engine
from stowplan.agents.transfer.settings import TransferSettings


def make_engine(settings: TransferSettings) -> Engine:
    """Return the engine. Raises SettingsError if a setting or a package is missing or invalid.

    It changes variables of `os.environ`: call it before anything imports the libraries of Hugging Face.
    """
    from stowplan.agents.transfer.remotes.huggingface.hub.environment import prepare  # noqa: PLC0415 - they import this one
    from stowplan.agents.transfer.remotes.huggingface.hub.settings import huggingface_settings  # noqa: PLC0415

    hub = huggingface_settings(settings)
    scratch = Path(mkdtemp(prefix="stowplan-huggingface-"))
    prepare(settings, os.environ, scratch)
    # The libraries of Hugging Face read variables of the environment at their import.
    from stowplan.agents.transfer.remotes.huggingface.engine import HuggingFaceEngine  # noqa: PLC0415

    engine = HuggingFaceEngine(hub, scratch)
    weakref.finalize(engine, shutil.rmtree, scratch, ignore_errors=True)
    return engine
