"""Test input outside of the repository. Tests that need it are skipped if it is missing."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster.client import Manifest

REPOSITORY = Path(__file__).parents[2]
SHARED = REPOSITORY.parent / "shared"


def shared_file(*parts: str) -> Path:
    """A file of the shared folder; skips when it is not there."""
    path = SHARED.joinpath(*parts)
    if not path.is_file():
        pytest.skip(f"no ../shared/{'/'.join(parts)}")
    return path


def corpus() -> dict[str, Path]:
    """The documents of the replaced systems by name; none where the folder is absent."""
    return {path.stem: path for path in sorted((SHARED / "corpus").glob("*.yaml"))}


def parameters(values: Mapping[str, object], what: str) -> list[Any]:
    """One parameter set per value with its name as id; when there is none, one that is skipped and says so."""
    if not values:
        return [pytest.param(None, id="none", marks=pytest.mark.skip(reason=f"no {what}"))]
    return [pytest.param(value, id=name) for name, value in values.items()]


def load_one(path: Path) -> Manifest:
    """The one manifest of a YAML file."""
    manifest: Manifest = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    return manifest


def engine_crd(group: str, kind: str) -> Manifest:
    """The CRD of a kind of an engine or of Argo CD."""
    return load_one(shared_file("crds", "engines", f"{group}_{kind.lower()}s.yaml"))


def legacy_crd(name: str) -> Manifest:
    """A CRD that the old operator shipped, such as `batch.paddlepaddle.org_samplesets`."""
    return load_one(shared_file("crds", "legacy", f"{name}.yaml"))
