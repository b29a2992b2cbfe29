"""What a run depends on and what it left, each as a short text that differs where anything of it differs.

All of this is on the way of a command that has nothing to do, so it imports little and opens each file once.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from stat import S_ISREG
from zlib import crc32

from stowplan import compiler, library, schema
from stowplan.compiler.repository.layout import MAX_FILE_SIZE, PLATFORM_FILES, SPECS, SUFFIXES, read

_CODE = (".py", ".js", ".json")
_SIZE = 16
_PARTS = 2


class UnusualError(Exception):
    """Something that only a whole run can judge: a link, a pipe, an empty folder, a file too large or unreadable."""


def of_inputs(repo: Path, contents: dict[str, bytes] | None = None) -> str:
    """The platform file and all that lies below `specs`: names, and the contents of YAML files.

    `contents` takes these in by their paths. Raises `UnusualError` for what `load` would report or follow.
    """
    # The folder of the specs may be a link, which may lead out of the repository.
    digest = blake2b(os.fsencode(os.path.realpath(f"{repo}/{SPECS}")), digest_size=_SIZE)
    for name in (*_platform(repo), *sorted(_files(repo, SPECS))):
        content = b""
        if name.endswith(SUFFIXES):
            content = _content(f"{repo}/{name}")
            if contents is not None:
                contents[name] = content
        digest.update(b"%b\0%d\0%b" % (os.fsencode(name), len(content), content))
    return digest.hexdigest()


def _platform(repo: Path) -> Iterator[str]:
    """The platform file, of which there should be one."""
    for name in PLATFORM_FILES:
        try:
            mode = os.lstat(f"{repo}/{name}").st_mode
        except FileNotFoundError:
            continue
        except OSError as error:
            raise UnusualError(name) from error
        if not S_ISREG(mode):
            raise UnusualError(name)
        yield name


class Outputs:
    """The files of an output folder and their sizes, in two halves. Each has what lies above the folders of specs."""

    def __init__(self, halves: Sequence[str]) -> None:
        self._halves = halves

    @property
    def digest(self) -> str:
        return "".join(blake2b(os.fsencode(half), digest_size=_SIZE).hexdigest() for half in self._halves)

    def paths(self) -> set[str]:
        """Relative, with forward slashes."""
        return {line.partition("\0")[0] for half in self._halves for line in half.split("\n") if line}

    def after(self, out: Path, touched: Iterable[str]) -> "Outputs":
        """These where nobody has touched other files since. Raises `OSError` for what cannot be looked at."""
        changed = {path: _line(out, path) for path in touched}
        halves = []
        for part, half in enumerate(self._halves):
            own = {path: line for path, line in changed.items() if _is_in(path, part)}
            lines = [line for line in half.split("\n") if line and line.partition("\0")[0] not in own]
            halves.append("\n".join(sorted((*lines, *(line for line in own.values() if line)))))
        return Outputs(halves)


def outputs(out: Path) -> Outputs:
    """What is there. Raises `UnusualError` for links, empty folders and the like."""
    return _outputs(out, str)[1]


def both(repo: Path, out: Path, contents: dict[str, bytes]) -> tuple[str, Outputs]:
    """`of_inputs` and `outputs`."""
    return _outputs(out, lambda: of_inputs(repo, contents))


def _outputs(out: Path, meanwhile: Callable[[], str]) -> tuple[str, Outputs]:
    """Beside other work. Outputs are many: where a process is cheap, another one looks at half of them."""
    if sys.platform == "linux":
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            # Nothing of this process may run on in its copy, whatever happens.
            try:
                with open(writer, "wb") as pipe:  # noqa: PTH123 - a descriptor
                    pipe.write(b"." + os.fsencode(_half(out, 1)))
            finally:
                os._exit(0)
        os.close(writer)
        with open(reader, "rb") as pipe:  # noqa: PTH123
            try:
                other, first = meanwhile(), _half(out, 0)
            finally:
                second = os.fsdecode(pipe.read())
                os.waitpid(child, 0)
        if not second:
            raise UnusualError(str(out))
        return other, Outputs((first, second[1:]))
    return meanwhile(), Outputs([_half(out, part) for part in range(_PARTS)])


def _half(out: Path, part: int) -> str:
    return "\n".join(sorted(_files(out, "", part)))


def _is_in(path: str, part: int) -> bool:
    """Whether a half has a file: as `_files` has it, by the folder two below the top."""
    folders = path.split("/")[:-1]
    return len(folders) < 2 or crc32(os.fsencode(folders[1])) % _PARTS == part


def _line(out: Path, path: str) -> str:
    """Empty where there is no such file."""
    try:
        return f"{path}\0{os.lstat(out / path).st_size}"
    except FileNotFoundError:
        return ""


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
            # `tree` finds nothing wrong with hidden folders at the top.
            empty = part is not None and bool(parent) and not parent.startswith(".")
            with os.scandir(f"{root}/{parent}") as entries:
                for entry in entries:
                    empty = False
                    if entry.is_dir(follow_symlinks=False):
                        if not shared or crc32(os.fsencode(entry.name)) % _PARTS == part:
                            todo.append(f"{parent}{entry.name}/")
                    elif not entry.is_file(follow_symlinks=False) or "\n" in entry.path:
                        raise UnusualError(entry.path)
                    elif part is None:
                        yield f"{parent}{entry.name}"
                    else:
                        yield f"{parent}{entry.name}\0{entry.stat(follow_symlinks=False).st_size}"
            if empty:
                raise UnusualError(parent)
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
