"""Which hosts a transfer may be led to, by redirects and by addresses in answers of a server.

A server says where its content lies, and anybody who may commit to a repository says where its Git LFS is. Neither is
believed: a host is the one that the spec names, one that the spec lists besides, or a store of a service that everybody
knows.
"""

import re
from urllib.parse import urlsplit

from stowplan.agents.attempt.failure import AttemptError
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.agents.transfer_config import HOST_PATTERN
from stowplan.schema.frozen import dataclass

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
        # Where the Hub sends clients for files of the Xet store: answers of `xet-read-token` and `resolve`.
        "cas-server.xethub.hf.co",
        "cas-server.xethub-eu.hf.co",
        "cas-bridge.xethub.hf.co",
        "cas-bridge.xethub-eu.hf.co",
        # Where uploads to Git LFS of the Hub go without Xet: answers of its batch API.
        "hf-hub-lfs-us-east-1.s3-accelerate.amazonaws.com",
        "hf-hub-lfs-us-east-1.s3.amazonaws.com",
        "hf-hub-lfs-eu-west-3.s3-accelerate.amazonaws.com",
        # "Needed for Git Large File Storage", and what raw files of it are served by:
        # https://docs.github.com/en/actions/reference/runners/self-hosted-runners
        "github.com",
        "lfs.github.com",
        "github-cloud.githubusercontent.com",
        "github-cloud.s3.amazonaws.com",
        "media.githubusercontent.com",
        "objects.githubusercontent.com",
        # Git LFS of GitLab.com is served by its own host: https://docs.gitlab.com/topics/git/lfs/
        "gitlab.com",
        # Bitbucket Cloud keeps Git LFS in Atlassian's media store.
        "bitbucket.org",
        "api.media.atlassian.com",
    }
)
"""Hosts, at port 443, of services that everybody knows, and of the stores that they lead to."""

_KNOWN_BELOW = (".aws.cdn.hf.co", ".gcp.cdn.hf.co")
"""The regions of the Hub's CDN, of which there are more from time to time (`cdnDomains` as above)."""

_LISTED = re.compile(HOST_PATTERN)

Origin = tuple[str, str, int]
"""Scheme, name in lower case and port."""


def origin(url: str) -> Origin:
    """Of a URL; ValueError, without the URL, if it is not of http or https."""
    try:
        parts = urlsplit(url)
        found = parts.scheme, (parts.hostname or "").lower().rstrip("."), parts.port or PORTS[parts.scheme]
    except (ValueError, KeyError):
        raise ValueError("it is no URL of http or https") from None
    if not found[1] or any(ord(each) <= 32 or ord(each) == 127 or each == "\\" for each in url):
        raise ValueError("it is no URL of http or https")
    return found


@dataclass(frozen=True, slots=True)
class Hosts:
    """The hosts of one transfer."""

    own: Origin
    """Of the address in the spec."""
    listed: tuple[str, ...] = ()
    """Others that the spec lists, as `host` or `host:port`."""
    field: str = "hosts"
    """What the list is called in a spec."""

    def is_own(self, found: Origin) -> bool:
        """Whether it is the host in the spec, which may get credentials: the same, or its https at the usual port."""
        scheme, name, port = self.own
        return found == self.own or ((scheme, port) == ("http", 80) and found == ("https", name, 443))

    def is_named(self, name: str, port: int) -> bool:
        """Whether the spec names the host itself: only then may its address be a private one."""
        scheme, own, own_port = self.own
        return (name, port) in ((own, own_port), (own, 443 if (scheme, own_port) == ("http", 80) else own_port)) or (
            self._is_listed(name, port)
        )

    def check(self, url: str, what: str, *, known: bool = True) -> Origin:
        """The origin of a URL that a server or a repository gives; AttemptError (5) if nobody may be led there.

        `what` begins the sentence that says so. `known` lets the hosts that everybody knows pass.
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
        if plain and (listed or (known and port == 443 and is_known(name))):
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


def is_known(name: str) -> bool:
    """Whether a host belongs to a service that everybody knows."""
    return name in KNOWN or name.endswith(_KNOWN_BELOW)


def is_host(text: str) -> bool:
    """Whether a text of a spec is `host` or `host:port`."""
    return bool(_LISTED.fullmatch(text))
