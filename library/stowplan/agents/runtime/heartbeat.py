"""Heartbeat file of a program that stays: the program writes it, and the probes in its container read it.

This module avoids slow imports, such as pathlib, since probes run all the time.
"""

import os
import sys
import time

ALIVE_SECONDS = 90.0
"""Maximum age of the heartbeat in seconds. Programs write one every ten seconds, whatever else hangs.

So an older heartbeat means that the program itself hangs.
"""


def path() -> str:
    """Return the path of the heartbeat file, in the pod's scratch directory."""
    return os.path.join(os.environ.get("HOME") or "/tmp", "stowplan-heartbeat")  # noqa: PTH118, S108 - of the pod


def beat(trouble: str = "") -> None:
    """Write a heartbeat atomically: the present time, and the problem of what the program serves (empty for none).

    The time is that of the monotonic clock. Call this far more often than every `ALIVE_SECONDS`. Raises OSError.
    """
    with open(f"{path()}.tmp", "w", encoding="utf-8", errors="backslashreplace") as file:  # noqa: PTH123
        file.write(f"{time.monotonic()}\n{trouble}")
    os.replace(f"{path()}.tmp", path())  # noqa: PTH105


def probe(program: str, *, ready: bool = False) -> int:
    """Return the exit code of a probe: 0 if the program is alive, 1 if not. With `ready` a problem fails it too.

    If the probe fails, the reason is printed on standard error. The kubelet shows it in its event. `program` is a word
    for the program.
    """
    try:
        with open(path(), encoding="utf-8") as file:  # noqa: PTH123
            begun, _, trouble = file.read().partition("\n")
        age = time.monotonic() - float(begun)
    except (OSError, ValueError):
        age, trouble = -1.0, ""
    # The monotonic clock starts again when the machine boots, so a heartbeat from before may be in the future.
    if age < 0:
        reason = f"The {program} has not begun"
    elif age > ALIVE_SECONDS:
        reason = f"The {program} has done nothing for {age:.0f} s"
    else:
        reason = trouble if ready else ""
    if reason:
        sys.stderr.write(f"{reason}\n")
    return int(bool(reason))
