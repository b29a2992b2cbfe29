"""Start of the cache agent: the first argument selects the module that does the work."""

import sys
from collections.abc import Callable, Sequence
from importlib import import_module

Part = Callable[[Sequence[str]], int]
"""Function that does the work. It takes all arguments, including the first, and returns the exit code."""

_PARTS = {
    "runtime": "stowplan.agents.cache.runtime.command",
    "alive": "stowplan.agents.cache.runtime.heartbeat",
    "ready": "stowplan.agents.cache.runtime.heartbeat",
    "sync": "stowplan.agents.cache.task",
    "warmup": "stowplan.agents.cache.task",
    "clear": "stowplan.agents.cache.task",
    "rmr": "stowplan.agents.cache.task",
}
"""For each first argument, the module whose function `main` does the work.

Only that module is loaded, since a probe (`alive` or `ready`) runs every half minute on every cluster node.
"""

_HELP = f"""\
usage: python -m stowplan.agents.cache {{{",".join(_PARTS)}}} [--help] ...

Keeps datasets near their readers.

  runtime            stays on a node, keeps the dataset mounted, measures its cache and reports
  alive, ready       say by exit code whether the runtime on this node is
  sync, warmup, clear, rmr
                     one attempt at a task
"""


def main() -> int:
    """Do the work that the first argument selects and return its exit code; 2 for a wrong first argument."""
    words = sys.argv[1:]
    if words and words[0] in _PARTS:
        part: Part = import_module(_PARTS[words[0]]).main
        return part(words)
    helped = words[:1] in (["--help"], ["-h"])
    (sys.stdout if helped else sys.stderr).write(_HELP)
    return 0 if helped else 2
