"""Entry of `python -m stowplan.agents.reporter`, and of its probe: `python -m stowplan.agents.reporter probe`."""

import os
import signal
import sys


def _end(*_: object) -> None:
    os._exit(0)


if __name__ == "__main__":
    # The first process of a container is deaf to a signal that it does not handle, and the imports take a moment.
    signal.signal(signal.SIGTERM, _end)
    if sys.argv[1:] == ["probe"]:
        from stowplan.agents.reporter.probe import main
    else:
        from stowplan.agents.reporter.command import main

    sys.exit(main())
