"""Entry of `python -m stowplan.agents.cache`."""

import os
import signal
import sys


def _end(*_: object) -> None:
    os._exit(143)


if __name__ == "__main__":
    # The first process of a container is deaf to a signal that it does not handle, and the imports take a moment.
    signal.signal(signal.SIGTERM, _end)
    from stowplan.agents.cache.command import main

    sys.exit(main())
