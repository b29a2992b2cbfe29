"""Search for the specs of a repository."""

import os
import re
from heapq import heappop, heappush
from pathlib import Path

from stowplan.compiler.diagnostics.locations import START
from stowplan.compiler.repository.files import Files, reason
from stowplan.compiler.repository.layout import SPECS, SUFFIXES
from stowplan.schema.diagnostics import finding

_NEARLY = re.compile(r"(?i)\.(?:ya?ml|json)(?:\.(?:txt|j2|jinja2?|tmpl|tpl|gotmpl|template))?\Z")
"""Suffixes of files that probably should be specs: JSON, or a name that an editor or a template engine has changed."""

_PASSED_OVER_SHOWN = 5

MAX_FILES = 20_000
"""Maximum number of files below `specs`: four times that of the largest repository that Stowplan is made for.

If there are more, a folder was probably copied or linked by mistake.
"""


class SpecFinder:
    """Lists the YAML files below `specs`.

    Hidden files and folders are skipped, and so are files that do not end in .yaml or .yml. Of the latter, after `find`
    (call it once), `near` lists those with similar suffixes, `passed_over` the first few in byte order. Links are
    followed after all real files, in byte order, and only to files that were not found before. So each file is read
    once, however many links lead to it.
    """

    def __init__(self, files: Files) -> None:
        self._files = files
        self._found: dict[str, str] = {}
        self._entered: set[str] = set()
        self._links: list[tuple[bytes, str]] = []
        self.near: list[str] = []
        self.passed_over: list[str] = []
        self.number_passed_over = 0

    def find(self) -> list[str]:
        """Return the paths of the YAML files relative to the repository, in byte order; empty if there are too many."""
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
        paths = self._found.values()
        return sorted(paths, key=None if all(map(str.isascii, paths)) else os.fsencode)

    @property
    def _too_many(self) -> bool:
        return len(self._found) > MAX_FILES

    def _enter(self, folder: str) -> None:
        """Add the files of a folder and of all folders below it; collect links for later."""
        pending = [folder]
        while pending and not self._too_many:
            path = pending.pop()
            try:
                pending += self._scan(path)
            except OSError as error:
                self._files.refuse(path, reason(error))

    def _scan(self, folder: str) -> list[str]:
        """Add the files of one folder; return the paths of its subfolders, or none if it was searched before."""
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
