"""`alive` and `ready`: what the kubelet asks."""

import sys
from collections.abc import Sequence

from stowplan.agents.cache.runtime import heartbeat


def main(words: Sequence[str]) -> int:
    """0 for yes; 1 for no, with a reason that the kubelet puts into its event."""
    asked = heartbeat.alive if words[0] == "alive" else heartbeat.ready
    reason = asked(heartbeat.path())
    if reason:
        sys.stderr.write(f"{reason}\n")
    return int(bool(reason))
