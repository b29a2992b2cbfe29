"""The files of a user's repository, each read once and within limits, with their diagnostics."""

import errno
import os
import stat
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE
from collections.abc import Mapping
from pathlib import Path

from stowplan.compiler.diagnostics.document import Document
from stowplan.compiler.diagnostics.locations import START, Lines, Location, Mark
from stowplan.compiler.diagnostics.report import Diagnostic, diagnose_at
from stowplan.compiler.repository.layout import MAX_FILE_SIZE, read
from stowplan.compiler.yaml import reader
from stowplan.schema.diagnostics import Finding, finding

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


class Files:
    """Reader of a repository's files by relative path, each read once. `known` are contents by path, just read.

    `texts` has the decoded files whose documents were read, and `said` what there is to be said of each path; the keys
    of both are printable paths.
    """

    def __init__(self, repo: Path, known: Mapping[str, bytes]) -> None:
        self._known = known
        self.repo = repo
        self.texts: dict[str, str] = {}
        self.said: dict[str, list[Diagnostic]] = {}
        self._documents: dict[str, list[Document] | None] = {}
        self._root = os.path.realpath(repo)
        self._folder = f"{repo}/" if repo.parts else ""

    def report_at(self, path: str, mark: Mark, found: Finding) -> None:
        """Add a finding at a position in a file to `said`."""
        name = printable(path)
        self.said.setdefault(name, []).append(diagnose_at(Location(name, mark.line, mark.column), found))

    def real(self, path: str) -> str:
        """Return the absolute path of a relative one, links resolved."""
        return os.path.realpath(self.repo / path)

    def may_follow(self, path: str) -> bool:
        """Whether `path`, after following links, is inside the repository; if not, it is reported."""
        if Path(self.real(path)).is_relative_to(self._root):
            return True
        message = "The link leads out of the repository."
        self.report_at(path, START, finding("SP109", (), message, "Copy what it leads to into the repository."))
        return False

    def refuse(self, path: str, reason: str) -> None:
        """Report a path that cannot be read; `reason` completes the sentence "This cannot be read: …"."""
        self.report_at(path, START, finding("SP112", (), f"This cannot be read: {reason}.", "Correct or remove it."))

    def documents(self, path: str) -> list[Document] | None:
        """Return the documents of a YAML file, in order; an empty list if it has none. It is read once.

        `path` is relative to the repository, `/` between its parts. Documents with errors are missing, and the list has
        the others; None if the file cannot be read, or all of its documents have errors. Errors are reported in `said`,
        never raised. Links are followed: ask `may_follow` first where a path may lead out of the repository.
        """
        if path not in self._documents:
            self._documents[path] = self._read(path)
        return self._documents[path]

    def _read(self, path: str) -> list[Document] | None:
        name = printable(path)
        content = self._known[path] if path in self._known else self._content(path)
        text = self._decode(path, content) if content is not None else None
        if text is None:
            return None
        self.texts[name] = text
        documents, diagnostics = reader.read(text, name)
        if diagnostics:
            self.said.setdefault(name, []).extend(diagnostics)
        return documents or (None if diagnostics else [])

    def _content(self, path: str) -> bytes | None:
        place = f"{self._folder}{path}"
        try:
            found = os.stat(place)  # noqa: PTH116 - for thousands of files, a Path costs as much
            kind = stat.S_IFMT(found.st_mode)
            if kind != stat.S_IFREG:
                self.refuse(path, f"it is {_KINDS.get(kind, 'no regular file')}")
                return None
            content = read(place)
        except OSError as error:
            self.refuse(path, reason(error))
            return None
        if len(content) <= MAX_FILE_SIZE:
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
            self.texts[printable(path)] = content.decode(errors="replace")
            return None


def reason(error: OSError) -> str:
    """Return the reason of a system error in words that do not depend on the user's language."""
    reasons = {
        errno.EACCES: "permission is denied",
        errno.ENOENT: "it is not there",
        errno.ENOTDIR: "it is not a folder",
        errno.ELOOP: "its links lead in a circle",
    }
    return reasons.get(error.errno or 0, f"the system says {errno.errorcode.get(error.errno or 0, 'no')}")


def printable(path: str) -> str:
    """Return a path in which bytes that are not UTF-8 and characters that are not printable are escaped."""
    if path.isascii() and path.isprintable():
        return path
    text = os.fsencode(path).decode(errors="backslashreplace")
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
