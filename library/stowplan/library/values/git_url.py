"""The URL of a Git repository, without credentials, and the user who authenticates."""

import re
from dataclasses import dataclass

from stowplan.schema.forms import BLANK

_PARTS = re.compile(r"(?P<scheme>https?)://(?P<authority>[^/?#]*)(?P<rest>.*)", re.DOTALL)
_SCP = re.compile(r"[\w.-]+@[\w.-]+:")
_VARIABLE = re.compile(r"\$\(([^)]+)\)")
_HOST = re.compile(r"(\$\([^)]+\)|[A-Za-z0-9.-])+(:\d{1,5})?|\[[0-9a-fA-F:]+\](:\d{1,5})?")
_BLANK = re.compile(rf"[{BLANK}]")
_NAME = re.compile(r"[A-Za-z0-9._~%+-]+")

_NO_PASSWORDS = frozenset({"", "x-oauth-basic"})
"""Passwords in URLs in which the user name is the token."""


@dataclass(frozen=True, slots=True)
class GitUrl:
    """A URL without user and password, and who authenticates.

    `username` is a literal user name. `username_env` and `token_env` are names of the environment variables that hold
    the user name and the token. Each is None if the URL does not give it.
    """

    url: str
    username: str | None = None
    username_env: str | None = None
    token_env: str | None = None


@dataclass(frozen=True, slots=True)
class Unusable:
    """Reason why a URL cannot be used. `secret` is true if the URL carries a credential; the message never shows it."""

    message: str
    hint: str
    secret: bool = False


_SECRET = Unusable(
    "The URL carries credentials; what is committed to Git is no secret any more.",
    "Put the token into a Secret, give it as option `token`, remove it here, and revoke it.",
    secret=True,
)


def split(url: str) -> GitUrl | Unusable:
    """Return a literal URL split into its parts, or the reason why it cannot be used.

    A URL that begins with a reference to a variable is returned as it is, since only the agent can check it.
    """
    if url.startswith("$("):
        return GitUrl(url)
    parts = _PARTS.fullmatch(url)
    if parts is None:
        return _another_scheme(url)
    userinfo, at, host = parts["authority"].rpartition("@")
    if _BLANK.search(url):
        return Unusable("The URL holds a blank or control character.", "Remove it, or percent-encode it.")
    if not _HOST.fullmatch(host):
        return _bad_host(host)
    if not parts["rest"].strip("/"):
        return Unusable("The URL names no repository.", "Write https://host/owner/repository.git.")
    clean = f"{parts['scheme']}://{host}{parts['rest']}"
    return _with_user(clean, userinfo) if at else GitUrl(clean)


def _another_scheme(url: str) -> Unusable:
    scheme = url.partition("://")[0] if "://" in url else ""
    found = f'"{scheme}"' if re.fullmatch(r"[a-z][a-z0-9+.-]*", scheme) else "no scheme"
    if scheme in ("ssh", "git+ssh") or _SCP.match(url):
        found = "SSH"
    return Unusable(f"Found {found}; only https and http URLs can be used.", "Write https://host/owner/repository.git.")


def _bad_host(host: str) -> Unusable:
    """Return why `host` is refused. A `:` without a port is most likely a part of a password that contains a slash."""
    if ":" in host:
        return _SECRET
    return Unusable("The URL names no host.", "Write https://host/owner/repository.git.")


def _with_user(url: str, userinfo: str) -> GitUrl | Unusable:
    user, colon, password = userinfo.partition(":")
    user_env, password_env = (_VARIABLE.fullmatch(part) for part in (user, password))
    if user_env and not password_env and password in _NO_PASSWORDS:
        return GitUrl(url, token_env=user_env[1])
    if password_env and user_env:
        return GitUrl(url, username_env=user_env[1], token_env=password_env[1])
    if password_env and (not user or _NAME.fullmatch(user)):
        return GitUrl(url, username=user or None, token_env=password_env[1])
    if not colon and _NAME.fullmatch(user) and len(user) <= 20:
        return GitUrl(url, username=user)
    return _SECRET
