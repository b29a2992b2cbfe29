"""Waits for other programs."""

import time
from collections.abc import Callable

GRACE_SECONDS = 30
"""What the kubelet gives a pod that is to end. Servers and claims that hang in tests do so for a minute or more."""


def until(holds: Callable[[], object], seconds: float = 60) -> None:
    """Returns once it holds; fails if it does not in a time that is enough on any machine."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)
