"""Environment variables that the libraries of Hugging Face read at their import."""

import os
import stat
import tempfile
from collections.abc import MutableMapping
from pathlib import Path

from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.attempt.claim.walk import by_name, walk
from stowplan.agents.transfer.settings import TransferSettings

ENDPOINT_ENV, TOKEN_ENV = "HF_ENDPOINT", "HF_TOKEN"
DISABLE_XET_ENV = "HF_HUB_DISABLE_XET"

LEAST_MIB = 400
"""Free memory in MiB below which only HTTP is used: hf-xet 1.8 needs up to 300 MiB, whatever its settings."""

_CACHE = "xet"

_QUIET = {
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_UPDATE_CHECK": "1",
    "HF_XET_TELEMETRY_ENABLED": "false",
    "HF_XET_LOG_DEST": os.devnull,
}
_LOUD = ("HF_DEBUG", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_XET_HIGH_PERFORMANCE", "HF_HUB_ENABLE_HF_TRANSFER")
"""Variables to remove: the libraries would log requests, refuse to send them, or use more memory than the pod has."""


def prepare(settings: TransferSettings, environment: MutableMapping[str, str]) -> None:
    """Set variables in `environment` so that the libraries behave as an agent must. Call it before their import.

    They then send no telemetry, neither search for tokens nor store them, and use less memory than the limit of the
    pod. Their cache of what was uploaded is in the state directory of the transfer, so that a later attempt has it. A
    download needs no cache; without a state it is in the directory for temporary files.
    """
    for name in _LOUD:
        environment.pop(name, None)
    environment.update(_QUIET)
    scratch = Path(tempfile.gettempdir()) / f"stowplan-huggingface-{os.getuid()}"
    state = settings.config.state
    cache = settings.claim / state.directory / _CACHE if state and settings.upload else scratch / _CACHE
    environment.update({"HF_HOME": str(scratch), "HF_XET_CACHE": str(cache)})
    if endpoint := environment.get(ENDPOINT_ENV, "").strip():
        environment[ENDPOINT_ENV] = endpoint.rstrip("/")
    else:
        environment.pop(ENDPOINT_ENV, None)
    if settings.config.max_bytes_per_second:
        # hf-xet has no limit of its speed.
        environment[DISABLE_XET_ENV] = "1"
    if settings.free_mib < LEAST_MIB:
        environment.setdefault(DISABLE_XET_ENV, "1")
    for name, value in _bounds(settings).items():
        environment.setdefault(name, str(value))


def clean_cache(state: ClaimFolder) -> None:
    """Remove everything but folders and files from the cache in a state directory, and files with further names.

    hf-xet opens it by its path, and follows what it finds there.
    """
    with state.folder(_CACHE, create=True) as cache:
        for _, entry, folder in walk(cache, by_name):
            status = None if entry.is_folder else folder.stat(entry.name)
            if status and (not stat.S_ISREG(status.st_mode) or status.st_nlink > 1):
                folder.remove_file(entry.name)


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
        "HF_XET_SHARD_CACHE_SIZE_LIMIT": 1 << 30,
    }
