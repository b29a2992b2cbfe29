"""Whether `argocd` of a platform file fits the Git work tree that the repository and its output lie in."""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from stowplan.compiler.diagnostics.document import Document
from stowplan.compiler.diagnostics.report import Diagnostic, diagnose
from stowplan.compiler.environments.target import Target
from stowplan.compiler.repository.layout import Repository
from stowplan.compiler.repository.work_tree import Around, around
from stowplan.schema.diagnostics import Finding, finding
from stowplan.schema.platform.argocd import ArgoCD

_NAME = str(ArgoCD.model_fields["name"].default)


def surroundings(
    repo: Repository, out: Path, settings: ArgoCD, document: Document | None, target: Target | None = None
) -> tuple[Around, list[Diagnostic]]:
    """Look around a repository; return what was seen, and the diagnostics SP813 and SP814.

    `out` is the output folder, that of `target` with environments. `settings` are those of `argocd` for this folder.
    `document` is the platform file as it is written.
    """
    suffix = target.name.split("/") if target else []
    given = document is not None and "name" in document.data.get("argocd", {})
    named = settings.repo_url is not None and not given and settings.name in (_NAME, "-".join([_NAME, *suffix]))
    seen = around(repo, out, others=named)
    if document is None or settings.repo_url is None:
        return seen, []
    end = "/".join(["", *suffix])
    return seen, [diagnose(document, each) for each in _findings(settings, seen, end)]


def _findings(settings: ArgoCD, seen: Around, end: str) -> Iterator[Finding]:
    """Yield the findings; `end` are the folders of environment and cluster at the end of paths, with slashes before."""
    if seen.others:
        message = (
            f"This Git work tree has another platform file, {seen.others[0]}, and the Argo CD objects of this one have"
            f" the default name {_NAME}. Of two repositories with one name, each deletes what the other one brought."
        )
        hint = f"Give this one a `name` of its own. If Argo CD syncs it already, keep the name: `name: {_NAME}`."
        yield finding("SP813", ("argocd", "name"), message, hint)
    path = str(PurePosixPath(settings.path)).removesuffix(end)
    here = f"/{seen.place}".removesuffix(end).lstrip("/") or "."
    if seen.place and path != here:
        message = f"Argo CD looks for the output at {path} of `repoURL`, but in this Git work tree it is at {here}."
        hint = f"Write `path: {here}`, unless the output is copied into another repository."
        yield finding("SP814", ("argocd", "path"), message, hint)
