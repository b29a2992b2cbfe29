"""Choice of the engine by the type of the remote side. Only its libraries are imported, which saves time and memory."""

import os

from stowplan.agents.runtime.settings import SettingsError
from stowplan.agents.transfer.engine import Engine
from stowplan.agents.transfer.settings import TransferSettings
from stowplan.schema.agents.transfer_config import GitEndpoint, HuggingFaceEndpoint, S3Endpoint


def engine(settings: TransferSettings) -> Engine:
    """Return the engine for the remote side. Raises SettingsError if a setting or a package is missing or invalid."""
    match settings.remote:
        case S3Endpoint():
            from stowplan.agents.transfer.s3.engine import S3Engine  # noqa: PLC0415 - see above
            from stowplan.agents.transfer.s3.settings import s3_settings  # noqa: PLC0415

            return S3Engine(s3_settings(settings))
        case HuggingFaceEndpoint():
            return _huggingface(settings)
        case GitEndpoint():
            from stowplan.agents.transfer.git.engine import GitEngine  # noqa: PLC0415
            from stowplan.agents.transfer.git.settings import git_settings  # noqa: PLC0415

            return GitEngine(git_settings(settings))
        case other:
            raise SettingsError(f"This program has no engine for {other.type}")


def _huggingface(settings: TransferSettings) -> Engine:
    from stowplan.agents.transfer.huggingface.hub.environment import prepare  # noqa: PLC0415 - see above
    from stowplan.agents.transfer.huggingface.hub.settings import huggingface_settings  # noqa: PLC0415

    prepare(settings, os.environ)
    told = huggingface_settings(settings)
    try:
        from stowplan.agents.transfer.huggingface.engine import HuggingFaceEngine  # noqa: PLC0415
    except ModuleNotFoundError as error:
        message = f"The package {error.name} is not installed: pip install 'stowplan[huggingface]' brings it"
        raise SettingsError(message) from None
    return HuggingFaceEngine(told)
