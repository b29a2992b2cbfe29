"""The files of a starter that decide what is checked and who must approve it: CI, hooks, owners, Git's own files."""

from enum import StrEnum
from pathlib import Path

from stowplan.compiler.generate.starter.stamp import stamped

_TEMPLATES = {
    ".github/workflows/stowplan.yaml": "github-workflow.yaml",
    ".github/workflows/stowplan-comment.yaml": "github-comment.yaml",
    "CODEOWNERS": "codeowners",
    ".gitlab-ci.yml": "gitlab-ci.yaml",
    ".pre-commit-config.yaml": "pre-commit-config.yaml",
    ".gitattributes": "gitattributes",
    ".gitignore": "gitignore",
    "requirements/stowplan-dependencies.txt": "requirements.txt",
}
_COMMIT = {
    ".github/workflows/stowplan.yaml": "github-workflow-commit.yaml",
    ".github/workflows/stowplan-output.yaml": "github-output.yaml",
    ".gitlab-ci.yml": "gitlab-ci-commit.yaml",
    ".pre-commit-config.yaml": "pre-commit-config-commit.yaml",
    "ci/commit-output.sh": "commit-output.sh",
}
"""CI that writes the output folder, in the place of CI that checks it."""


class Ci(StrEnum):
    """What CI does with the output folder: check what people commit, or commit it itself."""

    CHECK = "check"
    COMMIT = "commit"

    @property
    def other(self) -> "Ci":
        """The other value."""
        return Ci.COMMIT if self is Ci.CHECK else Ci.CHECK


def ci_files(ci: Ci) -> dict[str, str]:
    """Return the contents of the files, by path relative to the folder of the user's repository."""
    here = Path(__file__).parent
    templates = _TEMPLATES | (_COMMIT if ci is Ci.COMMIT else {})
    return {path: stamped((here / file).read_text(encoding="utf-8")) for path, file in templates.items()}


def of_other_ci(folder: Path, ci: Ci) -> list[str]:
    """Return the paths, relative to `folder`, of unedited files that `init` wrote for the other value of `ci`."""
    own, other = ci_files(ci), ci_files(ci.other)
    return [path for path, text in sorted(other.items()) if text != own.get(path) and _is(folder / path, text)]


def ci_of(folder: Path) -> Ci:
    """Return the sort of CI that the repository in `folder` has: one that commits has files of its own."""
    alone = ci_files(Ci.COMMIT).keys() - ci_files(Ci.CHECK).keys()
    return Ci.COMMIT if any((folder / path).exists() for path in alone) else Ci.CHECK


def _is(file: Path, text: str) -> bool:
    return file.is_file() and file.read_bytes() == text.encode()
