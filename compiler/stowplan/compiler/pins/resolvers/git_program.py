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

from stowplan.compiler.git import program
from stowplan.compiler.git.work_tree import top_of
from stowplan.compiler.pins.resolvers.failure import UnresolvedError
from stowplan.compiler.pins.trust import is_loopback

_SECONDS = 120
_PROTOCOLS = {"https": "https:ssh", "ssh": "ssh:https", "git": "git:ssh:https", "http": "http:https"}
"""What git may use for an address of each scheme: redirects, and `insteadOf` of the user, lead to another one."""

_QUIET = {"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "", "SSH_ASKPASS": "", "TZ": "UTC"}
"""Nobody is there to answer a question."""


@dataclass(frozen=True, slots=True)
class Git:
    """Calls of git for the repository at `url`. `scratch` is an empty folder that the caller makes and removes."""

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
        """Call git with these arguments, only if `may_ask` is true; see the exit code for a failure.

        Raises `UnresolvedError` if git cannot be run, or does not end in two minutes.
        """
        place = (top_of(Path.cwd()) if self.has_credentials else None) or self.scratch
        local = ("-c", "http.followRedirects=false") if self._is_local else ()
        try:
            # In another folder git would obey the configuration of one that looks like a bare repository, and a branch
            # may have one. That of the work tree is the user's.
            return program.run(
                *("-C", str(place), *local, *arguments), environment=self._environment(), seconds=_SECONDS
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            reason = "it does not answer" if isinstance(error, subprocess.TimeoutExpired) else "git cannot be run"
            raise UnresolvedError(f"The repository cannot be read: {reason}.", "Try `git ls-remote` with it.") from None

    def _environment(self) -> Mapping[str, str]:
        ssh = os.environ.get("GIT_SSH_COMMAND") or "ssh -oBatchMode=yes"
        own = {**_QUIET, "GIT_ALLOW_PROTOCOL": _PROTOCOLS[self._scheme], "GIT_SSH_COMMAND": ssh}
        own["GIT_CEILING_DIRECTORIES"] = str(Path(self.scratch).parent)
        if self._is_local:
            return own | {"no_proxy": "*"}
        if self.has_credentials:
            return own
        # Without the user's configuration and home git knows no helper, no header, no cookie and no `.netrc`.
        empty = {"GIT_CONFIG_COUNT": "0", "GIT_CONFIG_PARAMETERS": "", "GIT_CONFIG_GLOBAL": os.devnull}
        return own | empty | {"HOME": self.scratch, "XDG_CONFIG_HOME": self.scratch, "GIT_CONFIG_NOSYSTEM": "1"}

    @property
    def _scheme(self) -> str:
        return urlsplit(self.url).scheme or "ssh"

    @property
    def _is_local(self) -> bool:
        """Whether the repository is asked for by plain http, on this machine."""
        return self._scheme == "http" and is_loopback(urlsplit(self.url).hostname or "")
