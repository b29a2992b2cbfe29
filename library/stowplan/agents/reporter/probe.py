"""Whether the reporter of this container is at work. Kept free of imports that take long: it runs twice a minute."""

import os
import sys
import time

_FILE, _SECONDS = "alive", 90.0
"""As in `stowplan.schema.reporter_config`, whose import takes as long as all of the rest; a test compares them."""


def main() -> int:
    """0 if it was seen at work a moment ago, else 1 with a sentence."""
    path = os.path.join(os.environ.get("HOME") or "/tmp", _FILE)  # noqa: PTH118, S108 - pathlib takes longer to import
    try:
        with open(path, encoding="ascii") as file:  # noqa: PTH123
            age = time.monotonic() - float(file.read())
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{path}: {error}\n")
        return 1
    if age <= _SECONDS:
        return 0
    sys.stderr.write(f"{path}: last seen at work {age:.0f} seconds ago\n")
    return 1
