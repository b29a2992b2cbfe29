"""Rule for the addresses that an agent may connect to.

Servers and name servers are not trusted. An address of the cluster node (a cloud's metadata service, an agent that
hands out credentials) or of the pod itself is never accepted as the address of a storage server. A host name is
resolved once, and the connection goes to the checked address. So a second, different DNS answer has no effect.
"""

import socket
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from stowplan.agents.attempt.failure import AttemptError
from stowplan.schema.agents.exit_codes import ExitCode

Address = IPv4Address | IPv6Address

_METADATA = (
    # https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-instance-metadata-service.html (fd00:ec2::254)
    # https://docs.aws.amazon.com/eks/latest/userguide/pod-id-agent-setup.html (fd00:ec2::23)
    ip_network("fd00:ec2::/32"),
    # https://cloud.google.com/compute/docs/metadata/querying-metadata
    ip_network("fd20:ce::254/128"),
    # https://www.alibabacloud.com/help/en/ecs/user-guide/view-instance-metadata
    ip_network("100.100.100.200/32"),
    # https://learn.microsoft.com/en-us/azure/virtual-network/what-is-ip-address-168-63-129-16
    ip_network("168.63.129.16/32"),
)
"""Addresses of clouds' metadata services, in addition to link-local addresses, which are refused anyway."""

_TRANSLATED = ip_network("64:ff9b::/96")
"""IPv6 addresses of NAT64: their last 32 bits are an IPv4 address (RFC 6052)."""


@dataclass(frozen=True, slots=True)
class Network:
    """Rule for the addresses that one process may connect to."""

    allow_loopback: bool = False
    """Allow loopback addresses, for a person who transfers from or to a server on their own machine.

    No manifest sets it.
    """

    def addresses(self, host: str, port: int, *, named: bool) -> list[str]:
        """Return the allowed addresses of a host, in the order of the resolver.

        `host` is a name or an address, without brackets. `named` is True if the spec or the platform names the host;
        only then are private addresses allowed. Raises OSError if the name has no address, and AttemptError if none of
        its addresses is allowed (exit code 2 if `named`, else 5).
        """
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        unique = list(dict.fromkeys(str(each[4][0]) for each in found))
        refused = {each: self._refusal(ip_address(each), named=named) for each in unique}
        allowed = [each for each in unique if refused[each] is None]
        if not allowed:
            code = ExitCode.BAD_SPEC if named else ExitCode.CONFLICT
            raise AttemptError(code, "RefusedAddress", f"{host} is {unique[0]}, {refused[unique[0]]}")
        return allowed

    def connect(self, host: str, port: int, *, named: bool, seconds: float) -> socket.socket:
        """Connect to a host by the first of its allowed addresses that answers, and return the socket.

        Each address has `seconds` to answer. `host` and `named` are those of `addresses`. Raises OSError if no address
        answers, and AttemptError if none is allowed.
        """
        allowed = self.addresses(host, port, named=named)
        for each in allowed[:-1]:
            try:
                return socket.create_connection((each, port), seconds)
            except OSError:
                continue
        return socket.create_connection((allowed[-1], port), seconds)

    def _refusal(self, address: Address, *, named: bool) -> str | None:
        """Return why the address is refused, as the end of a sentence; None if it is allowed."""
        inner = _inner(address)
        if inner.is_loopback or inner.is_unspecified:
            hint = "an address of the pod itself; on your own machine the option --allow-loopback allows it"
            return None if self.allow_loopback else hint
        if inner.is_link_local or any(inner in each for each in _METADATA):
            return "an address of the node or of its metadata service, which is never a store"
        if inner.is_multicast:
            return "a multicast address"
        if not (inner.is_global or named):
            return "a private address, which is allowed only for hosts that the spec or the platform names"
        return None


OF_A_POD = Network()
"""Default rule, which every pod uses."""


def _inner(address: Address) -> Address:
    """Return the IPv4 address that is embedded in an IPv6 address; the address itself if none is embedded."""
    if isinstance(address, IPv4Address):
        return address
    if address in _TRANSLATED:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address
