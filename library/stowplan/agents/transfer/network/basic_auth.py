"""Basic authentication (RFC 7617)."""

from base64 import b64encode


def basic_auth(username: str, password: str) -> str:
    """Return the value of the header `authorization` or `proxy-authorization`."""
    return f"Basic {b64encode(f'{username}:{password}'.encode()).decode('ascii')}"
