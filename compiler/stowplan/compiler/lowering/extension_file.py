"""One extension file: found, run in isolation, and its failures turned into data."""

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
    """Why an extension made nothing. `line` is in its file; None when the platform's entry is to blame."""

    message: str
    hint: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Built:
    """What an extension made, and the line where its `build` begins."""

    extended: "Extended"
    line: int


def locate(root: Path, path: str) -> Path | Failure:
    """The extension's file. It must lie in the repository, links followed."""
    file = (root / path).resolve()
    if not file.is_relative_to(root.resolve()):
        return Failure(f"`{path}` leads out of the repository.", "Keep extensions inside the repository.")
    if not file.is_file():
        return Failure(f"There is no file `{path}`.", "Give its path from the repository's root.")
    return file


def run(file: Path, program: Program, units: Sequence[Unit]) -> Built | Failure:
    """Run the file and its `build` on an app of its own.

    Whatever the file raises is a `Failure` at its line, `sys.exit` too. The file stands alone: nothing is put on
    `sys.path` for it, no bytecode is written, and what it prints goes to stderr, since diagnostics may go to stdout.
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
    """Known to `sys.modules` while it runs, as dataclasses need; afterwards the interpreter is as it was before."""
    path, bytecode = sys.path[:], sys.dont_write_bytecode
    sys.modules[module.__name__] = module
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        sys.path[:], sys.dont_write_bytecode = path, bytecode
        sys.modules.pop(module.__name__, None)


def _failing_line(error: BaseException, file: Path) -> int | None:
    """The line of `file` in which the innermost of its frames failed; None when none of them was running."""
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
    """The error in one paragraph; jsii's own prefix is left out."""
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return shorten(f"{type(error).__name__}: {text.removeprefix('Error: ')}", _SHOWN, placeholder=" …")


def _hint(error: BaseException) -> str:
    if isinstance(error, ModuleNotFoundError):
        return "An extension is one file; what it shares with others has to be an installed package."
    return "Mend the extension; `build(app, program)` must end without an error."
