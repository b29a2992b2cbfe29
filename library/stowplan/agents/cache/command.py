"""Start of the cache agent: the first argument selects the part that does the work.

Only that part is imported, since a probe (`alive` or `ready`) runs every half minute on every cluster node.
"""

import sys

from stowplan.agents.runtime import heartbeat

_HELP = """\
usage: python -m stowplan.agents.cache {runtime,alive,ready,sync,warmup,clear,rmr} [--help] ...

Keeps datasets near their readers.

  runtime            stays on a node, keeps the dataset mounted, measures its cache and reports
  alive, ready       say by exit code whether the runtime on this node is
  sync, warmup, clear, rmr
                     one attempt at a task
"""


def main() -> int:
    """Do the work that the first argument selects and return its exit code; 2 for a wrong first argument."""
    match sys.argv[1:]:
        case ["alive" | "ready" as state, *_]:
            return heartbeat.probe("runtime", ready=state == "ready")
        case ["runtime", *words]:
            from stowplan.agents.cache.runtime import command  # noqa: PLC0415

            return command.main(words)
        case ["sync" | "warmup" | "clear" | "rmr", *_]:
            from stowplan.agents.cache import task  # noqa: PLC0415

            return task.main(sys.argv[1:])
        case ["--help" | "-h", *_]:
            sys.stdout.write(_HELP)
            return 0
    sys.stderr.write(_HELP)
    return 2
