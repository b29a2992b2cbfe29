"""Settings that make jsii run on the bundled Node.js."""

import os

from stowplan.library.composition import node


def prepare_node() -> None:
    """Set environment variables so that cdk8s runs on the Node.js that pip installed with Stowplan.

    Call it before the first `import cdk8s`, which starts Node.js. Variables that the user has set are not changed.
    jsii (1.142) caches unpacked packages below the home folder. It gives up if it cannot write there, or if other users
    can, as in many CI containers. Without that cache it unpacks them on every start, which costs some 30 ms.
    """
    os.environ.setdefault("JSII_RUNTIME_PACKAGE_CACHE", "disabled")
    if not os.environ.get("JSII_NODE"):
        _use_bundled_node()


def _use_bundled_node() -> None:
    """Set `JSII_NODE`, the program that jsii starts instead of the `node` on PATH.

    Users cannot change the bundled Node.js, so jsii's warnings about its age are switched off. The first variable for
    that is a list of major versions, the others take any value.
    """
    os.environ["JSII_NODE"] = str(node.bundled())
    os.environ.setdefault("JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION", node.bundled_major())
    os.environ.setdefault("JSII_SILENCE_WARNING_DEPRECATED_NODE_VERSION", "1")
    os.environ.setdefault("JSII_SILENCE_WARNING_UNTESTED_NODE_VERSION", "1")
