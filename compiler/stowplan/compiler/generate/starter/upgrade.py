"""What a newer `stowplan init` would write into a repository that an older one began."""

import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from stat import S_IMODE

from stowplan.compiler.generate import export
from stowplan.compiler.generate.starter import SCHEMAS, installation
from stowplan.compiler.generate.starter.ci_files import ci_files, ci_of
from stowplan.compiler.generate.starter.stamp import is_as_written, line_of
from stowplan.compiler.repository import own_files

_OWNERS = "CODEOWNERS"
_PLACES_OF_OWNERS = (f".github/{_OWNERS}", f".gitlab/{_OWNERS}", _OWNERS, f"docs/{_OWNERS}")
"""Where GitHub and GitLab look, in an order that is right for both as long as there is one file."""


class FileState(StrEnum):
    """How a file compares with what this version writes."""

    CURRENT = "current"
    """It is that text, or a person's edition of it."""
    OLDER = "older"
    """It is what an older version wrote, or missing where other files need it."""
    EDITED = "edited"
    """It is a person's edition of an older text."""
    ABSENT = "absent"
    """It is not there, which may be on purpose: few repositories have the CI of both services."""


@dataclass(frozen=True)
class StarterFile:
    """A file at `path` in the repository: its text `before`, empty if it is missing, and what this version writes."""

    path: str
    state: FileState
    before: str
    wanted: str


def compare(folder: Path) -> list[StarterFile]:
    """Return how each file of CI, requirements and schemas in `folder` compares with this version. Raises `OSError`."""
    # A folder that is not there is a slip, no repository without files.
    os.listdir(folder)  # noqa: PTH208
    ci = ci_files(ci_of(folder))
    return [
        *(_compared(folder, _place(folder, path), text) for path, text in sorted(ci.items())),
        _requirements(folder),
        *_schemas(folder),
    ]


def write(folder: Path, files: list[StarterFile]) -> None:
    """Write those of `files` that are older. Raises `OSError`, also if a folder on the way is a link."""
    for each in files:
        if each.state is FileState.OLDER:
            place = folder / each.path
            own_files.make_folder(place.parent, folder)
            own_files.replace(place, each.wanted.encode(), S_IMODE(place.stat().st_mode) if place.exists() else None)


def _compared(folder: Path, path: str, wanted: str) -> StarterFile:
    before = _text(folder / path)
    if before is None:
        needed = path.startswith("requirements/")
        return StarterFile(path, FileState.OLDER if needed else FileState.ABSENT, "", wanted)
    if line_of(before) == line_of(wanted):
        return StarterFile(path, FileState.CURRENT, before, wanted)
    return StarterFile(path, FileState.OLDER if is_as_written(before) else FileState.EDITED, before, wanted)


def _requirements(folder: Path) -> StarterFile:
    """Return the file that installs Stowplan itself: its one line counts, since a person may have to complete it."""
    path, wanted = installation.FILE, installation.requirements()
    before = _text(folder / path)
    if before is None:
        return StarterFile(path, FileState.OLDER, "", wanted)
    if installation.installs_this(before):
        return StarterFile(path, FileState.CURRENT, before, wanted)
    by_hand = installation.incomplete(wanted) or not installation.is_as_written(before)
    return StarterFile(path, FileState.EDITED if by_hand else FileState.OLDER, before, wanted)


def _schemas(folder: Path) -> list[StarterFile]:
    """Return the editors' schemas, if the repository has any. Nobody edits them."""
    if not (folder / SCHEMAS).is_dir():
        return []
    found = []
    for name, wanted in export.schemas(export.kubernetes_version(folder)).items():
        before = _text(folder / SCHEMAS / name)
        state = FileState.CURRENT if before == wanted else FileState.OLDER
        found.append(StarterFile(f"{SCHEMAS}/{name}", state, before or "", wanted))
    return found


def _place(folder: Path, path: str) -> str:
    places = _PLACES_OF_OWNERS if path == _OWNERS else ()
    return next((each for each in places if (folder / each).is_file()), path)


def _text(file: Path) -> str | None:
    """Return the text of a file, whatever Git made of its line ends; None without one."""
    if not file.is_file():
        return None
    return file.read_bytes().decode("utf-8", "backslashreplace").replace("\r\n", "\n")
