"""The engines, by type of the remote side. Each comes with libraries of its own, so only the wanted one is imported."""

from stowplan.agents.transfer.engine import Engine
from stowplan.agents.transfer.settings import Settings, SettingsError
from stowplan.schema.transfer_config import S3Endpoint


def engine(settings: Settings) -> Engine:
    """The engine of a transfer; SettingsError if something is missing or cannot be."""
    match settings.remote:
        case S3Endpoint():
            from stowplan.agents.transfer.s3.engine import S3Engine  # noqa: PLC0415 - see above
            from stowplan.agents.transfer.s3.settings import s3_settings  # noqa: PLC0415

            return S3Engine(s3_settings(settings))
        case other:
            raise SettingsError(f"This program has no engine for {other.type}")
