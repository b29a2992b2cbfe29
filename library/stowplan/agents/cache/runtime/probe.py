"""`alive` and `ready`: the probes of the kubelet."""

import sys
from collections.abc import Sequence

from stowplan.agents.cache.runtime import heartbeat


def main(words: Sequence[str]) -> int:
    """Return 0 for yes, or 1 for no with a reason on standard error, which the kubelet shows in its event."""
    asked = heartbeat.alive if words[0] == "alive" else heartbeat.ready
    reason = asked(heartbeat.path())
    if reason:
        sys.stderr.write(f"{reason}\n")
    return int(bool(reason))
