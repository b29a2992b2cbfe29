"""HTTP session with one registry: limited in time, without cookies, and with no password but that of the registry."""

from http.cookiejar import DefaultCookiePolicy
from typing import Any
from urllib.parse import urlsplit

import requests
from requests import adapters

from stowplan.compiler.pins.resolvers.failure import UnresolvedError
from stowplan.compiler.pins.trust import is_loopback

_ADAPTERS: Any = adapters  # its `Retry` is that of urllib3, which requests brings
_RETRIES = _ADAPTERS.Retry(
    total=5, connect=2, backoff_factor=0.5, status_forcelist=(429, 502, 503, 504), raise_on_status=False
)
"""Retries wait as `Retry-After` says, or longer each time."""
_SECONDS = 60


class _Timed(adapters.HTTPAdapter):
    """Waits for an answer for a limited time, also where oras names none: for tokens."""

    def send(self, *arguments: Any, **options: Any) -> Any:
        return super().send(*arguments, **(options | {"timeout": _SECONDS}))


class _Plain(_Timed):
    """Asks this machine alone, and through no proxy. A registry may name a server of tokens, or redirect."""

    def send(self, request: requests.PreparedRequest, *arguments: Any, **options: Any) -> Any:
        host = urlsplit(request.url or "").hostname or ""
        if not is_loopback(host):
            message = f"The registry leads to {host} by plain http, where everybody on the way can read a password."
            raise UnresolvedError(message, "Ask those who run the registry for an address with https.")
        return super().send(request, *arguments, **(options | {"proxies": {}}))


class RegistrySession(requests.Session):
    """Session that sends what it is told to send, and takes no password from the file `.netrc`.

    A redirect to another host takes no password along. Raises `UnresolvedError` for plain http to another machine.
    """

    def __init__(self) -> None:
        super().__init__()
        self.auth = lambda request: request
        # Some registries take who keeps cookies for a browser.
        self.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        self.mount("https://", _Timed(max_retries=_RETRIES))
        self.mount("http://", _Plain(max_retries=_RETRIES))

    def rebuild_auth(self, prepared_request: requests.PreparedRequest, response: requests.Response) -> None:
        """Remove the password from a request to another host than that of `response`. Requests would read `.netrc`."""
        if self.should_strip_auth(response.request.url or "", prepared_request.url or ""):
            prepared_request.headers.pop("Authorization", None)
