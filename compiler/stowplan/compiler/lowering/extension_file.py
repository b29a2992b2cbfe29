"""One extension file: finding it, executing it in isolation, and returning failures as values."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from types import ModuleType
from typing import TYPE_CHECKING, Any

from stowplan.compiler.model import Program

if TYPE_CHECKING:
    from stowplan.library.constructs import Extended, SpecApp

_SHOWN = 400


@dataclass(frozen=True, slots=True)
class Failure:
    """Reason why an extension failed. `line` counts from 1 in its file; None if the entry in the platform is wrong."""

    message: str
    hint: str
    line: int | None = None


def locate(root: Path, path: str) -> Path | Failure:
    """Return the file of an extension with links resolved; a failure if it is missing or outside of the repository.

    `root` is the folder of the repository, and `path` is relative to it.
    """
    file = (root / path).resolve()
    if not file.is_relative_to(root.resolve()):
        return Failure(f"`{path}` leads out of the repository.", "Keep extensions inside the repository.")
    if not file.is_file():
        return Failure(f"There is no file `{path}`.", "Give its path from the repository's root.")
    return file


def run(file: Path, program: Program, app: "SpecApp") -> "tuple[Extended, int] | Failure":
    """Execute an extension file and its function `build` on a new app; return the result.

    With it comes the line of the file where `build` begins. For any exception of the file, `sys.exit` too, return a
    `Failure` at the line that raised it. The file is isolated: `sys.path` gets no entry for it, no bytecode is written,
    and its output goes to stderr, because diagnostics may go to stdout.
    """
    module = ModuleType(f"stowplan_extension_{file.stem}")
    module.__file__ = str(file)
    try:
        with _isolated(module), redirect_stdout(sys.stderr):
            exec(compile(file.read_bytes(), str(file), "exec"), module.__dict__)  # noqa: S102  # trusted code
            build = module.__dict__.get("build")
            if not callable(build):
                return Failure("The file defines no function `build`.", "Define `def build(app, program) -> None:`.", 1)
            build(app, program)
            return app.extended(), _first_line(build)
    except (Exception, SystemExit) as error:  # a user's mistake is never a traceback
        line = _failing_line(error, file) or _first_line(module.__dict__.get("build"))
        return Failure(_text(error), _hint(error), line)


@contextmanager
def _isolated(module: ModuleType) -> Iterator[None]:
    """Register the module in `sys.modules` while it is executed, as dataclasses need; then restore the interpreter."""
    path, bytecode = sys.path[:], sys.dont_write_bytecode
    sys.modules[module.__name__] = module
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        sys.path[:], sys.dont_write_bytecode = path, bytecode
        sys.modules.pop(module.__name__, None)


def _failing_line(error: BaseException, file: Path) -> int | None:
    """Return the line of `file` that raised the error or called what did; None if the traceback has no such line."""
    if isinstance(error, SyntaxError) and error.filename == str(file):
        return error.lineno
    line = None
    trace = error.__traceback__
    while trace:
        if trace.tb_frame.f_code.co_filename == str(file):
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _first_line(build: Callable[..., Any] | None) -> int:
    code = getattr(build, "__code__", None)
    return code.co_firstlineno if code else 1


def _text(error: BaseException) -> str:
    """Return type and message of the error in one paragraph of at most `_SHOWN` characters, without jsii's prefix."""
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return shorten(f"{type(error).__name__}: {text.removeprefix('Error: ')}", _SHOWN, placeholder=" …")


def _hint(error: BaseException) -> str:
    if isinstance(error, ModuleNotFoundError):
        return "An extension is one file; what it shares with others has to be an installed package."
    return "Mend the extension; `build(app, program)` must end without an error."
