"""Reads a user's repository: the platform file and every YAML file below `specs`.

Files are untrusted input, as in a pull request: limits bound their size and number, links may not lead out of the
repository, and nothing is opened that is not a regular file.
"""

import errno
import os
import re
import stat
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE
from collections.abc import Callable, Collection, Mapping, Sequence
from hashlib import blake2b
from heapq import heappop, heappush
from pathlib import Path

from stowplan.compiler import yaml_reader
from stowplan.compiler.model import Sources
from stowplan.compiler.repository import MAX_FILE_SIZE, PLATFORM_FILES, SPECS, SUFFIXES, read
from stowplan.compiler.source import START, Document, Lines, Location, Mark, Node, Report, diagnose_at
from stowplan.schema.diagnostics import Finding, finding
from stowplan.schema.wording import counted

_NEARLY = re.compile(r"(?i)\.ya?ml(?:\.(?:txt|j2|jinja2?|tmpl|tpl|gotmpl|template))?\Z")
"""How names of specs end that an editor or a template engine has changed."""

_NEAR = (
    "The file looks like a spec, but its name does not end in .yaml or .yml in lower case, so it was passed over.",
    "Rename it to end in .yaml, after a template engine has written it; to keep it aside, end its name in .off.",
)
_PASSED_OVER_SHOWN = 5

MAX_FILES = 20_000
"""Files below `specs`. Four times the largest repository we plan for; more is a folder linked or copied by mistake."""

_WIDE_ENCODINGS = (
    (BOM_UTF32_LE, "UTF-32"),
    (BOM_UTF32_BE, "UTF-32"),
    (BOM_UTF16_LE, "UTF-16"),
    (BOM_UTF16_BE, "UTF-16"),
)
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


Choice = Callable[[Mapping[str, str]], Collection[str]]
"""Given the digests of all files by path, says which are to be read."""


def load(repo: Path, report: Report, choose: Choice | None = None) -> Sources:
    """The documents of the repository in the folder `repo`; with `choose`, only those in files that it asks for.

    What cannot be read goes to `report` and is left out. Documents come in the byte order of their files' paths.
    Where there are none although nothing is wrong, a warning says what was looked at.
    """
    files = _Files(repo, report)
    platform = _load_platform(files)
    finder = _SpecFinder(files)
    paths = finder.find()
    wanted = files.chosen(paths, choose) if choose else paths
    documents = [document for path in wanted for document in files.read(path) or ()]
    for path in finder.near:
        files.report_at(path, START, finding("SP116", (), *_NEAR))
    if not (documents or report.failed or (platform and platform.data.get("extensions")) or len(wanted) < len(paths)):
        files.report_at(SPECS, START, _nothing_found(files, len(paths), finder))
    return Sources(platform, tuple(documents), files.texts, files.digests, files.unread)


def documents_of(content: bytes, name: str) -> Sequence[Document]:
    """Those of a file that was read without errors before."""
    return yaml_reader.read(content.removeprefix(BOM_UTF8).decode(), name)[0]


def texts(paths: Sequence[str], report: Report) -> Mapping[str, str]:
    """The texts of files, by path; those that cannot be read are reported."""
    files = _Files(Path(), report)
    for path in paths:
        files.read(path)
    return files.texts


def _nothing_found(files: "_Files", number: int, finder: "_SpecFinder") -> Finding:
    names = [_printable(path) for path in finder.passed_over]
    more = finder.number_passed_over - len(names)
    others = f" Passed over: {', '.join(names)}{f' and {more} more' if more else ''}." if names else ""
    if not os.path.lexists(files.repo / SPECS):
        message = f"There is no folder {SPECS} beside the platform file, so there is nothing to compile."
    elif number:
        message = f"There is no document in the {counted(number, 'file')} ending in .yaml or .yml below {SPECS}."
    else:
        message = f"No file below {SPECS} ends in .yaml or .yml, so there is nothing to compile."
    return finding("SP115", (), message + others, f"Put specs into files such as {SPECS}/imagenet.yaml.")


