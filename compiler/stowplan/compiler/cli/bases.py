"""The base commit of `synth`, a reviewed commit: the option `--base` names it, and `--check` in CI needs it."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from stowplan.compiler.diagnostics.report import Diagnostic

if TYPE_CHECKING:
    from stowplan.compiler.committed.vouching import Base
    from stowplan.compiler.environments.target import Target
    from stowplan.compiler.repository.layout import Repository


def vouching_base(repo: "Repository", out: Path, revision: str | None, target: "Target") -> "Base | None":
    """Return the runs of a target in the commit `revision`, which was reviewed; None if `revision` is None.

    `out` is the output folder of all targets. Raises `typer.BadParameter` if the commit cannot be read.
    """
    if revision is None:
        return None
    from stowplan.compiler.committed import adoption, vouching  # noqa: PLC0415 - start-up time
    from stowplan.compiler.git.work_tree import GitError, around  # noqa: PLC0415

    try:
        top = around(out, repo.folder)
        return vouching.at_commit(top, adoption.at_commit(target, top, out, revision), revision)
    except GitError as error:
        raise typer.BadParameter(str(error), param_hint="--base") from None


def base_missing(out: Path) -> Diagnostic:
    """Return the diagnostic SP526: `--check` was called in CI without a base commit. `out` is the output folder."""
    from stowplan.compiler.diagnostics.report import diagnose_at  # noqa: PLC0415
    from stowplan.compiler.output import paths  # noqa: PLC0415 - start-up time
    from stowplan.schema.diagnostics import finding  # noqa: PLC0415

    message = (
        "In CI, `--check` needs a base commit: without one, a run that was never compiled could pass for one that is"
        " reused."
    )
    hint = (
        'On GitHub give `--base "refs/remotes/origin/$GITHUB_BASE_REF"` in pull requests and `--base HEAD^1` after a'
        ' push to the main branch, on GitLab `--base "refs/remotes/origin/$CI_MERGE_REQUEST_TARGET_BRANCH_NAME"`,'
        " elsewhere the commit that the change is merged into; fetch the whole history (`fetch-depth: 0`,"
        " `GIT_DEPTH: 0`)."
    )
    return diagnose_at(paths.location(out), finding("SP526", (), message, hint))
