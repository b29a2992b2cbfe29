"""Files that `stowplan init` writes: a repository that compiles without further edits."""

import os
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from string import Template

from stowplan.compiler.generate import export
from stowplan.compiler.generate.starter import argocd_name, environments, installation, released
from stowplan.compiler.generate.starter.ci_files import Ci, ci_files
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
}
_LEGACY = {"specs/mnist.yaml": "legacy-dataset.yaml", "specs/mnist-train.yaml": "legacy-training.yaml"}
"""Specs of `SampleSet` and `PaddleJob`, in the place of `Dataset` and `Training`."""


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
    templates = _TEMPLATES | (_LEGACY if legacy else {})
    texts = {
        path: Template((here / file).read_text(encoding="utf-8")).safe_substitute(values)
        for path, file in templates.items()
    }
    texts[_PLATFORM] += environments.text(environment_names)
    texts[installation.FILE] = installation.requirements()
    return texts | ci_files(ci) | {f"{SCHEMAS}/{name}": text for name, text in export.schemas(kubernetes).items()}


def _path(folder: Path) -> str:
    """Return where the output of the repository in `folder` will lie in its Git work tree; `out` without one."""
    repo = Repository(folder)
    found = around(repo, repo.usual_output, others=False).place
    # A name that is no UTF-8 cannot be written.
    return found if found and found.isprintable() else Platform().argocd.path


def write(
    folder: Path, *, legacy: bool = False, environment_names: Sequence[str] = (), ci: Ci = Ci.CHECK
) -> tuple[list[str], list[str]]:
    """Write the missing files. Return two lists of paths in `folder`: written files, and existing ones, which stay.

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
        own_files.clear(place.parent)
        # A dangling link is there too.
        if os.path.lexists(place):
            kept.append(path)
        else:
            own_files.replace(place, text.encode())
            written.append(path)
    return written, kept
