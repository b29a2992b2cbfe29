"""Settings that make jsii run on the same Node.js as the rest of Stowplan."""

import os

from stowplan.library.composition import node


def prepare_node() -> None:
    """Set environment variables so that cdk8s runs on the Node.js of `node.program`.

    Call it before the first `import cdk8s`, which starts Node.js. Variables that the user has set are not changed.
    jsii (1.142) caches unpacked packages below the home folder. It gives up if it cannot write there, or if other users
    can, as in many CI containers. Without that cache it unpacks them on every start, which costs some 30 ms.
    Raises `NodeError`.
    """
    os.environ.setdefault("JSII_RUNTIME_PACKAGE_CACHE", "disabled")
    chosen = node.program()
    if not os.environ.get("JSII_NODE"):
        os.environ["JSII_NODE"] = chosen
        if node.bundled():
            _silence_warnings()


def _silence_warnings() -> None:
    """Switch off jsii's warnings about the age of the bundled Node.js, which users cannot change.

    The first variable is a list of major versions, the others take any value.
    """
    os.environ.setdefault("JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION", node.bundled_major())
    os.environ.setdefault("JSII_SILENCE_WARNING_DEPRECATED_NODE_VERSION", "1")
    os.environ.setdefault("JSII_SILENCE_WARNING_UNTESTED_NODE_VERSION", "1")
