"""The `stowplan` command without constructs: its time if cdk8s took none.

Reading, validation, lowering, checks and writing are unchanged. It is a separate process, started by path.
"""

import sys

from stowplan.compiler import cli
from stowplan.compiler.lowering.composer_pool import ComposerPool

SEAM = ("start", "prepare", "render", "render_charts")
"""Methods of `ComposerPool` that start Node, or have cdk8s render what they get."""

NODE = {"jsii", "stowplan.library.composition.node_composer"}
"""Modules that start Node."""


def main() -> None:
    """Runs the command; ends with a message if Node ran all the same."""
    for name in SEAM:
        if not hasattr(ComposerPool, name):
            found = f"ComposerPool.{name}"
            sys.exit(f"{found} is not there any more: name in {__file__} what has units rendered")
        setattr(ComposerPool, name, lambda _, given=(): list(given))
    try:
        cli.main()
    finally:
        if NODE & set(sys.modules):
            sys.exit(f"Node was started all the same: name in {__file__} what has units rendered now")


if __name__ == "__main__":
    main()
