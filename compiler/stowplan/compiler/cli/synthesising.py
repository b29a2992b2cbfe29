"""What `synth` and a program of one's own do with targets: compile them, and write or compare the output."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from stowplan.compiler.cli import results
from stowplan.compiler.cli.results import Ended
from stowplan.compiler.committed import adoption, vouching
from stowplan.compiler.committed.recompile import Recompile
from stowplan.compiler.committed.vouching import Base
from stowplan.compiler.diagnostics.ci import in_ci
from stowplan.compiler.diagnostics.report import Diagnostic, Report, diagnose_at
from stowplan.compiler.environments.target import Target
from stowplan.compiler.environments.together import strange
from stowplan.compiler.git.work_tree import GitError, around
from stowplan.compiler.output import paths
from stowplan.compiler.pipeline import Compiler, Options
from stowplan.compiler.repository.layout import Repository
from stowplan.compiler.synthesis import Synthesis, synthesis
from stowplan.schema.diagnostics import finding


@dataclass(frozen=True, slots=True)
class SynthOptions:
    """What the user asks `synth` for: the options `--check`, `--base` and `--recompile`."""

    check: bool = False
    base: str | None = None
    recompile: Sequence[str] = ()

    def synthesis(self, compiler: Compiler, out: Path, targets: Sequence[Target]) -> Synthesis:
        """Compile targets for their folders below `out`. Raises `typer.BadParameter` for an option that is wrong."""
        renewed = Recompile.named(self.recompile)
        bases = {each.name: _vouching_base(compiler.checkout.repo, out, self.base, each) for each in targets}
        options = {name: Options(renewed, own, keep_objects=False) for name, own in bases.items()}
        found = synthesis(compiler, out, targets, options)
        if self.check and self.base is None and in_ci():
            for each in found.parts:
                each.report.add(_base_missing(each.out))
        unknown = renewed.unknown([spec for each in found.parts for spec in each.compiled.specs])
        if unknown and not found.report.failed:
            raise typer.BadParameter(f"There is no spec {unknown[0]}.", param_hint="--recompile")
        return found

    def end(self, found: Synthesis) -> tuple[Report, list[Ended]]:
        """Write or compare the output of all targets. See `results.write` and `results.check`."""
        end = results.check if self.check else results.write
        return end(found, list(strange(found.out, [each.target for each in found.parts], refused=self.check)))


def _vouching_base(repo: Repository, out: Path, revision: str | None, target: Target) -> Base | None:
    """Return the runs of a target in the commit `revision`, which was reviewed; None if `revision` is None.

    `out` is the output folder of all targets. Raises `typer.BadParameter` if the commit cannot be read.
    """
    if revision is None:
        return None
    try:
        top = around(out, repo.folder)
        return vouching.at_commit(top, adoption.at_commit(target, top, out, revision), revision)
    except GitError as error:
        raise typer.BadParameter(str(error), param_hint="--base") from None


def _base_missing(out: Path) -> Diagnostic:
    """Return the diagnostic SP526: `--check` was called in CI without a base commit. `out` is the output folder."""
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
