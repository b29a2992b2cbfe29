"""The `stowplan` command without constructs: what it would be if cdk8s took no time.

Everything else is the same: reading, validation, lowering, checks, writing. A process of its own, started by path.
"""

import sys

from stowplan.compiler import cli
from stowplan.compiler.lowering import composer_pool

SEAM = ("prepare", "send", "finish")
"""Of `composer_pool.Memory`: what has units rendered, and waits for it."""

NODE = {"jsii", "stowplan.library.composition.composer"}
"""Modules that start Node."""


def main() -> None:
    """Runs the command; ends with a message if Node ran all the same."""
    for name in SEAM:
        if not hasattr(composer_pool.Memory, name):
            found = f"{composer_pool.__name__}.Memory.{name}"
            sys.exit(f"{found} is not there any more: name in {__file__} what has units rendered")
        setattr(composer_pool.Memory, name, lambda *_, **__: None)
    try:
        cli.main()
    finally:
        if NODE & set(sys.modules):
            sys.exit(f"Node was started all the same: name in {__file__} what has units rendered now")


if __name__ == "__main__":
    main()
