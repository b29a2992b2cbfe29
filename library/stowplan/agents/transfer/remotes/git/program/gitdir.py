"""Check of Git's own directory in a claim for files and settings that lead Git to files elsewhere.

Anyone with write access to the claim may have added them. Git and Git LFS create none in a clone.
"""

import os
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from stowplan.agents.attempt.failure import SHOWN, AttemptError
from stowplan.schema.agents.exit_codes import ExitCode

_ELSEWHERE = (
    # https://git-scm.com/docs/gitrepository-layout
    "commondir",
    "config.worktree",
    "info/attributes",
    "info/grafts",
    "objects/info/alternates",
    "objects/info/http-alternates",
)
"""Files that let Git read objects, settings or attributes from other paths, or that change the visible history."""

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
"""Settings that a clone may have, in lower case except for their middle part: those that `git clone`, `git lfs` and
committing people write. None of them starts a program or leads a connection to another server: the variables of
`configuration` override those of `filter.lfs`, and `GIT_WORK_TREE` overrides `core.worktree`.
"""


def check(directory: Path) -> None:
    """Raise AttemptError (exit code 5) if the directory `.git` of a clone holds what leads elsewhere.

    That is a link, a special file, or a file by which Git takes objects, settings or history from elsewhere, such as
    `objects/info/alternates`.
    """
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
    """Return those of `keys`, names as in `git config --list`, that a clone may not have: sorted, each once."""
    return sorted({key for key in keys if not _KNOWN.fullmatch(key)})


def _special(directory: Path) -> Iterator[str]:
    """Yield the relative paths below a directory that are neither files nor directories, such as links."""
    folders = [directory]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for each in entries:
                if each.is_dir(follow_symlinks=False):
                    folders.append(Path(each.path))
                elif not each.is_file(follow_symlinks=False):
                    yield str(Path(each.path).relative_to(directory))
