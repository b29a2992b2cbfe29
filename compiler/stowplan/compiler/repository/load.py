"""Read a user's repository: the platform file and every YAML file below `specs`.

Files are untrusted input, as in a pull request: limits bound their size and number, links may not lead out of the
repository, and only regular files are opened.
"""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from stowplan.compiler.diagnostics.document import Document, Node
from stowplan.compiler.diagnostics.locations import START
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.environments.target import Target
from stowplan.compiler.model import Sources
from stowplan.compiler.pins import lock_file
from stowplan.compiler.pins.pinning import Pinning
from stowplan.compiler.repository.files import Files, printable
from stowplan.compiler.repository.layout import SPECS, Repository
from stowplan.compiler.repository.spec_finder import SpecFinder
from stowplan.compiler.yaml import reader
from stowplan.schema.diagnostics import Finding, finding
from stowplan.schema.lock import Lock
from stowplan.schema.wording import counted

_NEAR = (
    "The file looks like a spec, but its name does not end in .yaml or .yml in lower case, so it was passed over.",
    "Rename it to end in .yaml, after a template engine has written it; JSON is YAML too. Names in .off are ignored.",
)


class Loading:
    """Reader of a repository: finds all files and reads their contents at once, but parses documents only on request.

    `contents` are contents that were just read, by path. Names of files in arguments and results are printable paths.
    With a `target`, the platform file is that of the target, other files than those of its environment are not read,
    and documents are patched. With `collecting`, `pinning` collects what can be pinned.
    """

    def __init__(
        self,
        repo: Repository,
        report: Report,
        contents: Mapping[str, bytes],
        target: Target | None = None,
        *,
        collecting: bool = False,
    ) -> None:
        self._files = Files(repo.folder, report, contents)
        self._report = report
        self._target = target
        self._last: dict[str, list[Document]] = {}
        self._read: list[Document] = []
        written = load_platform(self._files, repo.platform_files)
        self.platform = target.platform if target else written
        self.runs = _load_runs(self._files, repo.runs_file)
        self.pinning = Pinning.of(_load_lock(self._files, repo.lock_file), self.platform, report)
        self.pinning.collected = [] if collecting else None
        if self.platform:
            self.platform = self.pinning.of_platform(self.platform, report)
        self._finder = SpecFinder(self._files)
        self._all = self._finder.find()
        self._paths = [path for path in self._all if target is None or target.includes(path)]
        self._files.take(self._paths)

    @property
    def all_files(self) -> frozenset[str]:
        """The paths of all files of specs, also of those that do not belong to the environment of the target."""
        return frozenset(map(printable, self._all))

    @property
    def digests(self) -> Mapping[str, str]:
        """A digest of the content of each file, the platform file included, by printable path."""
        return self._files.digests

    @property
    def texts(self) -> Mapping[str, str]:
        """The contents, as strings, of the files whose documents were read, by printable path."""
        return self._files.texts

    def sources(self, without: Collection[str] = ()) -> Sources:
        """Return the platform document and the documents of all files except `without`. Call this once.

        Also reports files with nearly the name of a spec file, and a repository without any documents.
        """
        files, finder, paths = self._files, self._finder, self._paths
        documents = self.documents({printable(path) for path in paths}.difference(without))
        self._read = documents
        for path in finder.near:
            files.report_at(path, START, finding("SP116", (), *_NEAR))
        extended = self.platform and self.platform.data.get("extensions")
        if not (documents or self._report.failed or extended or without):
            files.report_at(SPECS, START, _nothing_found(files, len(paths), finder))
        return Sources(self.platform, tuple(documents), files.texts)

    def documents(self, names: Collection[str]) -> list[Document]:
        """Return the documents of some files, in the order of the files; problems are reported."""
        found = (each for path in self._paths if printable(path) in names for each in self._files.read(path) or ())
        return self._patched(found, self._report)

    def reread(self, name: str) -> list[Document]:
        """Return the documents of a file that has no errors, by parsing it again. Only the last result is cached."""
        if name not in self._last:
            self._last = {name: self._patched(reader.read(self.text(name), name)[0], Report())}
        return self._last[name]

    def _patched(self, documents: Iterable[Document], report: Report) -> list[Document]:
        """Return documents with the patches of the environment, and with what the lock file pins."""
        target = self._target
        patched = (target.patched(each, report) if target else each for each in documents)
        return [self.pinning.of_spec(each, report) for each in patched]

    @property
    def pins(self) -> Iterable[tuple[str, ...]]:
        """The entries of the lock file in the documents that were read, and in the platform file; see `Document`."""
        return [each.pins for each in (*self._read, *([self.platform] if self.platform else []))]

    def text(self, name: str) -> str:
        """Return the content of a file without errors as a string."""
        return self._files.texts.get(name) or self._files.contents[name].decode("utf-8-sig")


