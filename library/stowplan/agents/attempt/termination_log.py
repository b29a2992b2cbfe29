"""What the kubelet keeps of a container that has ended: `kubectl describe pod` shows it."""

import json
from pathlib import Path

PLACE = Path("/dev/termination-log")
LONGEST = 4096
"""Bytes that the kubelet takes."""


def leave(code: int, reason: str, message: str, counts: dict[str, int], place: Path = PLACE) -> None:
    """Writes the outcome as one JSON object, if there is a kubelet that reads it. The message must hold no secrets."""
    if not place.is_file():
        return
    rest = {"exitCode": code, "reason": reason, **counts}
    room = LONGEST - len(json.dumps({**rest, "message": ""}).encode())
    while len(json.dumps(message).encode()) - 2 > room:
        message = message[: len(message) * 9 // 10]
    try:
        place.write_text(json.dumps({**rest, "message": message}), encoding="utf-8")
    except OSError:
        # Without it the log still says the same.
        return
