"""Commits of branches and tags, by the program `git` and with the user's own credentials."""

import os
import re
import subprocess
from collections.abc import Mapping
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from stowplan.compiler.pins.pin import Reference
from stowplan.compiler.pins.resolvers.failure import UnresolvedError
from stowplan.schema.lock import GitPin

_SECONDS = 120
_LONGEST = 200
"""Characters of a subject."""
_PROTOCOLS = ("http", "https", "ssh", "git")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def resolve(reference: Reference) -> GitPin:
    """Return the commit that a branch or tag has now; with subject and date if the server sends a commit alone."""
    url, ref = reference.address, reference.revision or "HEAD"
    if url.startswith("-") or ref.startswith("-") or (urlsplit(url).scheme or "ssh") not in _PROTOCOLS:
        raise UnresolvedError(f"{url} with {ref} is no repository that git may ask.", "Use https or ssh.")
    commit = _commit(url, ref)
    about = _about(url, ref, commit)
    return GitPin(commit=commit, subject=about.get("subject"), date=about.get("date"))


def _commit(url: str, ref: str) -> str:
    """Return the commit of a ref by `git ls-remote`; of an annotated tag, the commit that it is on."""
    done = _git("ls-remote", "--", url, ref, f"refs/heads/{ref}", f"refs/tags/{ref}", f"refs/tags/{ref}^{{}}")
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        reason = said[-1].removeprefix("fatal: ").rstrip(".") if said else "git failed"
        message = f"git cannot read {url}: {reason}."
        raise UnresolvedError(message, "Check the address, and that git has credentials for it on this machine.")
    lines = (line.partition("\t") for line in done.stdout.decode().splitlines())
    found = {name: commit for commit, _, name in lines}
    names = (ref, f"refs/heads/{ref}", f"refs/tags/{ref}^{{}}", f"refs/tags/{ref}")
    commit = next((found[name] for name in names if name in found), "")
    if not _COMMIT.fullmatch(commit):
        raise UnresolvedError(f"{url} has no branch or tag {ref}.", "Check its name.")
    return commit


def _about(url: str, ref: str, commit: str) -> Mapping[str, str]:
    """Return subject and date of a commit; empty if the server does not send one commit without its files."""
    with TemporaryDirectory(prefix="stowplan-pin-") as folder:
        _git("init", "--quiet", "--bare", folder)
        fetch = ("fetch", "--quiet", "--depth=1", "--filter=tree:0", "--no-tags", "--", url, ref)
        if _git("-C", folder, *fetch).returncode:
            return {}
        show = _git(
            "-C", folder, "show", "--no-patch", "--format=%cd%n%s", "--date=format-local:%Y-%m-%dT%H:%M:%SZ", commit
        )
        date, _, subject = show.stdout.decode(errors="replace").strip().partition("\n")
        if show.returncode or not date:
            return {}
        return {"date": date, "subject": subject[:_LONGEST]} if subject else {"date": date}


def _git(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    # Nobody is there to answer a question, and only protocols that run no program of the address are allowed.
    quiet = {"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "", "SSH_ASKPASS": "", "TZ": "UTC", "LC_ALL": "C"}
    environment = os.environ | quiet | {"GIT_ALLOW_PROTOCOL": ":".join(_PROTOCOLS), "GIT_SSH_COMMAND": _ssh()}
    try:
        return subprocess.run(  # noqa: S603 - no shell, and no argument from a spec can be an option
            ["git", *arguments],  # noqa: S607
            capture_output=True,
            check=False,
            env=environment,
            stdin=subprocess.DEVNULL,
            timeout=_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        reason = "it does not answer" if isinstance(error, subprocess.TimeoutExpired) else "git cannot be run"
        raise UnresolvedError(f"The repository cannot be read: {reason}.", "Try `git ls-remote` with it.") from None


def _ssh() -> str:
    return os.environ.get("GIT_SSH_COMMAND") or "ssh -oBatchMode=yes"
