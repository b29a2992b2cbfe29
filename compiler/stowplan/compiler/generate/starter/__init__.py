"""Files that `stowplan init` writes: a repository that compiles without further edits."""

import errno
from collections.abc import Sequence
from enum import StrEnum
from importlib.metadata import version
from pathlib import Path
from string import Template

from stowplan.compiler.generate import export
from stowplan.compiler.generate.starter import argocd_name, environments, installation, released
from stowplan.compiler.repository import own_files
from stowplan.compiler.repository.layout import Repository
from stowplan.compiler.repository.work_tree import around
from stowplan.compiler.yaml.emitter import quoted
from stowplan.schema.platform.platform import Platform

SCHEMAS = ".schemas"
"""Folder of the editor schemas, which `stowplan schema .schemas` updates after an upgrade."""

_PLATFORM = "stowplan.yaml"
_TEMPLATES = {
    _PLATFORM: "platform.yaml",
    "specs/mnist.yaml": "dataset.yaml",
    "specs/mnist-train.yaml": "training.yaml",
    ".vscode/settings.json": "vscode-settings.json",
    ".vscode/extensions.json": "vscode-extensions.json",
    ".github/workflows/stowplan.yaml": "github-workflow.yaml",
    ".github/workflows/stowplan-comment.yaml": "github-comment.yaml",
    "CODEOWNERS": "codeowners",
    ".gitlab-ci.yml": "gitlab-ci.yaml",
    ".pre-commit-config.yaml": "pre-commit-config.yaml",
    ".gitattributes": "gitattributes",
    ".gitignore": "gitignore",
    "requirements/stowplan-dependencies.txt": "requirements.txt",
}
_LEGACY = {"specs/mnist.yaml": "legacy-dataset.yaml", "specs/mnist-train.yaml": "legacy-training.yaml"}
"""Specs of `SampleSet` and `PaddleJob`, in the place of `Dataset` and `Training`."""
_COMMIT = {
    ".github/workflows/stowplan.yaml": "github-workflow-commit.yaml",
    ".github/workflows/stowplan-output.yaml": "github-output.yaml",
    ".gitlab-ci.yml": "gitlab-ci-commit.yaml",
    ".pre-commit-config.yaml": "pre-commit-config-commit.yaml",
    "ci/commit-output.sh": "commit-output.sh",
}
"""CI that writes the output folder, in the place of CI that checks it."""


class Ci(StrEnum):
    """What CI does with the output folder."""

    CHECK = "check"
    COMMIT = "commit"


def files(
    kubernetes: str = Platform().kubernetes_version,
    *,
    name: str = Platform().argocd.name,
    path: str = Platform().argocd.path,
    legacy: bool = False,
    environment_names: Sequence[str] = (),
    ci: Ci = Ci.CHECK,
) -> dict[str, str]:
    """Return the contents of the files, by path relative to the folder of the user's repository.

    `kubernetes` is the version of Kubernetes for the editor schemas, such as `1.36`. `name` is what the names of Argo
    CD's objects begin with, and `path` where it finds the output. `legacy` selects specs of the kinds `SampleSet` and
    `PaddleJob` instead of `Dataset` and `Training`. `environment_names` are the environments of the platform file, in
    their order. `ci` says whether people commit the output and CI checks it, or CI commits it.
    """
    images = released.platform_lines(version("stowplan"))
    values = {"images": images, "name": quoted(name), "path": quoted(path)}
    here = Path(__file__).parent
    # `safe_substitute`, because `$schema` and the variables of scripts are no placeholders of this template.
    templates = _TEMPLATES | (_LEGACY if legacy else {}) | (_COMMIT if ci is Ci.COMMIT else {})
    texts = {
        path: Template((here / file).read_text(encoding="utf-8")).safe_substitute(values)
        for path, file in templates.items()
    }
    texts[_PLATFORM] += environments.text(environment_names)
    texts[installation.FILE] = installation.requirements()
    return texts | {f"{SCHEMAS}/{name}": text for name, text in export.schemas(kubernetes).items()}


def of_other_ci(folder: Path, ci: Ci) -> list[str]:
    """Return the files in `folder` that `init` wrote for the other value of `ci`. Edited ones are not among them."""
    other = files(ci=Ci.CHECK if ci is Ci.COMMIT else Ci.COMMIT)
    own = files(ci=ci)
    return [path for path in sorted(_COMMIT) if path in other and _is(folder / path, other[path], own.get(path))]


def _is(file: Path, text: str, other: str | None) -> bool:
    """Whether a file has this text, and `other` is another one."""
    return text != other and file.is_file() and file.read_bytes() == text.encode()


def _path(folder: Path) -> str:
    """Return where the output of the repository in `folder` will lie in its Git work tree; `out` without one."""
    repo = Repository(folder)
    found = around(repo, repo.usual_output, others=False).place
    # A name that is no UTF-8 cannot be written.
    return found if found and found.isprintable() else Platform().argocd.path


def write(
    folder: Path, *, legacy: bool = False, environment_names: Sequence[str] = (), ci: Ci = Ci.CHECK
) -> tuple[list[str], list[str]]:
    """Write the missing files. Return two lists of paths: written files, and existing files, which stay unchanged.

    `legacy`, `environment_names` and `ci` are as in `files`. Raises `OSError` if a folder cannot be created or is a
    link, or a file cannot be written.
    """
    wanted = files(
        export.kubernetes_version(folder),
        name=argocd_name.derived(folder),
        path=_path(folder),
        legacy=legacy,
        environment_names=environment_names,
        ci=ci,
    )
    written: list[str] = []
    kept: list[str] = []
    for path, text in sorted(wanted.items()):
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
