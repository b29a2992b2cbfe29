"""Settings and environment of Git for this transfer."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from stowplan.agents.transfer.remotes.git.settings import GitSettings
from stowplan.schema.agents.transfer_config import CA_ENV

SLOW_SECONDS, SLOW_BYTES = 60, 1000
"""A connection is closed if it is slower than `SLOW_BYTES` bytes per second for `SLOW_SECONDS`."""

_HARMLESS = (
    "badTimezone badDate missingEmail missingNameBeforeEmail missingSpaceBeforeDate missingSpaceBeforeEmail"
    " missingTaggerEntry multipleAuthors zeroPaddedDate zeroPaddedFilemode nullSha1 gitmodulesParse"
).split()
"""Errors that Git finds in the history of old repositories, but that harm no program. They are ignored."""

SAFE = (
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.sshCommand", "false"),
    ("core.gitProxy", ""),
    ("core.askPass", ""),
    ("core.attributesFile", "/dev/null"),
    ("core.excludesFile", "/dev/null"),
    ("core.protectHFS", "true"),
    ("core.protectNTFS", "true"),
    ("core.fsync", "committed,reference"),
    ("core.preloadIndex", "true"),
    ("core.logAllRefUpdates", "false"),
    ("core.sparseCheckout", "false"),
    # Others can write to the folders that have these files.
    ("core.commitGraph", "false"),
    ("core.multiPackIndex", "false"),
    ("pack.readReverseIndex", "false"),
    ("pack.useBitmaps", "false"),
    # Git would write each object of a small fetch into a folder of its own.
    ("fetch.unpackLimit", "1"),
    ("transfer.unpackLimit", "1"),
    ("core.splitIndex", "false"),
    ("core.autocrlf", "false"),
    # No filter runs but that of `lfs_filter.py`, in repositories whose files are checked out.
    ("filter.lfs.process", ""),
    ("filter.lfs.clean", ""),
    ("filter.lfs.smudge", ""),
    ("transfer.fsckObjects", "true"),
    # Git reads these before `transfer.fsckObjects`.
    ("fetch.fsckObjects", "true"),
    ("receive.fsckObjects", "true"),
    # Git 2.40 and newer would fetch bundles of objects from any host that this value names.
    ("fetch.bundleURI", ""),
    *((f"{side}.fsck.{each}", "ignore") for side in ("fetch", "receive") for each in _HARMLESS),
    ("transfer.bundleURI", "false"),
    ("submodule.recurse", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("push.recurseSubmodules", "no"),
    ("push.followTags", "false"),
    ("push.gpgSign", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("advice.detachedHead", "false"),
    ("init.defaultBranch", "main"),
    ("http.followRedirects", "initial"),
    ("http.sslVerify", "true"),
    ("http.cookieFile", ""),
    ("http.saveCookies", "false"),
    ("http.emptyAuth", "false"),
    ("http.lowSpeedLimit", str(SLOW_BYTES)),
    ("http.lowSpeedTime", str(SLOW_SECONDS)),
)

NOWHERE = "http://127.0.0.1:1/"
"""URL where no server listens. It stops programs from connecting to any server by themselves."""


def pairs(settings: GitSettings, relay: str | None) -> Iterator[tuple[str, str]]:
    """Yield (name, value) for each setting of Git.

    `relay` is the URL of the local proxy through which Git reaches the server; None if Git must not connect to any
    server.
    """
    yield from SAFE
    # This setting overrides the variables of the environment. The relay itself uses the user's proxy.
    yield "http.proxy", relay or NOWHERE
    yield from _memory(settings)
    config = settings.common.config
    yield "checkout.workers", str(min(4, config.parallelism))
    if config.ca_bundle:
        yield "http.sslCAInfo", config.ca_bundle


def _memory(settings: GitSettings) -> Iterator[tuple[str, str]]:
    """Yield (name, value) of the settings that limit the memory of Git: windows, caches, and blobs that it loads.

    Packs may take more: Git maps them, so the kernel can reclaim their memory.
    """
    share, threads = max(1, settings.common.free_mib // 8), min(4, os.cpu_count() or 1)
    yield "pack.threads", str(threads)
    yield "index.threads", str(threads)
    yield "pack.windowMemory", f"{max(1, share * 2 // threads)}m"
    yield "pack.deltaCacheSize", f"{share}m"
    yield "core.deltaBaseCacheLimit", f"{max(1, min(96, share // threads))}m"
    yield "core.bigFileThreshold", f"{min(512, share)}m"
    yield "core.packedGitLimit", f"{share * 4}m"


def environment(settings: GitSettings, folder: Path, given: Mapping[str, str], *, online: bool) -> dict[str, str]:
    """Return the environment variables of a child process.

    From `given`, the agent's environment, it has only `PATH` and, with `online`, the variables that name certificates.
    `folder` is a private, empty directory, which the process uses as its home and for temporary files. `online` is True
    if the process may contact the server.
    """
    variables = {
        "PATH": given.get("PATH", os.defpath),
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
        "TMPDIR": str(folder),
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_ALLOW_PROTOCOL": "http:https" if online else "none",
    }
    if online:
        variables |= {name: value for name, value in given.items() if name in CA_ENV}
        authorities = authorities_of(settings, given)
        variables |= {"GIT_SSL_CAINFO": authorities} if authorities else {}
    return variables


def authorities_of(settings: GitSettings, given: Mapping[str, str]) -> str | None:
    """Return the path of the file with trusted certificates; None for those of the system.

    `given` is the agent's environment. Git itself reads only `GIT_SSL_CAINFO` of its variables.
    """
    return settings.common.config.ca_bundle or given.get("GIT_SSL_CAINFO") or given.get("SSL_CERT_FILE")


def as_variables(settings: list[tuple[str, str]]) -> dict[str, str]:
    """Return environment variables that pass (name, value) settings to Git, which override its configuration files."""
    count = {"GIT_CONFIG_COUNT": str(len(settings))}
    keys = {f"GIT_CONFIG_KEY_{index}": key for index, (key, _) in enumerate(settings)}
    return count | keys | {f"GIT_CONFIG_VALUE_{index}": value for index, (_, value) in enumerate(settings)}
