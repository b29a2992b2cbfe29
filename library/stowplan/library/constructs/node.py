"""Settings that make jsii run on the bundled Node.js."""

import os

from stowplan.library.composition import node


def prepare_node() -> None:
    """Let cdk8s run on the Node.js that pip installed with Stowplan, in any environment.

    Must run before the first `import cdk8s`, which starts Node. Variables that the user has set are not changed.

    jsii (1.142) keeps unpacked packages below the home folder, and gives up if it cannot write there or if
    others can, as in many CI containers. Without that cache it unpacks them on every start, which costs some 30 ms.
    """
    os.environ.setdefault("JSII_RUNTIME_PACKAGE_CACHE", "disabled")
    if not os.environ.get("JSII_NODE"):
        _use_bundled_node()


def _use_bundled_node() -> None:
    """Set `JSII_NODE`, the program that jsii starts instead of the `node` on PATH.

    Users cannot change the bundled Node, so jsii's banners about its age are switched off. The first variable is a
    list of major versions, the others take any value.
    """
    os.environ["JSII_NODE"] = str(node.bundled())
    os.environ.setdefault("JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION", node.bundled_major())
    os.environ.setdefault("JSII_SILENCE_WARNING_DEPRECATED_NODE_VERSION", "1")
    os.environ.setdefault("JSII_SILENCE_WARNING_UNTESTED_NODE_VERSION", "1")
