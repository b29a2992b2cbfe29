"""The command `explain`."""

import json
import os
import re
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from stowplan.compiler.cli.environments import EnvOption, chosen, only_one
from stowplan.compiler.cli.options import Format, Out, PlatformOption, command, output, repository
from stowplan.compiler.diagnostics.report import Report

if TYPE_CHECKING:
    from stowplan.compiler.environments.target import Target
    from stowplan.compiler.pipeline import Compiled
    from stowplan.compiler.provenance.source_map import SourceMap
    from stowplan.compiler.repository.layout import Repository
    from stowplan.compiler.repository.load import Checkout


def _codes(incomplete: str) -> list[str]:
    """Return the codes that begin with `incomplete`; empty if it is empty, and the shell then completes file names."""
    from stowplan.schema.codes import CATALOGUE  # noqa: PLC0415 - start-up time

    return [code for code in CATALOGUE if incomplete and code.startswith(incomplete)]


What = Annotated[
    str,
    typer.Argument(
        metavar="WHAT",
        help="A code (SP204), a kind or field (sampleset.spec.cache), a line (specs/a.yaml:12, out/ml/…/job-a.yaml:20)"
        " or a value (out/ml/…/job-a.yaml#/spec/suspend).",
        autocompletion=_codes,
    ),
]
RepoOption = Annotated[
    Path,
    typer.Option(
        "--repo", help="Folder with stowplan.yaml and specs/.", show_default="this folder, or the nearest one above"
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the source map of the value for programs.")]


def _print_list(wanted: bool) -> None:  # noqa: FBT001 - typer calls it
    """Print all codes and kinds and end the process; do nothing unless `wanted`, the option `--list`, is set."""
    if not wanted:
        return
    from stowplan.compiler.specs.field_help import kinds  # noqa: PLC0415 - start-up time
    from stowplan.schema.codes import CATALOGUE  # noqa: PLC0415

    _print(f"{code}  {each.severity:<7}  {each.title}" for code, each in CATALOGUE.items())
    typer.echo(f"Kinds: {', '.join(kinds())}")
    raise typer.Exit


AsList = Annotated[
    bool,
    typer.Option(
        "--list", is_eager=True, callback=_print_list, help="Print all codes with their titles, and all kinds."
    ),
]

_LINE = re.compile(r"(?P<file>.+\.ya?ml):(?P<line>[0-9]+)(?::[0-9]+)?")


def explain(
    what: What,
    repo: RepoOption = Path(),
    out: Out = None,
    *,
    env: EnvOption = None,
    platform: PlatformOption = None,
    as_json: AsJson = False,
    as_list: AsList = False,  # noqa: ARG001 - its callback does it
) -> None:
    """Say what a code or a field means, where a value of the output comes from, or what a line of a spec does.

    Example: stowplan explain out/ml/sampleset-mnist/job-mnist-sync.yaml#/spec/backoffLimit
    """
    source = repository(repo, platform)
    file, _, pointer = what.partition("#")
    if file.endswith((".yaml", ".yml")):
        _explain_value(file, pointer, _place(file, source, output(out, source), env), as_json=as_json)
    elif line := _LINE.fullmatch(what):
        _explain_line(line["file"], int(line["line"]), _place(line["file"], source, output(out, source), env))
    else:
        _explain_word(what)


def _explain_word(word: str) -> None:
    from stowplan.compiler.diagnostics.pages import page  # noqa: PLC0415
    from stowplan.compiler.specs.field_help import field_help, kinds, suggestion  # noqa: PLC0415 - start-up time
    from stowplan.schema.codes import CATALOGUE  # noqa: PLC0415
    from stowplan.schema.diagnostics import nearest  # noqa: PLC0415

    if text := page(word):
        typer.echo(text, nl=False)
    elif lines := field_help(word):
        _print(lines)
    else:
        near = nearest(word, (*CATALOGUE, *kinds()))
        hint = suggestion(word) or (f'Did you mean "{near}"?' if near else "")
        hint = hint or "`stowplan explain --list` prints all codes and kinds."
        _refuse(f"{word} is neither a code, nor a kind or field, nor a YAML file. {hint}")


@dataclass(frozen=True, slots=True)
class _Place:
    """The target of which something is to be explained; `top` is the output folder of all targets."""

    checkout: "Checkout"
    top: Path
    target: "Target"

    @property
    def repo(self) -> "Repository":
        return self.checkout.repo

    @property
    def out(self) -> Path:
        return self.top / self.target.name


def _place(file: str, repo: "Repository", out: Path, env: str | None) -> _Place:
    """Return the target that a file of the output belongs to, else the one that `--env` names."""
    from stowplan.compiler.repository.load import Checkout  # noqa: PLC0415 - start-up time

    checkout, path = Checkout(repo), _inside(file, out)
    targets = chosen(checkout, out, env)
    target = next((each for each in targets if each.name and path.startswith(f"{each.name}/")), None)
    return _Place(checkout, out, target or only_one(targets))


def _explain_value(file: str, pointer: str, place: _Place, *, as_json: bool) -> None:
    from stowplan.compiler.provenance import questions, wording  # noqa: PLC0415 - start-up time
    from stowplan.compiler.provenance.constructs import path_of  # noqa: PLC0415

    compiled, found = _source_map(place)
    path = _inside(file, place.out)
    output = next((each for each in compiled.outputs if each.path == path), None)
    if output is None:
        if _exists(file, place.repo) and path == Path(file).as_posix():  # not below the output
            _refuse(f"{file} is not in the output. Give the number of a line to see what it does, such as {file}:4")
        _refuse(f"The specs compile to no file {file}.{_near(path, compiled, place.out)}")
    pointer = f"/{pointer}" if pointer and not pointer.startswith("/") else pointer
    entries = questions.below(found, output, pointer)
    if not entries:
        _refuse(f"There is nothing at {pointer} of {file}.")
    if as_json:
        typer.echo(json.dumps(wording.records(entries), indent=2))
        return
    if not pointer and (construct := path_of(output, found)):
        typer.echo(f"construct: {construct}")
    _print(wording.entries(entries))


def _explain_line(file: str, line: int, place: _Place) -> None:
    from stowplan.compiler.provenance import questions, wording  # noqa: PLC0415 - start-up time

    compiled, found = _source_map(place)
    path = _inside(file, place.out)
    if output := next((each for each in compiled.outputs if each.path == path), None):
        entries = questions.on_line(found, output, line)
        if not entries:
            _refuse(f"There is no field on line {line} of {file}.")
        _print(wording.entries(entries))
        return
    if not _exists(file, place.repo):
        _refuse(f"There is no file {file}, and the specs compile to none.{_near(path, compiled, place.out)}")
    if compiled.program is None:
        _refuse("There is nothing to explain.")
    fields, effects = questions.effects(found, compiled.program, _inside(file, place.repo.folder), line)
    if not fields:
        hint = f" Its values may come from a patch of {place.target.name}." if place.target.name else ""
        _refuse(f"There is no field on line {line} of {file}.{hint}")
    _print(wording.effects(fields, effects))


def _source_map(place: _Place) -> "tuple[Compiled, SourceMap]":
    from importlib.metadata import version  # noqa: PLC0415 - start-up time

    from stowplan.compiler.cli.ending import Ending  # noqa: PLC0415
    from stowplan.compiler.lowering.composer_pool import ComposerPool  # noqa: PLC0415
    from stowplan.compiler.pipeline import Compiler, Options  # noqa: PLC0415
    from stowplan.compiler.provenance.source_map import SourceMap  # noqa: PLC0415

    report = Report()
    with closing(ComposerPool(lasting=False)) as composer:
        compiled = Compiler(place.checkout, composer).synth(place.target, place.out, Options(), report)
    if compiled.program is None:
        Ending(place.repo.folder, report, compiled.texts, Format.TEXT, command(place.repo, place.top)).finish({})
    return compiled, SourceMap(compiled.program, compiled.outputs, version("stowplan"))


def _inside(file: str, root: Path) -> str:
    """Return the path of a file relative to `root`, with slashes.

    `file` is relative to the current folder or, if that is not below `root`, already to `root`.
    """
    place = Path(os.path.relpath(file, root))
    return Path(file).as_posix() if place.parts[:1] == ("..",) else place.as_posix()


def _exists(file: str, repo: "Repository") -> bool:
    return (repo.folder / _inside(file, repo.folder)).is_file()


def _near(path: str, compiled: "Compiled", out: Path) -> str:
    """Return a question that names the file of the output which `path` was probably meant to be; empty if none is."""
    from stowplan.schema.diagnostics import nearest  # noqa: PLC0415 - start-up time

    near = nearest(path, (each.path for each in compiled.outputs))
    return f" Did you mean {out / near}?" if near else ""


def _refuse(message: str) -> NoReturn:
    raise typer.BadParameter(message, param_hint="WHAT")


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        typer.echo(line)
