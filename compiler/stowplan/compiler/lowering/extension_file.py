"""One extension file: search, isolated execution, and failures as data."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from types import ModuleType
from typing import TYPE_CHECKING, Any

from stowplan.compiler.model import Program
from stowplan.library.manifest import Unit

if TYPE_CHECKING:
    from stowplan.library.constructs import Extended

_SHOWN = 400


@dataclass(frozen=True, slots=True)
class Failure:
    """Reason why an extension failed. `line` is in its file; None if the platform's entry is wrong."""

    message: str
    hint: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Built:
    """Result of an extension, and the line where its `build` begins."""

    extended: "Extended"
    line: int


def locate(root: Path, path: str) -> Path | Failure:
    """The extension's file. After following links, it must be in the repository."""
    file = (root / path).resolve()
    if not file.is_relative_to(root.resolve()):
        return Failure(f"`{path}` leads out of the repository.", "Keep extensions inside the repository.")
    if not file.is_file():
        return Failure(f"There is no file `{path}`.", "Give its path from the repository's root.")
    return file


def run(file: Path, program: Program, units: Sequence[Unit]) -> Built | Failure:
    """Run the file and its `build` on a new app.

    Any exception of the file is a `Failure` at its line, `sys.exit` too. The file is isolated: `sys.path` gets no entry
    for it, no bytecode is written, and its output goes to stderr, since diagnostics may go to stdout.
    """
    from stowplan.library.constructs import ExtensionApp  # noqa: PLC0415  # starts Node

    module = ModuleType(f"stowplan_extension_{file.stem}")
    module.__file__ = str(file)
    try:
        with _isolated(module), redirect_stdout(sys.stderr):
            exec(compile(file.read_bytes(), str(file), "exec"), module.__dict__)  # noqa: S102  # trusted code
            build = module.__dict__.get("build")
            if not callable(build):
                return Failure("The file defines no function `build`.", "Define `def build(app, program) -> None:`.", 1)
            app = ExtensionApp(units)
            build(app, program)
            return Built(app.extended(), _first_line(build))
    except (Exception, SystemExit) as error:  # a user's mistake is never a traceback
        line = _failing_line(error, file) or _first_line(module.__dict__.get("build"))
        return Failure(_text(error), _hint(error), line)


@contextmanager
def _isolated(module: ModuleType) -> Iterator[None]:
    """Register the module in `sys.modules` while it runs, as dataclasses need; then restore the interpreter's state."""
    path, bytecode = sys.path[:], sys.dont_write_bytecode
    sys.modules[module.__name__] = module
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        sys.path[:], sys.dont_write_bytecode = path, bytecode
        sys.modules.pop(module.__name__, None)


def _failing_line(error: BaseException, file: Path) -> int | None:
    """The line of `file` in the innermost of its frames in the traceback; None without such a frame."""
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
    """The error in one paragraph, without jsii's prefix."""
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return shorten(f"{type(error).__name__}: {text.removeprefix('Error: ')}", _SHOWN, placeholder=" …")


def _hint(error: BaseException) -> str:
    if isinstance(error, ModuleNotFoundError):
        return "An extension is one file; what it shares with others has to be an installed package."
    return "Mend the extension; `build(app, program)` must end without an error."
