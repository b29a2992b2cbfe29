"""The program `git`, whose answer depends on the repository and the arguments alone.

Settings of the user and of a clone can run programs, rewrite contents and hide differences; variables, replaced objects
and grafts can put another repository or another history in the place of the real one. All of it is turned off here, and
nothing else in the compiler starts `git`.
"""

import os
import subprocess
from collections.abc import Mapping
from types import MappingProxyType

_SETTINGS = {
    "advice.graftFileDeprecated": "false",
    # A file of the clone that answers for the history without the commits.
    "core.commitGraph": "false",
    "core.attributesFile": os.devnull,
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.quotePath": "false",
    "diff.ignoreSubmodules": "none",
    "log.showSignature": "false",
    # Files of a branch can look like a repository without a work tree, in any folder.
    "safe.bareRepository": "explicit",
}
"""Settings that no file may change. The options of the command line come last of all."""

_KEPT = frozenset(("GIT_ASKPASS", "GIT_EXEC_PATH", "GIT_TERMINAL_PROMPT"))
_KEPT_BEGINNINGS = ("GIT_CONFIG_", "GIT_HTTP_", "GIT_PROXY_", "GIT_SSH", "GIT_SSL_")
"""Variables of Git that say how to reach a server or whose folders to trust, not what a repository holds.

About those that pre-commit keeps when it starts Git (`no_git_env`).
"""

_SET = MappingProxyType({"GIT_ATTR_NOSYSTEM": "1", "GIT_GRAFT_FILE": os.devnull, "LC_ALL": "C"})


def run(
    *arguments: str,
    given: bytes = b"",
    environment: Mapping[str, str] = MappingProxyType({}),
    seconds: float | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run `git` with these arguments and the standard input `given`; return what it printed and its exit code.

    `environment` are further variables. Raises nothing if `git` fails, but `OSError` if it cannot be run, and
    `subprocess.TimeoutExpired` after `seconds`; None is no limit.
    """
    settings = (part for name, value in _SETTINGS.items() for part in ("-c", f"{name}={value}"))
    options = ("--no-replace-objects", "--no-optional-locks", "--no-pager")
    own = {name: value for name, value in os.environ.items() if _is_kept(name)}
    return subprocess.run(  # noqa: S603 - no shell
        ["git", *settings, *options, *arguments],  # noqa: S607
        input=given,
        capture_output=True,
        check=False,
        env={**own, **_SET, **environment},
        timeout=seconds,
    )


def _is_kept(name: str) -> bool:
    return not name.startswith("GIT_") or name in _KEPT or name.startswith(_KEPT_BEGINNINGS)
