"""Whether Git holds the output folder as it was checked on the disk: Argo CD gets what Git holds.

A setting of a submodule mutes every comparison of it, and the disk shows an empty folder or nothing. Attributes can
change files on their way from a commit to the disk.
"""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from stowplan.compiler.diagnostics.ci import in_ci
from stowplan.compiler.diagnostics.report import Diagnostic, diagnose_at
from stowplan.compiler.git.index import LINK, SUBMODULE, Held, held
from stowplan.compiler.output import paths
from stowplan.compiler.output.folder import OutputFolder, scan
from stowplan.schema.diagnostics import finding


def problems(out: Path, repo: Path) -> Iterator[Diagnostic]:
    """Yield SP538 for each submodule and link that Git holds in the output folder `out` of the repository `repo`.

    In CI, where the disk shows a commit, yield SP539 too if Git holds other files than the disk. Nothing is yielded
    without a Git work tree. Raises `GitError` if Git cannot be asked, and `OSError` if a file cannot be read.
    """
    found = held(out, repo)
    for path, mode, _ in found:
        if mode in (SUBMODULE, LINK):
            yield _special(out, path, mode)
    files = [each for each in found if each.mode not in (SUBMODULE, LINK)]
    if in_ci() and files:
        different = sorted(_different(scan(out), files))
        if different:
            yield _changed(out, different)


def _special(out: Path, path: str, mode: str) -> Diagnostic:
    what = "a submodule, whose files Argo CD fetches from elsewhere" if mode == SUBMODULE else "a link"
    message = f"Git holds {what}, in the place of generated files."
    hint = f"Take it out of Git: `git rm --cached --force -- {paths.location(out, path).file}`, and commit that."
    return diagnose_at(paths.location(out, path), finding("SP538", (), message, hint))


def _different(tree: OutputFolder, files: Sequence[Held]) -> Iterator[str]:
    """Yield the paths of the files that Git lacks or holds with other bytes, and of those that the disk lacks."""
    known = {each.path: each.blob for each in files}
    # At the top of a work tree are other files too, and not all are for Git.
    yield from () if tree.is_work_tree else tree.files - known.keys()
    for path, blob in known.items():
        content = tree.read(path)
        if content is None or _blob(content, len(blob)) != blob:
            yield path


def _blob(content: bytes, length: int) -> str:
    """Return the Git object ID of a file with this content, of the given length in hexadecimal digits."""
    digest = hashlib.new("sha1" if length == 40 else "sha256", usedforsecurity=False)
    digest.update(b"blob %d\0" % len(content))
    digest.update(content)
    return digest.hexdigest()


def _changed(out: Path, different: Sequence[str]) -> Diagnostic:
    others = f", and neither {len(different) - 1} others" if len(different) > 1 else ""
    message = f"Git does not hold this file as it is checked here{others}."
    hint = (
        "Commit the output as it is: `git add --all --force` with the folder. If it is committed, a line of a"
        " .gitattributes changes files between a commit and the disk: remove it."
    )
    return diagnose_at(paths.location(out, different[0]), finding("SP539", (), message, hint))
