"""Present time in the format of Kubernetes."""

from datetime import UTC, datetime
from typing import Literal


def now(timespec: Literal["seconds", "milliseconds"] = "seconds") -> str:
    """Return the present time in RFC 3339 and UTC, to the second or millisecond, such as `2024-05-01T12:00:00Z`."""
    return datetime.now(UTC).isoformat(timespec=timespec).replace("+00:00", "Z")
