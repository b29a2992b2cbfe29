"""Whether the reporter of this container is at work, by a file in its scratch directory.

Kept free of imports that take long, such as that of pathlib: the probe runs twice a minute.
"""

import os
import sys
import time
from collections.abc import Mapping

ALIVE_SECONDS = 90.0
"""A reporter that was not seen at work for so long is started again."""


def alive_file(environment: Mapping[str, str]) -> str:
    """Path of the file: it holds the seconds of the monotonic clock at which the reporter was last at work."""
    return os.path.join(environment.get("HOME") or "/tmp", "alive")  # noqa: PTH118, S108 - of this pod alone


def beat(path: str) -> None:
    """The reporter is at work. No probe ever finds half of the file."""
    with open(f"{path}.tmp", "w", encoding="ascii") as file:  # noqa: PTH123
        file.write(str(time.monotonic()))
    os.replace(f"{path}.tmp", path)  # noqa: PTH105


def main() -> int:
    """0 if it was seen at work a moment ago, else 1 with a sentence."""
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
