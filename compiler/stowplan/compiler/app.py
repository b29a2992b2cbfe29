"""The cdk8s app of a program of one's own, whose constructs are compiled as `stowplan synth` compiles files::

import sys

from stowplan.compiler.app import App
from stowplan.library.constructs import Dataset, Training
from cdk8s import Chart

app = App()
vision = Chart(app, "vision", namespace="vision")
imagenet = Dataset(vision, "imagenet", source=…, volume=…)
Training(vision, "resnet", image=…, framework="torch", datasets=[imagenet.mount("/data", wait=True)])
app.synth(sys.argv[1:])
"""

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

# First: it brings the Node.js that cdk8s runs on.
from stowplan.library.constructs import SpecApp
from stowplan.library.constructs.written import Place

# isort: split

import typer

from stowplan.compiler.cli.ending import advising
from stowplan.compiler.cli.options import command, writable_output
from stowplan.compiler.cli.synthesising import SynthOptions
from stowplan.compiler.compiling.destinations import destinations
from stowplan.compiler.compiling.reading import read
from stowplan.compiler.diagnostics.console import print_text, terminal
from stowplan.compiler.diagnostics.escaping import logged
from stowplan.compiler.diagnostics.report import Diagnostic, Report
from stowplan.compiler.lowering.app_checks import AppChecks
from stowplan.compiler.lowering.composer_pool import ComposerPool
from stowplan.compiler.lowering.extensions import Extensions, taken
from stowplan.compiler.lowering.lower import lower
from stowplan.compiler.model import Program
from stowplan.compiler.pipeline import Compiler
from stowplan.compiler.repository.layout import Repository
from stowplan.compiler.repository.load import Checkout
from stowplan.schema.diagnostics import did_you_mean


class SynthesisError(SystemExit):
    """What an app stands for has errors, or the output is not what it stands for. Nothing was written.

    `report` holds all that there is to be said. A program that does not catch it ends with these lines and exit code 1.
    """

    def __init__(self, report: Report, command: str, lines: Sequence[str] = ()) -> None:
        self.report = report
        super().__init__("\n".join((*map(_line, advising(report.diagnostics, command)), *lines)))


class App(SpecApp):
    """An app for the repository in the folder `repository`, whose platform file says what is true for all specs.

    Specs in the files of the repository are part of the app: `spec` returns their constructs. `environment` names one
    of those in the platform file, or a cluster in it; it has to be given if there are any. `synth` writes the output to
    the folder `out`, by default that of `stowplan synth`. Raises `SynthesisError` for errors in the files, `ValueError`
    for a wrong environment or folder.
    """

    def __init__(self, repository: str = ".", *, environment: str = "", out: str | None = None) -> None:
        folder = Path(repository)
        self._at = Place.now(folder.resolve())
        self._checkout = Checkout(Repository(folder, app=self._at.file))
        try:
            self._out = writable_output(Path(out) if out else None, self._checkout.repo)
        except typer.BadParameter as error:
            raise ValueError(error.message) from None
        self._command, report = command(self._checkout.repo, self._out), Report()
        found = {each.name: each for each in destinations(self._checkout, self._out, report)}
        if found and environment not in found:
            raise ValueError(f"There is no environment {environment!r}. {did_you_mean(environment, found)}")
        if not found:
            raise SynthesisError(report, self._command)
        self._target = found[environment]
        reading = read(self._checkout, self._target, (), report)
        units = lower(reading.program.specs, reading.program, reading.context, report)
        if report.failed:
            raise SynthesisError(report, self._command)
        self._said = tuple(report.diagnostics)
        self._composer = ComposerPool()
        self._composer.use_jsii()
        super().__init__(
            reading.context, self._composer.render(units), folder.resolve(), AppChecks(reading.sources.prepared)
        )

    def synth(self, arguments: Sequence[str] = ()) -> None:
        """Check what the app stands for as `stowplan synth` does, write the output, and say what starts.

        Runs that have not changed are kept. `arguments` are `--check`, `--base REV` and `--recompile NAME`, as that
        command has them. Warnings go to standard error. Raises `SynthesisError` for errors, or with `--check` if the
        output is not up to date; `SystemExit` for arguments that are wrong.
        """
        options, parser = _options(arguments)
        compiler = Compiler(self._checkout, self._composer, self._taken)
        try:
            found = options.synthesis(compiler, self._out, [self._target])
            report, ended = options.end(found)
        except typer.BadParameter as error:
            parser.error(f"{error.param_hint}: {error.message}")
        lines = [line for each in ended for line in each.lines]
        if report.failed or not all(each.more.get("upToDate", True) for each in ended):
            raise SynthesisError(report, self._command, lines)
        print_text(terminal(stderr=True), advising(report.diagnostics, self._command), found.texts)
        sys.stderr.writelines(f"{line}\n" for line in lines)

    def _taken(self, program: Program) -> Extensions:
        before = Extensions((), self.context, diagnostics=self._said)
        return taken(before, self.extended(), self._at.line, program, self._at.file)


def _options(arguments: Sequence[str]) -> tuple[SynthOptions, ArgumentParser]:
    parser = ArgumentParser(description="Write the manifests of this app.")
    parser.add_argument("--check", action="store_true", help="change nothing; fail if the output is not up to date")
    parser.add_argument("--base", metavar="REV", help="reviewed commit; in CI, `--check` needs it")
    parser.add_argument(
        "--recompile", metavar="NAME", action="append", default=[], help="start the runs of a spec anew"
    )
    found = parser.parse_args(arguments)
    return SynthOptions(found.check, found.base, found.recompile), parser


def _line(said: Diagnostic) -> str:
    at = f" {said.field_path}:" if said.field_path else ""
    return logged(f"{said.location}: {said.severity} {said.code}:{at} {said.message} {said.hint}")
