"""A user's repository and the command, for tests of the user's view."""

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

import stowplan.library.constructs  # noqa: F401 - brings the Node that `synth` needs, before a test changes folder
from stowplan.compiler.cli import app

PLATFORM = """\
images: {registry: registry.example.com/ml, tag: "1"}
argocd: {repoURL: https://git.example.com/ml/data.git}
"""
SPEC = """\
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleSet
metadata:
  name: imagenet
spec:
  partitions: 1
  source:
    uri: s3://imagenet.s3.eu-west-1.amazonaws.com/train/
  secretRef:
    name: imagenet
  cache:
    levels:
      - path: /data/imagenet
        cacheSize: 1024
"""


def laid_out(repo: Path, spec: str = SPEC, platform: str = PLATFORM) -> Path:
    """A repository with one spec in the folder `repo`."""
    (repo / "stowplan.yaml").write_text(platform)
    (repo / "specs").mkdir(exist_ok=True)
    (repo / "specs/imagenet.yaml").write_text(spec)
    return repo


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments, catch_exceptions=False)


def diagnostics_of(*arguments: str) -> list[dict[str, Any]]:
    """Return the diagnostics of a command."""
    found: list[dict[str, Any]] = json.loads(run(*arguments, "--format", "json").stdout)["diagnostics"]
    return found


def codes(*arguments: str) -> list[str]:
    """Return severities and codes, such as `error SP101`, in the order of the report."""
    return [f"{each['severity']} {each['code']}" for each in diagnostics_of(*arguments)]
