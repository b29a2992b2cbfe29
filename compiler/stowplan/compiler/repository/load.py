"""Read a user's repository: the platform file and every YAML file below `specs`.

Files are untrusted input, as in a pull request: limits bound their size and number, links may not lead out of the
repository, and only regular files are opened.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from stowplan.compiler.diagnostics.document import Document, Node
from stowplan.compiler.diagnostics.locations import START
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.environments.target import Target
from stowplan.compiler.git.commit import at_commit
from stowplan.compiler.pins import lock_file
from stowplan.compiler.pins.pinning import Pinning
from stowplan.compiler.repository.files import Files, printable
from stowplan.compiler.repository.layout import SPECS, Repository
from stowplan.compiler.repository.spec_finder import SpecFinder
from stowplan.compiler.yaml import reader
from stowplan.schema.diagnostics import Finding, finding
from stowplan.schema.wording import counted

if TYPE_CHECKING:
    from stowplan.schema.lock import Lock

_NEAR = (
    "The file looks like a spec, but its name does not end in .yaml or .yml in lower case, so it was passed over.",
    "Rename it to end in .yaml, after a template engine has written it; JSON is YAML too. Names in .off are ignored.",
)


@dataclass(frozen=True, slots=True)
class Sources:
    """What a target is compiled from: its platform file, and its documents in the order of their files and positions.

    `incomplete` is whether a file of it could not be read.
    """

    target: Target
    platform: Document
    documents: tuple[Document, ...]
    pinning: Pinning
    incomplete: bool = False

    def prepared(self, document: Document, report: Report) -> Document:
        """Return the document of a spec with the target's patches and its pins. What is wrong goes to `report`."""
        return self.pinning.of_spec(self.target.patched(document, report), report)


class Checkout:
    """The files of a repository: found at once, each read on first use, for whatever number of targets.

    `contents` were just read, by path in the repository. `platform` is the platform file as it is written; `runs` is
    the list of finished runs and `lock` the lock file, None if there is none. Files in results are printable paths.
    """

    def __init__(self, repo: Repository, contents: Mapping[str, bytes] | None = None) -> None:
        self.repo = repo
        self._files = Files(repo.folder, contents or {})
        self.platform = _platform(self._files, repo.platform_files)
        self.runs = _optional(self._files, repo.runs_file, *_OTHER_RUNS)
        self.lock = _optional(self._files, repo.lock_file, *_OTHER_LOCK)
        self._finder = SpecFinder(self._files)
        self._paths = self._finder.find()
        for path in self._finder.near:
            self._files.report_at(path, START, finding("SP116", (), *_NEAR))

    def report_platform(self, report: Report) -> None:
        """Add what there is to be said of the platform file itself to `report`."""
        report.add(*self._files.said.get(self.platform.file, ()))

    @property
    def spec_files(self) -> frozenset[str]:
        """The paths of all files of specs, also of those that belong to some environments only."""
        return frozenset(map(printable, self._paths))

    @property
    def texts(self) -> Mapping[str, str]:
        """The contents, as strings, of the files whose documents were read, by path."""
        return self._files.texts

    def sources(self, target: Target, report: Report, *, collecting: bool = False) -> Sources:
        """Return the documents of a target with its patches and with what the lock file pins.

        With `collecting`, the `pinning` of the result has all that can be pinned. What is wrong with the files of the
        target, or with the repository as a whole, goes to `report`.
        """
        files = self._files
        paths = [path for path in self._paths if target.includes(path)]
        documents = [each for path in paths for each in files.documents(path) or ()]
        others = {printable(path) for path in self._paths}.difference(map(printable, paths))
        report.add(*(each for path, found in files.said.items() if path not in others for each in found))
        failed = report.failed
        pinning = Pinning.of(self.lock, target.platform, report)
        pinning.collected = [] if collecting else None
        platform = pinning.of_platform(target.platform, report)
        if not (documents or failed or self.repo.app or platform.data.get("extensions")):
            found = _nothing_found(files, len(paths), self._finder)
            report.add_findings(Document(SPECS, 0, Node({}, START, START)), [found])
        sources = Sources(target, platform, (), pinning)
        prepared = tuple(sources.prepared(each, report) for each in documents)
        return replace(sources, documents=prepared, incomplete=report.failed)


