"""The `stowplan` command without constructs: what it would be if cdk8s took no time.

Everything else is the same: reading, validation, lowering, checks, writing. A process of its own, started by path.
"""

import sys

from stowplan.compiler import cli, pipeline

SEAM = "Memory.compose"
"""In `pipeline`: from the units to the units as cdk8s renders them."""


def main() -> None:
    """Runs the command; ends with a message if Node ran all the same."""
    owner = getattr(pipeline, SEAM.partition(".")[0], None)
    if not hasattr(owner, SEAM.partition(".")[2]):
        sys.exit(f"{pipeline.__name__} has no {SEAM} any more: name in {__file__} what composes units now")
    setattr(owner, SEAM.partition(".")[2], lambda _, units, *_rest, **_more: tuple(units))
    try:
        cli.main()
    finally:
        if "jsii" in sys.modules:
            sys.exit(f"Node was started, although {SEAM} did nothing: name in {__file__} what composes units now")


if __name__ == "__main__":
    main()