def _load_platform(files: "_Files") -> Document | None:
    present = [name for name in PLATFORM_FILES if os.path.lexists(files.repo / name)]
    if not present:
        hint = "Create it; an empty file is enough."
        files.report_at(PLATFORM_FILES[0], START, finding("SP113", (), "There is no stowplan.yaml.", hint))
        return None
    if len(present) > 1:
        message = f"There are two platform files, {' and '.join(present)}; a repository has one."
        files.report_at(present[1], START, finding("SP113", (), message, f"Remove {present[1]}."))
    documents = files.read(present[0]) if files.may_follow(present[0]) else None
    if documents is None:
        return None
    for extra in documents[1:]:
        message = "The platform file holds one document; this is another."
        found = finding("SP113", (), message, f"Move specs into files below {SPECS}.")
        files.report_at(extra.file, extra.root.mark, found)
    return documents[0] if documents else Document(present[0], 0, Node({}, START, START))


class _Files:
    """Reads files of one repository by their paths relative to it."""

    def __init__(self, repo: Path, report: Report) -> None:
        self.repo = repo
        self.texts: dict[str, str] = {}
        self.digests: dict[str, str] = {}
        self.unread: dict[str, bytes] = {}
        self._root = os.path.realpath(repo)
        self._folder = f"{repo}/" if repo.parts else ""
        self._report = report

    def report_at(self, path: str, mark: Mark, found: Finding) -> None:
        self._report.add(diagnose_at(Location(_printable(path), mark.line, mark.column), found))

    def real(self, path: str) -> str:
        return os.path.realpath(self.repo / path)

    def may_follow(self, path: str) -> bool:
        """Whether `path` leads to a place inside the repository; what does not is reported."""
        if Path(self.real(path)).is_relative_to(self._root):
            return True
        message = "The link leads out of the repository."
        self.report_at(path, START, finding("SP109", (), message, "Copy what it leads to into the repository."))
        return False

    def refuse(self, path: str, reason: str) -> None:
        """Report a path that cannot be read."""
        self.report_at(path, START, finding("SP112", (), f"This cannot be read: {reason}.", "Correct or remove it."))

    def chosen(self, paths: Sequence[str], choose: Choice) -> list[str]:
        """Those of the files that `choose` asks for, and those that cannot be read; of the others, the contents."""
        for path in paths:
            content = self._content(path)
            if content is not None:
                self.unread[_printable(path)] = content
        wanted = choose(self.digests)
        return [path for path in paths if _printable(path) in wanted or _printable(path) not in self.unread]

    def read(self, path: str) -> list[Document] | None:
        """The documents of one file; None where it has some, but none of them can be read."""
        name = _printable(path)
        known = self.unread.pop(name, None)
        content = self._content(path) if known is None else known
        text = None if content is None else self._decode(path, content)
        if text is None:
            return None
        self.texts[name] = text
        documents, diagnostics = yaml_reader.read(text, name)
        self._report.add(*diagnostics)
        return documents or (None if diagnostics else [])

    def _content(self, path: str) -> bytes | None:
        place = f"{self._folder}{path}"
        try:
            kind = stat.S_IFMT(os.stat(place).st_mode)  # noqa: PTH116 - for thousands of files, a Path costs as much
            if kind != stat.S_IFREG:
                self.refuse(path, f"it is {_KINDS.get(kind, 'no regular file')}")
                return None
            content = read(place)
        except OSError as error:
            self.refuse(path, _reason(error))
            return None
        if len(content) <= MAX_FILE_SIZE:
            self.digests[_printable(path)] = blake2b(content, digest_size=16).hexdigest()
            return content
        message = f"The file is larger than {MAX_FILE_SIZE:,} bytes."
        self.report_at(path, START, finding("SP105", (), message, "Split it; specs hold no data."))
        return None

    def _decode(self, path: str, content: bytes) -> str | None:
        if content.isascii() and b"\0" not in content[:2]:
            return content.decode()
        encoding = next((name for mark, name in _WIDE_ENCODINGS if content.startswith(mark)), None)
        if encoding is None and b"\0" in content[:2]:
            encoding = "UTF-16 or UTF-32"
        if encoding is not None:
            message, hint = f"The file is {encoding}; YAML is read as UTF-8.", "Save it as UTF-8."
            self.report_at(path, START, finding("SP104", (), message, hint))
            return None
        content = content.removeprefix(BOM_UTF8)
        try:
            return content.decode()
        except UnicodeDecodeError as error:
            before = content[: error.start].decode()
            message = f"The byte 0x{content[error.start]:02X} is not UTF-8 here."
            hint = "Save the file as UTF-8; from Latin-1: iconv -f ISO-8859-1 -t UTF-8."
            self.report_at(path, Lines(before).mark(len(before)), finding("SP104", (), message, hint))
            self.texts[_printable(path)] = content.decode(errors="replace")
            return None


