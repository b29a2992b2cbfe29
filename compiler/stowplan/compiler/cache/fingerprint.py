"""Digests of the inputs of a command and of Stowplan's own code.

A command whose inputs are unchanged runs little more than this module, so it imports little and opens each file once.
"""

import os
import sys
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from pathlib import Path
from stat import S_ISREG

from stowplan import compiler, library, schema
from stowplan.compiler.repository.layout import MAX_FILE_SIZE, SPECS, SUFFIXES, Repository, read

_CODE = (".py", ".js", ".json")
_SIZE = 16


class UnusualError(Exception):
    """An input that only the whole pipeline can judge: a link, a pipe, or a file that is too large or unreadable."""


def inputs(repo: Repository, contents: dict[str, bytes] | None = None) -> str:
    """Return a digest of the inputs: names of files in the folder and below `specs`, contents of YAML and lock files.

    Adds the contents to `contents`, if given, by path relative to the folder of `repo`. For inputs that `load` would
    report as wrong, or would follow because they are links, clear `contents` and return an empty string.
    """
    try:
        return _of_inputs(repo, contents)
    except UnusualError:
        if contents is not None:
            contents.clear()
        return ""


def of(*parts: str) -> str:
    """Return one digest of some strings in this order, in hexadecimal."""
    return blake2b("\0".join(parts).encode(errors="surrogateescape"), digest_size=_SIZE).hexdigest()


def _of_inputs(repo: Repository, contents: dict[str, bytes] | None) -> str:
    # The folder of the specs may be a link, which may lead out of the repository.
    folder = repo.folder
    digest = blake2b(os.fsencode(os.path.realpath(f"{folder}/{SPECS}")), digest_size=_SIZE)
    for name in (*_platform(repo), *sorted(_files(folder, SPECS))):
        content = b""
        if name.endswith(SUFFIXES) or name == repo.lock_file:
            content = _content(f"{folder}/{name}")
            if contents is not None:
                contents[name] = content
        digest.update(b"%b\0%d\0%b" % (os.fsencode(name), len(content), content))
    return digest.hexdigest()


def _platform(repo: Repository) -> Iterator[str]:
    """Yield the names of the platform files that exist; more than one is an error that `load` reports."""
    for name in repo.top_files:
        try:
            mode = os.lstat(f"{repo.folder}/{name}").st_mode
        except FileNotFoundError:
            continue
        except OSError as error:
            raise UnusualError(name) from error
        if not S_ISREG(mode):
            raise UnusualError(name)
        yield name


@cache
def of_program() -> str:
    """Return a digest of Python's version, Stowplan's code, and the names of all installed Python distributions."""
    digest = blake2b(sys.version.encode(), digest_size=_SIZE)
    for package in (compiler, library, schema):
        for top in package.__path__:
            for path in sorted(_code(top)):
                content = read(path)
                digest.update(b"%b\0%d\0%b" % (os.fsencode(path), len(content), content))
    for folder in sys.path:
        if folder.endswith("site-packages") and os.path.isdir(folder):  # noqa: PTH112 - start-up time
            names = (name for name in os.listdir(folder) if name.endswith(".dist-info"))  # noqa: PTH208
            digest.update("\n".join(sorted(names)).encode())
    return digest.hexdigest()


def _files(root: Path, top: str) -> Iterator[str]:
    """Yield the paths of all files below the folder `top` of `root`, relative to `root`, in no fixed order."""
    todo = [f"{top}/"]
    try:
        while todo:
            parent = todo.pop()
            with os.scandir(f"{root}/{parent}") as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        todo.append(f"{parent}{entry.name}/")
                    elif not entry.is_file(follow_symlinks=False) or "\n" in entry.path:
                        raise UnusualError(entry.path)
                    else:
                        yield f"{parent}{entry.name}"
    except OSError as error:
        raise UnusualError(str(error)) from error


def _content(path: str) -> bytes:
    try:
        content = read(path, getattr(os, "O_NOFOLLOW", 0))
    except OSError as error:
        raise UnusualError(path) from error
    if len(content) > MAX_FILE_SIZE:
        raise UnusualError(path)
    return content


def _code(folder: str) -> Iterator[str]:
    for parent, _, names in os.walk(folder):
        for name in names:
            if name.endswith(_CODE):
                yield f"{parent}/{name}"
