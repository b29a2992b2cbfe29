"""Probe of the reporter in this container. The reporter writes a heartbeat file, and the probe reads the file.

This module avoids slow imports, such as pathlib, since the probe runs twice a minute.
"""

import os
import sys
import time
from collections.abc import Mapping

ALIVE_SECONDS = 90.0
"""Maximum age of the heartbeat in seconds. With an older heartbeat the probe fails, and the reporter is restarted."""


def alive_file(environment: Mapping[str, str]) -> str:
    """Return the path of the heartbeat file, which holds the last heartbeat in seconds of the monotonic clock."""
    return os.path.join(environment.get("HOME") or "/tmp", "alive")  # noqa: PTH118, S108 - of this pod alone


def beat(path: str) -> None:
    """Write the present time of the monotonic clock to the heartbeat file `path`, atomically."""
    with open(f"{path}.tmp", "w", encoding="ascii") as file:  # noqa: PTH123
        file.write(str(time.monotonic()))
    os.replace(f"{path}.tmp", path)  # noqa: PTH105


def main() -> int:
    """Run the probe. Return 0 for a recent heartbeat; otherwise print the problem on standard error and return 1."""
    path = alive_file(os.environ)
    try:
        with open(path, encoding="ascii") as file:  # noqa: PTH123
            age = time.monotonic() - float(file.read())
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{path}: {error}\n")
        return 1
    if age <= ALIVE_SECONDS:
        return 0
    sys.stderr.write(f"{path}: last seen at work {age:.0f} seconds ago\n")
    return 1
