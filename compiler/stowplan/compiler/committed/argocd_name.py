"""The name of the Argo CD objects of the committed output, which a change of the platform file must not change."""

from pathlib import Path
from typing import TYPE_CHECKING

from stowplan.compiler.kubernetes.fields import identity
from stowplan.compiler.output import paths
from stowplan.compiler.output.folder import OutputFolder
from stowplan.compiler.output.read_back import reread
from stowplan.schema.diagnostics import Finding, finding
from stowplan.schema.platform.argocd import ArgoCD

if TYPE_CHECKING:
    from stowplan.compiler.committed.last_output import Committed

_ROOT = "-root"


def committed(out: Path) -> str:
    """Return the name of the Argo CD objects in the output folder `out`; empty without a root Application."""
    tree = OutputFolder(out, frozenset({paths.ROOT}))
    try:
        body = reread(tree.read(paths.ROOT) or b"")
    except OSError:
        return ""
    return identity(body or {}).name.removesuffix(_ROOT)


def findings(settings: ArgoCD, previous: "Committed") -> list[Finding]:
    """Return SP812 if the committed root Application has another name than `settings`, those of `argocd`, give it.

    Without a committed root Application, and if none is written any more, there is nothing to compare.
    """
    entries = (
        each for each in previous.inventory.entries if each.path == paths.ROOT and each.path in previous.tree.files
    )
    before = next((each.id.name.removesuffix(_ROOT) for each in entries), settings.name)
    if settings.repo_url is None or before == settings.name:
        return []
    message = (
        f"The Argo CD objects of this output are called {before} until now, and would be called {settings.name}. Argo"
        f" CD would delete the Applications of {before}, and with them all jobs that run."
    )
    hint = f"Keep the name {before}, or hand the objects over first, as `stowplan explain SP812` says."
    return [finding("SP812", ("argocd", "name"), message, hint)]
