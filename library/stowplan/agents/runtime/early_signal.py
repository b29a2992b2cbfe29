"""SIGTERM before a program has handlers of its own: its imports take a moment. So this module has almost none."""

import os
import signal


def end_with(code: int) -> None:
    """Ends the process with this code at once, from now on: there is nothing to put in order yet.

    The first process of a container is deaf to a signal that it does not handle.
    """
    signal.signal(signal.SIGTERM, lambda *_: os._exit(code))
