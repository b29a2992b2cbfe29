"""Entry of `python -m stowplan.agents.wait_dataset`."""

import os
import signal
import sys


def _end(*_: object) -> None:
    os._exit(143)


if __name__ == "__main__":
    # The first process of a container is deaf to a signal that it does not handle. There is nothing to put in order.
    signal.signal(signal.SIGTERM, _end)
    from stowplan.agents.wait_dataset.command import main

    sys.exit(main())
