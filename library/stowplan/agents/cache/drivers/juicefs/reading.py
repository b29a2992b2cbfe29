"""Separate program that reads a client's statistics through its mount, then looks up one name in its metadata engine.

    python -I -S reading.py MOUNT NAME

Prints the statistics. Exit code 3 if they cannot be read, 4 if the metadata engine gives no answer; standard error then
has the name of the error and the system's message. The program hangs if the mount hangs, and can be killed.
"""

import errno
import os
import sys

NO_STATISTICS, NO_METADATA = 3, 4
MOST_BYTES = 1 << 20


def main(mount: str, name: str) -> int:
    """Run the program and return its exit code."""
    try:
        with open(os.path.join(mount, ".stats"), "rb") as file:  # noqa: PTH118,PTH123 - pathlib takes a while to load
            text = file.read(MOST_BYTES)
    except OSError as error:
        return _say(error, NO_STATISTICS)
    sys.stdout.buffer.write(text)
    sys.stdout.flush()
    try:
        os.stat(os.path.join(mount, name))  # noqa: PTH116,PTH118 - as above
    except FileNotFoundError:
        return 0
    except OSError as error:
        return _say(error, NO_METADATA)
    return 0


def _say(error: OSError, code: int) -> int:
    sys.stderr.write(f"{errno.errorcode.get(error.errno or 0, 'EUNKNOWN')} {error.strerror}")
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