_OTHER_RUNS = ("SP758", "The list of finished runs is one document; this is another.")
_OTHER_LOCK = ("SP901", "The lock file is one document; this is another.")


def lock_at_commit(top: Path, repo: Repository, revision: str) -> "Lock | None":
    """Return the lock file of a repository in a commit; None if the commit has none, or one that is not valid.

    `top` is the work tree. Raises `GitError` if the commit cannot be read.
    """
    content = at_commit(top, repo.folder, revision).read([repo.lock_file]).get(repo.lock_file)
    if content is None:
        return None
    documents, _ = reader.read(content.decode(errors="replace"), repo.lock_file)
    return lock_file.read(documents[0], Report()) if len(documents) == 1 else None


def texts(paths: Sequence[str], report: Report) -> Mapping[str, str]:
    """Return the contents of YAML files (`paths` from the current folder) by printable path; problems are reported."""
    files = Files(Path(), {})
    for path in paths:
        files.documents(path)
    report.add(*(each for found in files.said.values() for each in found))
    return files.texts


def _optional(files: Files, name: str, code: str, message: str) -> Document | None:
    """Return the document of a file with one document; None if there is no such file. Another document is `code`."""
    if not os.path.lexists(files.repo / name) or not files.may_follow(name):
        return None
    documents = files.documents(name)
    for extra in (documents or ())[1:]:
        files.report_at(extra.file, extra.root.mark, finding(code, (), message, "Join them."))
    return documents[0] if documents else None


def _nothing_found(files: Files, number: int, finder: SpecFinder) -> Finding:
    names = [printable(path) for path in finder.passed_over]
    more = finder.number_passed_over - len(names)
    others = f" Passed over: {', '.join(names)}{f' and {more} more' if more else ''}." if names else ""
    if not os.path.lexists(files.repo / SPECS):
        message = f"There is no folder {SPECS} next to the platform file, so there is nothing to compile."
    elif number:
        message = f"There is no document in the {counted(number, 'file')} ending in .yaml or .yml below {SPECS}."
    else:
        message = f"No file below {SPECS} ends in .yaml or .yml, so there is nothing to compile."
    return finding("SP115", (), message + others, f"Put specs into files such as {SPECS}/imagenet.yaml.")


def _platform(files: Files, names: Sequence[str]) -> Document:
    """Return the document of the platform file; one that is `refused` as a whole if the file cannot be read.

    `names` are the paths that it may have.
    """
    present = [name for name in names if os.path.lexists(files.repo / name)]
    if not present:
        message = f"There is no {printable(names[0])}."
        begin = " `stowplan init` writes one, with an example." if len(names) > 1 else ""
        files.report_at(names[0], START, finding("SP113", (), message, f"Create it; an empty file is enough.{begin}"))
        return _nothing(names[0])
    if len(present) > 1:
        message = f"There are two platform files, {' and '.join(present)}; a repository has one."
        files.report_at(present[1], START, finding("SP113", (), message, f"Remove {present[1]}."))
    documents = files.documents(present[0]) if files.may_follow(present[0]) else None
    if documents is None:
        return _nothing(present[0])
    for extra in documents[1:]:
        message = "The platform file holds one document; this is another."
        found = finding("SP113", (), message, f"Move specs into files below {SPECS}.")
        files.report_at(extra.file, extra.root.mark, found)
    return documents[0] if documents else Document(present[0], 0, Node({}, START, START))


def _nothing(path: str) -> Document:
    return Document(printable(path), 0, Node({}, START, START), refused=frozenset({()}))
