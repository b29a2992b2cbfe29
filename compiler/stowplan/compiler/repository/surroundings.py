"""Whether `argocd` of a platform file fits the Git work tree that the repository and its output lie in."""

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from stowplan.compiler.diagnostics.report import Diagnostic, diagnose
from stowplan.compiler.environments.target import Target
from stowplan.compiler.repository.layout import Repository
from stowplan.compiler.repository.work_tree import Around, around
from stowplan.schema.diagnostics import Finding, finding
from stowplan.schema.platform.argocd import ArgoCD

_NAME = str(ArgoCD.model_fields["name"].default)


def surroundings(
    repo: Repository, out: Path, places: Sequence[tuple[Target, ArgoCD]]
) -> tuple[Around, list[tuple[Target, Diagnostic]]]:
    """Look around a repository; return what was seen, and the diagnostics SP813 and SP814 of each target.

    `out` is the output folder of all targets. `places` are the targets with their settings of `argocd`.
    """
    synced = [(target, settings) for target, settings in places if settings.repo_url is not None]
    seen = around(repo, out, others=any(_has_default_name(target, settings) for target, settings in synced))
    found = ((target, each) for target, settings in synced for each in _findings(target, settings, seen))
    return seen, [(target, diagnose(target.source, each)) for target, each in found]


def _has_default_name(target: Target, settings: ArgoCD) -> bool:
    suffix = target.name.split("/") if target.name else []
    return "name" not in target.source.data.get("argocd", {}) and settings.name in (_NAME, "-".join([_NAME, *suffix]))


def _findings(target: Target, settings: ArgoCD, seen: Around) -> Iterator[Finding]:
    if seen.others and _has_default_name(target, settings):
        message = (
            f"This Git work tree has another platform file, {seen.others[0]}, and the Argo CD objects of this one have"
            f" the default name {_NAME}. Of two repositories with one name, each deletes what the other one brought."
        )
        hint = f"Give this one a `name` of its own. If Argo CD syncs it already, keep the name: `name: {_NAME}`."
        yield finding("SP813", ("argocd", "name"), message, hint)
    # The path of a target ends in its name.
    path = (
        str(PurePosixPath("/", settings.path)).removesuffix(f"/{target.name}" if target.name else "").lstrip("/") or "."
    )
    if seen.place and path != seen.place:
        message = (
            f"Argo CD looks for the output at {path} of `repoURL`, but in this Git work tree it is at {seen.place}."
        )
        hint = f"Write `path: {seen.place}`, unless the output is copied into another repository."
        yield finding("SP814", ("argocd", "path"), message, hint)
