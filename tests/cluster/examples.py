"""Compiled repositories for Argo CD: the examples under `out/`, and the old systems' documents."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml
from typer.testing import CliRunner

from stowplan.compiler.cli import app
from stowplan.schema.kinds.table import TRAINING_KINDS
from tests import repositories
from tests.cluster.client import Manifest
from tests.cluster.shared import REPOSITORY

OUT = REPOSITORY / "out"

_ARGO_CD = """\
argocd: {repoURL: https://git.example.com/ml/data.git}
"""


@dataclass(frozen=True)
class Example:
    """The output of one repository: what the clusters get, and the objects for Argo CD itself."""

    name: str
    manifests: list[Manifest]
    argo_cd: list[Manifest]
    companions: list[Manifest] = field(default_factory=list)
    """What it names and somebody else makes."""

    @property
    def awaited_namespaces(self) -> list[str]:
        """The namespaces that its manifests live in, but that somebody else must have made."""
        used = {manifest["metadata"].get("namespace") for manifest in self.manifests} - {None}
        made = {manifest["metadata"]["name"] for manifest in self.manifests if manifest["kind"] == "Namespace"}
        return sorted(used - made)

    def pod_security(self, namespace: str) -> str:
        """The strictest level that the design promises the namespace's pods to fit."""
        inside = [manifest for manifest in self.manifests if manifest["metadata"].get("namespace") == namespace]
        if any(_reaches_the_host(spec) for manifest in inside for spec in pod_specs(manifest)):
            return "privileged"
        return "baseline" if TRAINING_KINDS & {manifest["kind"] for manifest in inside} else "restricted"


def examples() -> dict[str, Callable[[], Example]]:
    """How to get each folder of `out/` with an inventory, by its path: an example, or a cluster of one."""
    folders = sorted(path.parent for path in OUT.rglob("_inventory"))
    names = {folder.relative_to(OUT).as_posix(): folder for folder in folders}
    return {name: partial(_load, name, folder) for name, folder in names.items()}


def corpus() -> dict[str, Callable[[], Example]]:
    """How to get the old systems' documents, compiled together, by the name `corpus`; none where they are absent."""
    if not repositories.CORPUS:
        return {}
    return {"corpus": lambda: compile_example("corpus", repositories.corpus(), f"{repositories.PLATFORM}{_ARGO_CD}")}


def compile_example(name: str, files: dict[str, str], platform: str, companions: Sequence[Manifest] = ()) -> Example:
    """Files of specs, by path, compiled by the command line with a platform file."""
    with TemporaryDirectory() as folder:
        repo = Path(folder)
        repositories.lay_out(repo, files)
        (repo / "stowplan.yaml").write_text(platform)
        result = CliRunner().invoke(app, ["synth", folder], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return replace(_load(name, repo / "out"), companions=list(companions))


def agent_pod_specs(example: Example) -> list[dict[str, Any]]:
    """The pod specs that the compiler wrote alone, without a user's template in them."""
    return [
        spec
        for manifest in example.manifests
        if manifest["metadata"].get("labels", {}).get("stowplan.dev/kind") not in {None, *TRAINING_KINDS}
        for spec in pod_specs(manifest)
    ]


def pod_specs(value: Any) -> Iterator[dict[str, Any]]:
    """Every pod spec anywhere in a manifest of a built-in kind or an engine's."""
    if isinstance(value, dict):
        if isinstance(value.get("containers"), list):
            yield value
        for item in value.values():
            yield from pod_specs(item)
    elif isinstance(value, list):
        for item in value:
            yield from pod_specs(item)


def _load(name: str, folder: Path) -> Example:
    manifests: list[Manifest] = []
    argo_cd: list[Manifest] = []
    for path in sorted(folder.rglob("*.yaml")):
        target = argo_cd if path.relative_to(folder).parts[0] == "argocd" else manifests
        documents = yaml.load_all(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
        target.extend(document for document in documents if document)
    return Example(name, manifests, argo_cd)


def _reaches_the_host(spec: dict[str, Any]) -> bool:
    volumes = spec.get("volumes") or []
    return bool(spec.get("hostNetwork")) or any("hostPath" in volume for volume in volumes)
