"""Hosts to which redirects and addresses in a server's answers may lead.

A server chooses where its content lies, and every committer can choose the server of Git LFS. Neither is trusted: an
allowed host is the spec's own host, a host that the spec lists, or a store of a well-known service.
"""

import re
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from stowplan.agents.attempt.failure import AttemptError
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.forms import HOST

PORTS = {"http": 80, "https": 443}

MOST_REDIRECTS = 5

KNOWN = frozenset(
    {
        # `lfsDomains`, `cdnDomains` and `hubDomains` of https://huggingface.co/.well-known/meta.json
        "huggingface.co",
        "hf.co",
        "cdn-lfs.hf.co",
        "cdn-lfs-us-1.hf.co",
        "cdn-lfs-eu-1.hf.co",
        "cdn-lfs.huggingface.co",
        "cdn-lfs-us-1.huggingface.co",
        "cdn-lfs-eu-1.huggingface.co",
        "transfer.xethub.hf.co",
        "transfer.xethub-eu.hf.co",
        # Hosts to which the Hub sends clients for files of the Xet store: answers of `xet-read-token` and `resolve`.
        "cas-server.xethub.hf.co",
        "cas-server.xethub-eu.hf.co",
        "cas-bridge.xethub.hf.co",
        "cas-bridge.xethub-eu.hf.co",
        # Hosts of uploads to the Hub's Git LFS without Xet: answers of its batch API.
        "hf-hub-lfs-us-east-1.s3-accelerate.amazonaws.com",
        "hf-hub-lfs-us-east-1.s3.amazonaws.com",
        "hf-hub-lfs-eu-west-3.s3-accelerate.amazonaws.com",
        # "Needed for Git Large File Storage", and the hosts that serve its raw files:
        # https://docs.github.com/en/actions/reference/runners/self-hosted-runners
        "github.com",
        "lfs.github.com",
        "github-cloud.githubusercontent.com",
        "github-cloud.s3.amazonaws.com",
        "media.githubusercontent.com",
        "objects.githubusercontent.com",
        # GitLab.com serves Git LFS from its own host: https://docs.gitlab.com/topics/git/lfs/
        "gitlab.com",
        # Bitbucket Cloud stores Git LFS in Atlassian's media store.
        "bitbucket.org",
        "api.media.atlassian.com",
    }
)
"""Hosts, at port 443, of well-known services and their stores."""

_KNOWN_BELOW = (".aws.cdn.hf.co", ".gcp.cdn.hf.co")
"""Domains of the Hub's CDN, whose regions change from time to time (`cdnDomains` as above)."""

_LISTED = re.compile(HOST)

HostOrigin = tuple[str, str, int]
"""Scheme (`http` or `https`), host name in lower case, and port."""


def origin(url: str) -> HostOrigin:
    """Return the origin of a URL. Raises ValueError unless its scheme is http or https; the message omits the URL."""
    try:
        parts = urlsplit(url)
        found = parts.scheme, (parts.hostname or "").lower().rstrip("."), parts.port or PORTS[parts.scheme]
    except (ValueError, KeyError):
        raise ValueError("it is no URL of http or https") from None
    if not found[1] or any(ord(each) <= 32 or ord(each) == 127 or each == "\\" for each in url):
        raise ValueError("it is no URL of http or https")
    return found


def endpoint(url: str) -> SplitResult | None:
    """Parse the http or https URL of a server, which may have a path; None if it is none, or has query or fragment."""
    try:
        parts = urlsplit(url)
        good = parts.scheme in PORTS and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return None
    return parts if good and not (parts.query or parts.fragment) else None


@dataclass(frozen=True, slots=True)
class Hosts:
    """Allowed hosts of one transfer."""

    own: HostOrigin
    """Origin of the spec's own address."""
    listed: tuple[str, ...] = ()
    """Further hosts that the spec lists, as `host` or `host:port`."""
    field: str = "hosts"
    """Name of the field of the spec with these hosts, for messages."""

    def is_own(self, found: HostOrigin) -> bool:
        """Return whether an origin is that of the spec's own host, which may get credentials.

        It is so for `own`, and if `own` is http at port 80, also for https at port 443 of the same host.
        """
        scheme, name, port = self.own
        return found == self.own or ((scheme, port) == ("http", 80) and found == ("https", name, 443))

    def is_named(self, name: str, port: int) -> bool:
        """Return whether the spec names this host and port. Only then may the host have a private IP address."""
        return any(self.is_own((scheme, name, port)) for scheme in PORTS) or self._is_listed(name, port)

    def check(self, url: str, what: str, *, known: bool = True) -> HostOrigin:
        """Return the origin of a URL that a server or a repository gives. Raises AttemptError (5) for a forbidden host.

        `what` is the beginning of the error message. `known` also allows the hosts of well-known services.
        """
        try:
            found = origin(url)
        except ValueError as error:
            raise AttemptError(ExitCode.CONFLICT, "OtherHost", f"{what} gives an address: {error}") from None
        scheme, name, port = found
        if self.is_own(found):
            return found
        listed = self._is_listed(name, port)
        plain = scheme == "https" or (listed and self.own[0] == "http")
        if plain and (listed or (known and port == 443 and (name in KNOWN or name.endswith(_KNOWN_BELOW)))):
            return found
        if scheme != "https":
            reason = f"to {name}:{port} by plain http"
            hint = "only https is followed to other hosts"
        else:
            reason = f"to {name}{'' if port == 443 else f':{port}'}"
            hint = f"if that is right, list this host in `{self.field}` of the spec"
        message = f"{what} leads {reason}, and not to {self.own[1]} or a store that is known: {hint}"
        raise AttemptError(ExitCode.CONFLICT, "OtherHost", message)

    def _is_listed(self, name: str, port: int) -> bool:
        return f"{name}:{port}" in self.listed or (port == 443 and name in self.listed)


def is_host(text: str) -> bool:
    """Return whether a string of a spec is `host` or `host:port`, in lower case."""
    return bool(_LISTED.fullmatch(text))
