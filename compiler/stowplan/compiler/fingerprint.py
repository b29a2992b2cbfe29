"""What a run depends on and what it left, each as a short text that differs where anything of it differs.

All of this is on the way of a command that has nothing to do, so it imports little and opens each file once.
"""

import os
import sys
from collections.abc import Callable, Iterator
from hashlib import blake2b
from pathlib import Path
from zlib import crc32

from stowplan import compiler, library, schema
from stowplan.compiler.repository import MAX_FILE_SIZE, PLATFORM_FILES, SPECS, SUFFIXES, read

_CODE = (".py", ".js", ".json")
_SIZE = 16
_PARTS = 2


class UnusualError(Exception):
    """Something that only a whole run can judge: a link, a pipe, a file that is too large or cannot be read."""


def of_inputs(repo: Path) -> str:
    """The platform file and all that lies below `specs`: names, and the contents of YAML files.

    Raises `UnusualError` for what `load` would report or follow.
    """
    digest = blake2b(digest_size=_SIZE)
    for name in (*(name for name in PLATFORM_FILES if os.path.lexists(repo / name)), *sorted(_files(repo, SPECS))):
        content = _content(f"{repo}/{name}") if name.endswith(SUFFIXES) else b""
        digest.update(b"%b\0%d\0%b" % (os.fsencode(name), len(content), content))
    return digest.hexdigest()


def of_outputs(out: Path) -> str:
    """The files of the output folder and their sizes. Raises `UnusualError` for links and the like."""
    return _of_outputs(out, str)[1]


def of_both(repo: Path, out: Path) -> tuple[str, str]:
    """Those of inputs and outputs."""
    return _of_outputs(out, lambda: of_inputs(repo))


def _of_outputs(out: Path, meanwhile: Callable[[], str]) -> tuple[str, str]:
    """Beside other work. Outputs are many: where a process is cheap, another one looks at half of them."""
    if sys.platform == "linux":
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            # Nothing of this process may run on in its copy, whatever happens.
            try:
                os.write(writer, _of_part(out, 1).encode())
            finally:
                os._exit(0)
        os.close(writer)
        try:
            other, first = meanwhile(), _of_part(out, 0)
        finally:
            second = os.read(reader, 2 * _SIZE).decode()
            os.close(reader)
            os.waitpid(child, 0)
        if not second:
            raise UnusualError(str(out))
        return other, first + second
    return meanwhile(), "".join(_of_part(out, part) for part in range(_PARTS))


def _of_part(out: Path, part: int) -> str:
    """A half of the folders of specs; what lies above them is in both."""
    text = "\n".join(sorted(_files(out, "", part)))
    return blake2b(os.fsencode(text), digest_size=_SIZE).hexdigest()


def of_program() -> str:
    """Stowplan's own files, since somebody may be working on them, and the packages that are installed with it."""
    digest = blake2b(sys.version.encode(), digest_size=_SIZE)
    for package in (compiler, library, schema):
        for top in package.__path__:
            digest.update("\n".join(sorted(_code(top))).encode())
    for folder in sys.path:
        if folder.endswith("site-packages") and os.path.isdir(folder):  # noqa: PTH112 - start-up time
            names = (name for name in os.listdir(folder) if name.endswith(".dist-info"))  # noqa: PTH208
            digest.update("\n".join(sorted(names)).encode())
    return digest.hexdigest()


def _files(root: Path, top: str, part: int | None = None) -> Iterator[str]:
    """All files below a folder, by their paths from `root`.

    Of a part they come with their sizes; of the folders two below `root` it has those that fall to it.
    """
    todo = [f"{top}/" if top else ""]
    try:
        while todo:
            parent = todo.pop()
            shared = part is not None and parent.count("/") == 1
            with os.scandir(f"{root}/{parent}") as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        if not shared or crc32(os.fsencode(entry.name)) % _PARTS == part:
                            todo.append(f"{parent}{entry.name}/")
                    elif not entry.is_file(follow_symlinks=False):
                        raise UnusualError(entry.path)
                    elif part is None:
                        yield f"{parent}{entry.name}"
                    else:
                        yield f"{parent}{entry.name}\0{entry.stat(follow_symlinks=False).st_size}"
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
                found = os.stat(f"{parent}/{name}")  # noqa: PTH116 - start-up time
                yield f"{parent}/{name} {found.st_mtime_ns} {found.st_size}"
