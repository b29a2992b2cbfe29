"""The program `git`, as it is called to ask one repository.

It has the user's own credentials, and says itself which servers they are for. It is kept from the rest: questions,
programs that an address names, and plain http, where everybody on the way can read a password.
"""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from stowplan.compiler.pins.resolvers.failure import UnresolvedError
from stowplan.compiler.pins.trust import is_loopback

_SECONDS = 120
_PROTOCOLS = {"https": "https:ssh", "ssh": "ssh:https", "git": "git:ssh:https", "http": "http:https"}
"""What git may use for an address of each scheme: redirects, and `insteadOf` of the user, lead to another one."""

_QUIET = {"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "", "SSH_ASKPASS": "", "TZ": "UTC", "LC_ALL": "C"}
"""Nobody is there to answer a question."""


@dataclass(frozen=True, slots=True)
class Git:
    """Calls of git for the repository at `url`. `scratch` is an empty folder."""

    url: str
    scratch: str

    @property
    def may_ask(self) -> bool:
        """Whether the scheme of the address is one that runs no program of the address."""
        return not self.url.startswith("-") and self._scheme in _PROTOCOLS

    @property
    def has_credentials(self) -> bool:
        """Whether git looks for credentials: not by plain http to another machine."""
        return self._scheme != "http" or self._is_local

    def run(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        """Call git, which may fail. Raises `UnresolvedError` if it cannot be run, or does not end."""
        local = ("-c", "http.followRedirects=false") if self._is_local else ()
        try:
            return subprocess.run(  # noqa: S603 - no shell, and no argument from a spec can be an option
                ["git", *local, *arguments],  # noqa: S607
                capture_output=True,
                check=False,
                cwd=(_work_tree() if self.has_credentials else None) or self.scratch,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                timeout=_SECONDS,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            reason = "it does not answer" if isinstance(error, subprocess.TimeoutExpired) else "git cannot be run"
            raise UnresolvedError(f"The repository cannot be read: {reason}.", "Try `git ls-remote` with it.") from None

    def _environment(self) -> Mapping[str, str]:
        ssh = os.environ.get("GIT_SSH_COMMAND") or "ssh -oBatchMode=yes"
        own = _QUIET | {"GIT_ALLOW_PROTOCOL": _PROTOCOLS[self._scheme], "GIT_SSH_COMMAND": ssh}
        own["GIT_CEILING_DIRECTORIES"] = str(Path(self.scratch).parent)
        if self._is_local:
            return os.environ | own | {"no_proxy": "*"}
        if self.has_credentials:
            return os.environ | own
        # Without the user's configuration and home git knows no helper, no header, no cookie and no `.netrc`.
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        home = {"HOME": self.scratch, "XDG_CONFIG_HOME": self.scratch, "GIT_CONFIG_NOSYSTEM": "1"}
        return kept | own | home

    @property
    def _scheme(self) -> str:
        return urlsplit(self.url).scheme or "ssh"

    @property
    def _is_local(self) -> bool:
        """Whether the repository is asked for by plain http, on this machine."""
        return self._scheme == "http" and is_loopback(urlsplit(self.url).hostname or "")


def _work_tree() -> Path | None:
    """Return the top of the work tree, whose configuration is the user's; None without one.

    In another folder git would obey the configuration of one that looks like a bare repository, and a branch may have
    one.
    """
    here = Path.cwd()
    return next((each for each in (here, *here.parents) if os.path.lexists(each / ".git")), None)