def platform_document(repo: Repository, report: Report) -> tuple[Document | None, Mapping[str, str]]:
    """Return the document of the platform file, None if it is missing or cannot be read, and its content by path."""
    files = Files(repo.folder, report, {})
    return load_platform(files, repo.platform_files), files.texts


def lock_of(repo: Repository) -> Lock | None:
    """Return the lock file of a repository; None if there is none, or one that is not valid."""
    report = Report()
    return lock_file.read(_load_lock(Files(repo.folder, report, {}), repo.lock_file), report)


def texts(paths: Sequence[str], report: Report) -> Mapping[str, str]:
    """Return the contents of files as strings, by printable path; files that cannot be read are reported."""
    files = Files(Path(), report, {})
    files.take(paths)
    for path in paths:
        files.read(path)
    return files.texts


def _load_runs(files: Files, name: str) -> Document | None:
    """Return the document of the list of finished runs, whose path is `name`; None if there is none."""
    if not os.path.lexists(files.repo / name) or not files.may_follow(name):
        return None
    files.take([name])
    documents = files.read(name)
    for extra in (documents or ())[1:]:
        found = finding("SP758", (), "The list of finished runs is one document; this is another.", "Join them.")
        files.report_at(extra.file, extra.root.mark, found)
    return documents[0] if documents else None


def _load_lock(files: Files, name: str) -> Document | None:
    """Return the document of the lock file, whose path is `name`; None if there is none."""
    if not os.path.lexists(files.repo / name) or not files.may_follow(name):
        return None
    files.take([name])
    documents = files.read(name)
    for extra in (documents or ())[1:]:
        found = finding("SP901", (), "The lock file is one document; this is another.", "Join them.")
        files.report_at(extra.file, extra.root.mark, found)
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


def load_platform(files: Files, names: Sequence[str]) -> Document | None:
    """Return the document of the platform file; None if it is missing or cannot be read, which is reported.

    `names` are the paths that it may have.
    """
    present = [name for name in names if os.path.lexists(files.repo / name)]
    if not present:
        message = f"There is no {printable(names[0])}."
        begin = " `stowplan init` writes one, with an example." if len(names) > 1 else ""
        files.report_at(names[0], START, finding("SP113", (), message, f"Create it; an empty file is enough.{begin}"))
        return None
    if len(present) > 1:
        message = f"There are two platform files, {' and '.join(present)}; a repository has one."
        files.report_at(present[1], START, finding("SP113", (), message, f"Remove {present[1]}."))
    files.take(present[:1] if files.may_follow(present[0]) else ())
    documents = files.read(present[0])
    if documents is None:
        return None
    for extra in documents[1:]:
        message = "The platform file holds one document; this is another."
        found = finding("SP113", (), message, f"Move specs into files below {SPECS}.")
        files.report_at(extra.file, extra.root.mark, found)
    return documents[0] if documents else Document(present[0], 0, Node({}, START, START))
