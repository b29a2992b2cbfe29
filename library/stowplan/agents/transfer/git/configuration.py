"""The configuration that Git runs with: ours alone, above whatever a repository says of itself."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from stowplan.agents.transfer.git.settings import GitSettings
from stowplan.schema.transfer_config import CA_ENV, PROXY_ENV

SLOW_SECONDS, SLOW_BYTES = 60, 1000
"""A connection that brings fewer bytes a second for so long is given up."""

_HARMLESS = (
    "badTimezone badDate missingEmail missingNameBeforeEmail missingSpaceBeforeDate missingSpaceBeforeEmail"
    " missingTaggerEntry multipleAuthors zeroPaddedDate zeroPaddedFilemode nullSha1 gitmodulesParse"
).split()
"""What old repositories have in their history that no program minds."""

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
    ("transfer.fsckObjects", "true"),
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

LFS = (
    ("lfs.basictransfersonly", "true"),
    ("lfs.standalonetransferagent", ""),
    ("lfs.locksverify", "false"),
    ("lfs.allowincompletepush", "false"),
    ("lfs.skipdownloaderrors", "false"),
    ("lfs.fetchinclude", ""),
    ("lfs.fetchexclude", ""),
    ("lfs.fetchrecentrefsdays", "0"),
    ("lfs.fetchrecentcommitsdays", "0"),
    ("lfs.activitytimeout", str(SLOW_SECONDS)),
    ("lfs.transfer.enablehrefrewrite", "false"),
)
"""No program but git-lfs itself moves content, and all of it."""


def pairs(told: GitSettings, paths: tuple[Path, ...]) -> Iterator[tuple[str, str]]:
    """Names and values; `paths` are repositories that may belong to another user."""
    yield from SAFE
    yield from LFS
    yield from _memory(told)
    for path in paths:
        yield "safe.directory", str(path)
    on = told.remote.lfs
    # Ours, whatever the machine and the repository say: no other filter ever runs.
    yield "filter.lfs.process", "git-lfs filter-process" if on else ""
    yield "filter.lfs.clean", "git-lfs clean -- %f" if on else ""
    yield "filter.lfs.smudge", "git-lfs smudge -- %f" if on else ""
    yield "filter.lfs.required", "true" if on else "false"
    config = told.common.config
    yield "checkout.workers", str(min(4, config.parallelism))
    yield "lfs.concurrenttransfers", str(config.parallelism)
    yield "lfs.transfer.maxretries", str(max(1, config.request_retries))
    if config.ca_bundle:
        yield "http.sslCAInfo", config.ca_bundle


def _memory(told: GitSettings) -> Iterator[tuple[str, str]]:
    """Packs are mapped, which the kernel takes back; what counts are windows, caches and blobs that are held whole."""
    share, threads = max(1, told.common.free_mib // 8), min(4, os.cpu_count() or 1)
    yield "pack.threads", str(threads)
    yield "index.threads", str(threads)
    yield "pack.windowMemory", f"{max(1, share * 2 // threads)}m"
    yield "pack.deltaCacheSize", f"{share}m"
    yield "core.deltaBaseCacheLimit", f"{max(1, min(96, share // threads))}m"
    yield "core.bigFileThreshold", f"{min(512, share)}m"
    yield "core.packedGitLimit", f"{share * 4}m"


def environment(told: GitSettings, folder: Path, given: Mapping[str, str], *, online: bool) -> dict[str, str]:
    """What every program of ours is given: nothing of the agent's own environment but where programs are.

    Those that speak with the server get the users' proxies and certificates too. `folder` is empty and private.
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
        "GOMEMLIMIT": f"{max(16, told.common.free_mib // 2)}MiB",
    }
    if online:
        variables |= {name: value for name, value in given.items() if name in CA_ENV}
        for name in PROXY_ENV:
            # Git knows some in lower case only.
            value = given.get(name.lower()) or given.get(name)
            variables |= {name: value, name.lower(): value} if value else {}
        # Git knows this one alone, and Git LFS the other one too.
        authorities = told.common.config.ca_bundle or given.get("GIT_SSL_CAINFO") or given.get("SSL_CERT_FILE")
        variables |= {"GIT_SSL_CAINFO": authorities} if authorities else {}
    return variables


def as_variables(settings: list[tuple[str, str]]) -> dict[str, str]:
    """The environment variables by which Git takes configuration that is above all files."""
    count = {"GIT_CONFIG_COUNT": str(len(settings))}
    keys = {f"GIT_CONFIG_KEY_{index}": key for index, (key, _) in enumerate(settings)}
    return count | keys | {f"GIT_CONFIG_VALUE_{index}": value for index, (_, value) in enumerate(settings)}
