"""The programs `alive` and `ready` of the cache agent, which the kubelet starts as probes of a cache pod."""

import sys
from collections.abc import Sequence

from stowplan.agents.cache.runtime import heartbeat


def main(words: Sequence[str]) -> int:
    """Run the probe that the first argument names, and return the exit code: 0 if it succeeds, 1 if it fails.

    If the probe fails, the reason is printed on standard error. The kubelet shows it in its event.
    """
    asked = heartbeat.alive if words[0] == "alive" else heartbeat.ready
    reason = asked(heartbeat.path())
    if reason:
        sys.stderr.write(f"{reason}\n")
    return int(bool(reason))
