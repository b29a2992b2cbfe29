"""Environment variables that the libraries of Hugging Face read at their import."""

import os
from collections.abc import MutableMapping
from pathlib import Path

from stowplan.agents.transfer.settings import TransferSettings

ENDPOINT_ENV, TOKEN_ENV = "HF_ENDPOINT", "HF_TOKEN"
DISABLE_XET_ENV = "HF_HUB_DISABLE_XET"

LARGEST = 256 << 20
"""Maximum size in bytes of what hf-xet remembers of uploads, about 1 MB for each GB. The pod has 1 GiB of scratch."""

LEAST_MIB = 400
"""Free memory in MiB below which only HTTP is used: hf-xet 1.8 needs up to 300 MiB, whatever its settings."""

_QUIET = {
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_UPDATE_CHECK": "1",
    "HF_XET_TELEMETRY_ENABLED": "false",
    "HF_XET_LOG_DEST": os.devnull,
    # A download reads nothing twice.
    "HF_XET_CHUNK_CACHE_SIZE_BYTES": "0",
    "HF_XET_SHARD_CACHE_SIZE_LIMIT": str(LARGEST),
}
_LOUD = ("HF_DEBUG", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_XET_HIGH_PERFORMANCE", "HF_HUB_ENABLE_HF_TRANSFER")
"""Variables to remove: the libraries would log requests, refuse to send them, or use more memory than the pod has."""

_TRUE = ("1", "on", "yes", "true")

_PLACES = (
    "HF_ASSETS_CACHE",
    "HF_HUB_CACHE",
    "HF_TOKEN_PATH",
    "HF_XET_CLIENT_UNIX_SOCKET_PATH",
    "HF_XET_DATA_LOCAL_CAS_SCHEME",
    "HF_XET_DATA_STAGING_SUBDIR",
    "HF_XET_LOCAL_CAS_SCHEME",
    "HF_XET_MDB_SHARD_CACHE_SIZE_LIMIT",
    "HF_XET_SESSION_DIR_NAME",
    "HF_XET_SHARD_CACHE_SUBDIR",
    "HF_XET_SYSTEM_MONITOR_ENABLED",
    "HF_XET_SYSTEM_MONITOR_LOG_PATH",
    "HUGGINGFACE_ASSETS_CACHE",
    "HUGGINGFACE_HUB_CACHE",
)
"""Variables to remove: the libraries would keep files elsewhere, or more of them."""


def prepare(settings: TransferSettings, environment: MutableMapping[str, str], scratch: Path) -> None:
    """Set variables in `environment` so that the libraries behave as an agent must. Call it before their import.

    They then send no telemetry, neither search for tokens nor store them, and use less memory than the limit of the
    pod. All their files are in the directory `scratch`, which must be one that others cannot write to: the libraries
    open files by their paths, and follow links there. So it is not in the claim.
    """
    for name in (*_LOUD, *_PLACES):
        environment.pop(name, None)
    environment.update(_QUIET)
    environment.update({"HF_HOME": str(scratch), "HF_XET_CACHE": str(scratch / "xet")})
    # The values of the settings may be from files, which the environment does not have.
    if endpoint := settings.values.environment.get(ENDPOINT_ENV, "").strip():
        environment[ENDPOINT_ENV] = endpoint.rstrip("/")
    else:
        environment.pop(ENDPOINT_ENV, None)
    environment[DISABLE_XET_ENV] = "0" if may_use_xet(settings) else "1"
    for name, value in _bounds(settings).items():
        environment.setdefault(name, str(value))


def may_use_xet(settings: TransferSettings) -> bool:
    """Return whether hf-xet may transfer files, rather than HTTP alone."""
    if settings.config.max_bytes_per_second:
        # hf-xet has no limit of its speed.
        return False
    disabled = settings.values.environment.get(DISABLE_XET_ENV)
    return settings.free_mib >= LEAST_MIB if disabled is None else disabled.lower() not in _TRUE


def _bounds(settings: TransferSettings) -> dict[str, int]:
    """Return limits for hf-xet by the name of the variable, in bytes or as numbers of parallel tasks.

    Fetched bytes that are not yet written may use a third of the free memory. There are as many parallel uploads as
    need half of the free memory, with a block of 64 MiB each.
    """
    third = (settings.free_mib << 20) // 3
    uploads = max(1, min(settings.config.parallelism, settings.free_mib // 128))
    return {
        "HF_XET_RECONSTRUCTION_DOWNLOAD_BUFFER_SIZE": third,
        "HF_XET_RECONSTRUCTION_DOWNLOAD_BUFFER_PERFILE_SIZE": third // 4,
        "HF_XET_RECONSTRUCTION_DOWNLOAD_BUFFER_LIMIT": third,
        "HF_XET_RECONSTRUCTION_MIN_PREFETCH_BUFFER": third,
        "HF_XET_RECONSTRUCTION_MIN_RECONSTRUCTION_FETCH_SIZE": third // 2,
        "HF_XET_CLIENT_AC_MAX_DOWNLOAD_CONCURRENCY": max(4, settings.config.parallelism),
        "HF_XET_CLIENT_AC_MAX_UPLOAD_CONCURRENCY": max(2, uploads),
        "HF_XET_DATA_MAX_CONCURRENT_FILE_INGESTION": uploads,
        "HF_XET_DATA_MAX_CONCURRENT_FILE_DOWNLOADS": settings.config.parallelism,
    }
