"""The program that wrote the committed output, if it was not the command line."""

from pathlib import Path

from stowplan.compiler.diagnostics.report import Diagnostic, diagnose_at
from stowplan.compiler.model import Program
from stowplan.compiler.output import paths
from stowplan.compiler.output.folder import OutputFolder
from stowplan.compiler.output.render import LONGEST_HEADER, command_in
from stowplan.library.delivery import reporter
from stowplan.schema.diagnostics import finding

_PYTHON = "python "


def others(tree: OutputFolder, program: Program, repo: Path) -> list[Diagnostic]:
    """Return SP562 if a program in the repository's folder `repo` wrote the output `tree`, and this is not its app.

    The headers of CRDs and reporters say so, which every command writes anew.
    """
    ours = (path for path in tree.files if path.startswith(f"{paths.CRDS}/") or f"/{reporter.FOLDER}/" in path)
    path = min((each for each in ours if each.endswith(".yaml")), default="")
    command = command_in(tree.head(path, LONGEST_HEADER))
    file = command.removeprefix(_PYTHON).strip("'")
    if not command.startswith(_PYTHON) or command == program.command or not (repo / file).is_file():
        return []
    message = f"The output was written by `{command}`, which makes specs that are not in files; they would be gone."
    hint = "Run that program. If it is not needed any more, remove it first."
    return [diagnose_at(paths.location(tree.root, path), finding("SP562", (), message, hint))]
