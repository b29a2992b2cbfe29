"""Separate program that checks a JuiceFS mount.

    python -I -S reading.py MOUNT NAME

It prints the statistics of the mount, then looks up NAME, a name that does not exist, so that the mount must ask its
metadata engine. The exit code is 3 if the statistics cannot be read, and 4 if the metadata engine gives no answer.
Standard error then has the name of the error, such as ENOTCONN, and the system's message. The program hangs if the
mount hangs, and can be killed.
"""

import errno
import os
import sys

NO_STATISTICS, NO_METADATA = 3, 4
MOST_BYTES = 1 << 20


def main(mount: str, name: str) -> int:
    """Check the mount at `mount` and return the exit code of the program."""
    try:
        # pathlib takes a while to load.
        descriptor = os.open(os.path.join(mount, ".stats"), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)  # noqa: PTH118
        with os.fdopen(descriptor, "rb") as file:
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
