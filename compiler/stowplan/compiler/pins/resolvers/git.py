"""Commits of branches and tags, by the program `git` and with the user's own credentials."""

import re
from collections.abc import Mapping
from tempfile import TemporaryDirectory

from stowplan.compiler.pins.pin import Reference
from stowplan.compiler.pins.resolvers.failure import UnresolvedError
from stowplan.compiler.pins.resolvers.git_program import Git
from stowplan.schema.lock import GitPin

_LONGEST = 200
"""Characters of a subject."""
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def resolve(reference: Reference) -> GitPin:
    """Return the commit that a branch or tag has now; with subject and date if the server sends a commit alone."""
    url, ref = reference.address, reference.revision or "HEAD"
    with TemporaryDirectory(prefix="stowplan-pin-") as scratch:
        git = Git(url, scratch)
        if ref.startswith("-") or not git.may_ask:
            raise UnresolvedError(f"{url} with {ref} is no repository that git may ask.", "Use https or ssh.")
        commit = _commit(git, ref)
        about = _about(git, ref, commit)
    return GitPin(commit=commit, subject=about.get("subject"), date=about.get("date"))


def _commit(git: Git, ref: str) -> str:
    """Return the commit of a ref by `git ls-remote`; of an annotated tag, the commit that it is on."""
    done = git.run("ls-remote", "--", git.url, ref, f"refs/heads/{ref}", f"refs/tags/{ref}", f"refs/tags/{ref}^{{}}")
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        reason = said[-1].removeprefix("fatal: ").rstrip(".") if said else "git failed"
        message = f"git cannot read {git.url}: {reason}."
        hint = "Check the address, and that git has credentials for it on this machine."
        open_hint = "Check the address. If it wants a password, use https: no password is sent by plain http."
        raise UnresolvedError(message, hint if git.has_credentials else open_hint)
    lines = (line.partition("\t") for line in done.stdout.decode().splitlines())
    found = {name: commit for commit, _, name in lines}
    names = (ref, f"refs/heads/{ref}", f"refs/tags/{ref}^{{}}", f"refs/tags/{ref}")
    commit = next((found[name] for name in names if name in found), "")
    if not _COMMIT.fullmatch(commit):
        raise UnresolvedError(f"{git.url} has no branch or tag {ref}.", "Check its name.")
    return commit


def _about(git: Git, ref: str, commit: str) -> Mapping[str, str]:
    """Return subject and date of a commit; empty if the server does not send one commit without its files."""
    bare = f"--git-dir={git.scratch}/bare"
    fetch = ("fetch", "--quiet", "--depth=1", "--filter=tree:0", "--no-tags", "--", git.url, ref)
    if git.run("init", "--quiet", "--bare", f"{git.scratch}/bare").returncode or git.run(bare, *fetch).returncode:
        return {}
    show = git.run(bare, "show", "--no-patch", "--format=%cd%n%s", "--date=format-local:%Y-%m-%dT%H:%M:%SZ", commit)
    date, _, subject = show.stdout.decode(errors="replace").strip().partition("\n")
    if show.returncode or not date:
        return {}
    return {"date": date, "subject": subject[:_LONGEST]} if subject else {"date": date}
