"""Git's own directory in a claim: what in it would lead Git to files elsewhere.

Whoever may write to the claim may have put something there. A clone that Git or Git LFS made has none of it.
"""

import os
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from stowplan.agents.attempt.failure import AttemptError
from stowplan.schema.agents.exit_codes import ExitCode

SHOWN = 10

_ELSEWHERE = (
    # https://git-scm.com/docs/gitrepository-layout
    "commondir",
    "config.worktree",
    "info/attributes",
    "info/grafts",
    "objects/info/alternates",
    "objects/info/http-alternates",
)
"""Files by which Git takes objects, settings or attributes from elsewhere, or sees another history."""

_KNOWN = re.compile(
    r"core\.(bare|compression|filemode|ignorecase|logallrefupdates|precomposeunicode|repositoryformatversion|symlinks"
    r"|worktree)"
    r"|remote\..*\.(url|pushurl|fetch|push|prune|tagopt)"
    r"|branch\..*\.(remote|pushremote|merge|rebase|description)"
    r"|submodule\.(active|.*\.(url|active|update|branch))"
    r"|filter\.lfs\.(clean|smudge|process|required)"
    r"|lfs\.(repositoryformatversion|.*\.(access|locksverify))"
    r"|user\.(name|email|useconfigonly)|(author|committer)\.(name|email)"
    r"|extensions\.objectformat"
    r"|init\.defaultbranch|pull\.(ff|rebase)|push\.(default|autosetupremote)|rebase\.(autosquash|autostash)"
    r"|rerere\.(enabled|autoupdate)|gc\.auto|maintenance\.(auto|strategy)|color\.ui|advice\..*",
    re.DOTALL,
)
"""The settings that a clone may have, in lower case but for their middle part: what `git clone`, `git lfs` and people
who commit write. None of them starts a program or leads a connection elsewhere: the variables of `configuration` come
before those of `filter.lfs`, and `GIT_WORK_TREE` before `core.worktree`."""


def check(directory: Path) -> None:
    """AttemptError (5) where a link, a device or a pipe, or a file of `_ELSEWHERE`, lies in it."""
    found = [name for name in _ELSEWHERE if os.path.lexists(directory / name)]
    found += islice(_special(directory), SHOWN)
    if found:
        names = ", ".join(map(repr, found[:SHOWN]))
        message = (
            f"{directory} holds links, special files, or files by which Git would take objects or settings from"
            f" elsewhere: {names}. Remove them, or remove the clone so that it is made anew"
        )
        raise AttemptError(ExitCode.CONFLICT, "Link", message)


def unknown(keys: Iterable[str]) -> list[str]:
    """The settings that a clone may not have, sorted."""
    return sorted({key for key in keys if not _KNOWN.fullmatch(key)})


def _special(directory: Path) -> Iterator[str]:
    """Paths below the directory that are neither a file nor a directory themselves."""
    folders = [directory]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for each in entries:
                if each.is_dir(follow_symlinks=False):
                    folders.append(Path(each.path))
                elif not each.is_file(follow_symlinks=False):
                    yield str(Path(each.path).relative_to(directory))
