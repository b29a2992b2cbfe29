"""Commits of branches and tags, by the program `git` and with the user's own credentials."""

import re
from collections.abc import Mapping
from tempfile import TemporaryDirectory

from stowplan.compiler.pins.resolvers.failure import UnresolvedError
from stowplan.compiler.pins.resolvers.git_program import Git
from stowplan.library.dialects.reading.floating import FloatingReference
from stowplan.schema.lock import GitPin

_LONGEST = 200
"""Characters of a subject."""
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def resolve(reference: FloatingReference) -> GitPin:
    """Return the commit of a branch or tag, with subject and date if the server has them. Raises `UnresolvedError`."""
    url, ref = reference.address, reference.revision or "HEAD"
    with TemporaryDirectory(prefix="stowplan-pin-") as scratch:
        git = Git(url, scratch)
        if ref.startswith("-") or not git.may_ask:
            raise UnresolvedError(f"{url} with {ref} is no repository that git may ask.", "Use https or ssh.")
        name, commit = _commit(git, ref)
        about = _about(git, name, commit)
    return GitPin(commit=commit, subject=about.get("subject"), date=about.get("date"))


def _commit(git: Git, ref: str) -> tuple[str, str]:
    """Return the whole name of a ref and its commit by `git ls-remote`; of an annotated tag, the commit that it is on.

    A name that a branch and a tag have is refused: whoever may push one of them could take the place of the other.
    """
    branch, tag = f"refs/heads/{ref}", f"refs/tags/{ref}"
    done = git.run("ls-remote", "--", git.url, ref, branch, tag, f"{ref}^{{}}", f"{tag}^{{}}")
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        reason = said[-1].removeprefix("fatal: ").rstrip(".") if said else "git failed"
        message = f"git cannot read {git.url}: {reason}."
        hint = "Check the address, and that git has credentials for it on this machine."
        open_hint = "Check the address. If it wants a password, use https: no password is sent by plain http."
        raise UnresolvedError(message, hint if git.has_credentials else open_hint)
    lines = (line.partition("\t") for line in done.stdout.decode().splitlines())
    found = {name: commit for commit, _, name in lines}
    commits = {name: found.get(f"{name}^{{}}", found[name]) for name in (ref, branch, tag) if name in found}
    if ref not in commits and len({*commits.values()}) > 1:
        message = f"{git.url} has a branch and a tag {ref}, with different commits."
        raise UnresolvedError(message, f"Write which one you mean: `ref: {branch}` or `ref: {tag}`.")
    name, commit = next(iter(commits.items()), ("", ""))
    if not _COMMIT.fullmatch(commit):
        raise UnresolvedError(f"{git.url} has no branch or tag {ref}.", "Check its name.")
    return name, commit


def _about(git: Git, name: str, commit: str) -> Mapping[str, str]:
    """Return subject and date of a commit; empty if the server does not send one commit without its files.

    `name` is the whole name of the ref that it is on.
    """
    bare = f"--git-dir={git.scratch}/bare"
    fetch = ("fetch", "--quiet", "--depth=1", "--filter=tree:0", "--no-tags", "--", git.url, name)
    if git.run("init", "--quiet", "--bare", f"{git.scratch}/bare").returncode or git.run(bare, *fetch).returncode:
        return {}
    shape = ("--format=%cd%n%s", "--date=format-local:%Y-%m-%dT%H:%M:%SZ", "--encoding=UTF-8")
    show = git.run(bare, "rev-list", "--max-count=1", *shape, commit)
    # A line `commit …` comes first.
    _, _, text = show.stdout.decode(errors="replace").strip().partition("\n")
    date, _, subject = text.partition("\n")
    if show.returncode or not date:
        return {}
    return {"date": date, "subject": subject[:_LONGEST]} if subject else {"date": date}