class _SpecFinder:
    """Lists the YAML files below `specs`.

    Hidden files and folders are passed over. So is what does not end in .yaml or .yml: `near` are those whose names
    come close, `passed_over` the first of all. Links are followed in byte order after all that is really there, and
    only to what was not found before; so each file is read once, whatever leads to it.
    """

    def __init__(self, files: _Files) -> None:
        self._files = files
        self._found: dict[str, str] = {}
        self._entered: set[str] = set()
        self._links: list[tuple[bytes, str]] = []
        self.near: list[str] = []
        self.passed_over: list[str] = []
        self.number_passed_over = 0

    def find(self) -> list[str]:
        """Paths relative to the repository, in byte order."""
        top = self._files.repo / SPECS
        if os.path.islink(top):  # noqa: PTH114 - Path.is_symlink raises where a folder above may not be searched
            self._add_link(SPECS)
        elif os.path.lexists(top):
            self._enter(SPECS)
        while self._links and not self._too_many:
            self._follow(heappop(self._links)[1])
        if self._too_many:
            message = f"There are more than {MAX_FILES:,} YAML files below {SPECS}."
            hint = "Split the repository, or remove what was copied or linked here by mistake."
            self._files.report_at(SPECS, START, finding("SP105", (), message, hint))
            return []
        return sorted(self._found.values(), key=os.fsencode)

    @property
    def _too_many(self) -> bool:
        return len(self._found) > MAX_FILES

    def _enter(self, folder: str) -> None:
        """Find what is in a folder and in those below it; keep links for later."""
        pending = [folder]
        while pending and not self._too_many:
            path = pending.pop()
            try:
                pending += self._scan(path)
            except OSError as error:
                self._files.refuse(path, _reason(error))

    def _scan(self, folder: str) -> list[str]:
        """Take in one folder; the folders in it."""
        real = self._files.real(folder)
        if real in self._entered:
            return []
        self._entered.add(real)
        below = []
        with os.scandir(self._files.repo / folder) as entries:
            for entry in entries:
                path = f"{folder}/{entry.name}"
                if entry.name.startswith("."):
                    continue
                if entry.is_symlink():
                    self._add_link(path)
                elif entry.is_dir():
                    below.append(path)
                elif path.endswith(SUFFIXES):
                    self._found.setdefault(f"{real}/{entry.name}", path)
                else:
                    self._pass_over(path)
        return below

    def _pass_over(self, path: str) -> None:
        self.number_passed_over += 1
        self.passed_over = sorted((*self.passed_over, path), key=os.fsencode)[:_PASSED_OVER_SHOWN]
        if _NEARLY.search(path):
            self.near.append(path)

    def _add_link(self, path: str) -> None:
        heappush(self._links, (os.fsencode(path), path))

    def _follow(self, link: str) -> None:
        is_folder = link == SPECS or os.path.isdir(self._files.repo / link)  # noqa: PTH112 - as above
        if not (is_folder or link.endswith(SUFFIXES)) or not self._files.may_follow(link):
            return
        real = self._files.real(link)
        if not is_folder:
            self._found.setdefault(real, link)
        elif Path(self._files.real(link.rpartition("/")[0])).is_relative_to(real):
            self._files.refuse(link, "the link leads back to a folder that it is in")
        else:
            self._enter(link)


def _reason(error: OSError) -> str:
    """Why the system refused, in words that do not depend on the user's language."""
    reasons = {
        errno.EACCES: "permission is denied",
        errno.ENOENT: "it is not there",
        errno.ENOTDIR: "it is not a folder",
        errno.ELOOP: "its links lead in a circle",
    }
    return reasons.get(error.errno or 0, f"the system says {errno.errorcode.get(error.errno or 0, 'no')}")


def _printable(path: str) -> str:
    """A path that any terminal, comment or report can show: what is no UTF-8 or not printable becomes an escape."""
    if path.isascii() and path.isprintable():
        return path
    text = os.fsencode(path).decode(errors="backslashreplace")
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
