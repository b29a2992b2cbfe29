"""Helm's Go SDK as in `helm.py`, then kubeconform on all files. Stowplan's own kinds pass unchecked."""

import subprocess
import sys

import helm  # type: ignore[import-not-found]  # noqa: F401 - renders
from inputs import FILES, OUT  # type: ignore[import-not-found]

SCHEMAS = f"{FILES}/schemas/{{{{.ResourceKind}}}}{{{{.KindSuffix}}}}.json"

subprocess.run(
    [sys.argv[4], "-strict", "-summary", "-ignore-missing-schemas", "-schema-location", SCHEMAS, OUT], check=True
)
