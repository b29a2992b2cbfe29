"""Termination message of a container, which `kubectl describe pod` shows."""

import json
from pathlib import Path

PLACE = Path("/dev/termination-log")
LONGEST = 4096
"""Maximum size of the termination message in bytes; the kubelet cuts off the rest."""


def leave(code: int, reason: str, message: str, counts: dict[str, int], place: Path = PLACE) -> None:
    """Write the outcome, with `counts` as further fields, to `place` as one JSON object; the message is cut to fit.

    If the file is missing, as outside a pod, or cannot be written, nothing happens. `message` must hold no secrets.
    """
    if not place.is_file():
        return
    rest = {"exitCode": code, "reason": reason, **counts}
    longest = LONGEST - len(json.dumps({**rest, "message": ""}).encode())
    while len(json.dumps(message).encode()) - 2 > longest:
        message = message[: len(message) * 9 // 10]
    try:
        place.write_text(json.dumps({**rest, "message": message}), encoding="utf-8")
    except OSError:
        # The caller also writes the outcome to the log.
        return
