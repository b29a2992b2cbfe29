"""Files that `stowplan init` writes: a repository that compiles without further edits."""

import errno
from importlib.metadata import version
from pathlib import Path
from string import Template

from stowplan.compiler.generate import export
from stowplan.compiler.generate.starter import installation
from stowplan.compiler.repository import own_files
from stowplan.schema.platform.platform import Platform

SCHEMAS = ".schemas"
"""Folder of the editor schemas, which `stowplan schema .schemas` updates after an upgrade."""

_TEMPLATES = {
    "stowplan.yaml": "platform.yaml",
    "specs/mnist.yaml": "dataset.yaml",
    "specs/mnist-train.yaml": "training.yaml",
    ".vscode/settings.json": "vscode-settings.json",
    ".vscode/extensions.json": "vscode-extensions.json",
    ".github/workflows/stowplan.yaml": "github-workflow.yaml",
    "CODEOWNERS": "codeowners",
    ".gitlab-ci.yml": "gitlab-ci.yaml",
    ".pre-commit-config.yaml": "pre-commit-config.yaml",
    ".gitattributes": "gitattributes",
    "requirements/stowplan-dependencies.txt": "requirements.txt",
}
_LEGACY = {"specs/mnist.yaml": "legacy-dataset.yaml", "specs/mnist-train.yaml": "legacy-training.yaml"}
"""Specs of `SampleSet` and `PaddleJob`, in the place of `Dataset` and `Training`."""


def files(kubernetes: str = Platform().kubernetes_version, *, legacy: bool = False) -> dict[str, str]:
    """Return the contents of the files, by path relative to the folder of the user's repository.

    `kubernetes` is the version of Kubernetes for the editor schemas, such as `1.36`. `legacy` selects specs of the
    kinds `SampleSet` and `PaddleJob` instead of `Dataset` and `Training`.
    """
    values = {"version": version("stowplan")}
    here = Path(__file__).parent
    # `safe_substitute`, because `$schema` and the variables of scripts are no placeholders of this template.
    texts = {
        path: Template((here / name).read_text(encoding="utf-8")).safe_substitute(values)
        for path, name in (_TEMPLATES | (_LEGACY if legacy else {})).items()
    }
    texts[installation.FILE] = installation.requirements()
    return texts | {f"{SCHEMAS}/{name}": text for name, text in export.schemas(kubernetes).items()}


def write(folder: Path, *, legacy: bool = False) -> tuple[list[str], list[str]]:
    """Write the missing files. Return two lists of paths: written files, and existing files, which stay unchanged.

    `legacy` selects the specs as in `files`. Raises `OSError` if a folder cannot be created or is a link, or a file
    cannot be written.
    """
    written: list[str] = []
    kept: list[str] = []
    for path, text in sorted(files(export.kubernetes_version(folder), legacy=legacy).items()):
        place = folder / path
        own_files.make_folder(place.parent, folder)
        try:
            # Exclusive creation also refuses a dangling link.
            with place.open("x", encoding="utf-8", newline="\n") as file:
                file.write(text)
        except OSError as error:
            if error.errno != errno.EEXIST:
                raise
            kept.append(path)
        else:
            written.append(path)
    return written, kept
