"""Transfers with S3 stores."""

from stowplan.agents.transfer.engine import Engine
from stowplan.agents.transfer.settings import TransferSettings


def make_engine(settings: TransferSettings) -> Engine:
    """Return the engine. Raises SettingsError if a setting is missing or invalid."""
    from stowplan.agents.transfer.remotes.s3.engine import S3Engine  # noqa: PLC0415 - its modules import this one
    from stowplan.agents.transfer.remotes.s3.settings import s3_settings  # noqa: PLC0415

    return S3Engine(s3_settings(settings))
