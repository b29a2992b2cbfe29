"""The present time as Kubernetes writes times."""

from datetime import UTC, datetime
from typing import Literal


def now(timespec: Literal["seconds", "milliseconds"] = "seconds") -> str:
    """RFC 3339, in UTC, to the second or thousandth."""
    return datetime.now(UTC).isoformat(timespec=timespec).replace("+00:00", "Z")
