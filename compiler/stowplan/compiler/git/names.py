"""Names of commits. A name that may mean several things is refused.

Whoever may push a tag can give it the name of a branch, and Git takes tags first: a tag `origin/main` in the place of
the branch `main` of the remote `origin`.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from stowplan.compiler.git.work_tree import GitError, ask

_OPERATOR = re.compile(r"[~^:]|@\{")
"""Where the name in a revision ends (gitrevisions)."""
_WHOLE = re.compile(r"HEAD|@|[0-9a-f]{40}(?:[0-9a-f]{24})?")
"""Names that Git never looks up among branches and tags, if it finds what they name; a commit by its whole ID."""
_PART = re.compile(r"[0-9a-f]{4,}")
_SHORT = ("refs/{}", "refs/tags/{}", "refs/heads/{}", "refs/remotes/{}", "refs/remotes/{}/HEAD")
"""The refs that a short name may mean, as Git tries them."""


def commit_of(top: Path, revision: str) -> str:
    """Return the whole ID of the commit that a revision names in the repository of the work tree `top`.

    Raises `GitError` if there is none, or if the name may mean several.
    """
    name = _OPERATOR.split(revision, maxsplit=1)[0]
    if name.startswith("refs/"):
        if name not in _refs(top, name):
            raise _missing(top, revision)
    elif name and not _WHOLE.fullmatch(name):
        _refuse_several(name, _meanings(top, name))
    found = _peeled(top, revision)
    if not found:
        raise _missing(top, revision)
    return found


def _meanings(top: Path, name: str) -> Mapping[str, str]:
    """Return the IDs of the commits that a short name may mean, by what it would be."""
    refs = _refs(top, *(rule.format(name) for rule in _SHORT))
    found = {ref: commit for ref in refs if (commit := _peeled(top, ref))} if len(refs) > 1 or _is_part(name) else {}
    if found and _is_part(name):
        objects = ask(top, "rev-parse", f"--disambiguate={name}").decode().split()
        found |= {f"the commit {each}": each for each in objects if _peeled(top, each) == each}
    return found


def _is_part(name: str) -> bool:
    return _PART.fullmatch(name) is not None


def _refuse_several(name: str, meanings: Mapping[str, str]) -> None:
    if len(set(meanings.values())) > 1:
        listed = [f"{what} ({commit[:12]})" for what, commit in meanings.items()]
        raise GitError(
            f"{name} may mean {', '.join(listed[:-1])} or {listed[-1]}. Give the whole name of the one that you mean,"
            " or remove the others: a tag with the name of a branch is often there to be taken for it."
        )


def _refs(top: Path, *names: str) -> list[str]:
    """Return those of these refs that exist, in this order."""
    # A pattern also fits what lies below it.
    found = set(ask(top, "for-each-ref", "--format=%(refname)", *names).decode(errors="surrogateescape").split("\n"))
    return [each for each in names if each in found]


def _peeled(top: Path, revision: str) -> str:
    try:
        found = ask(top, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    except GitError:
        return ""
    return found.decode().strip()


def _missing(top: Path, revision: str) -> GitError:
    return GitError(f"There is no commit {revision} here. {_way_out(top, revision)}")


def _way_out(top: Path, revision: str) -> str:
    if ask(top, "rev-parse", "--is-shallow-repository").strip() == b"true":
        return (
            "This clone is shallow: fetch the whole history (`fetch-depth: 0` on GitHub, `GIT_DEPTH: 0` on GitLab,"
            " else `git fetch --unshallow`)."
        )
    return "Commit something first." if revision == "HEAD" else "Fetch it first."
