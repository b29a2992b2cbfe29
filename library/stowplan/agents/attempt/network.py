"""Which addresses an agent connects to.

What a server says, and what the name server answers, is not believed: an address of the node (the metadata service of
a cloud, an agent that hands out credentials) or of the pod itself is never a store. A name is resolved once, and the
connection goes to the very address that was checked, so that a second answer of the name server changes nothing.
"""

import socket
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from stowplan.agents.attempt.failure import AttemptError
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.frozen import dataclass

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
"""Addresses of metadata services that are not link-local."""

_TRANSLATED = ip_network("64:ff9b::/96")
"""NAT64: the last 32 bits are an IPv4 address (RFC 6052)."""


@dataclass(frozen=True, slots=True)
class Network:
    """The rule of one process."""

    allow_loopback: bool = False
    """For a person who transfers from or to a server on their own machine. No compiled manifest sets it."""

    def addresses(self, host: str, port: int, *, named: bool) -> list[str]:
        """The addresses of a host that may be connected to, in the order of the resolver.

        `host` is a name or an address, without brackets. `named` says whether the spec or the platform named it: only
        then may it be a private address. OSError if the name has no address; AttemptError (2 if `named`, else 5) if
        none of its addresses is allowed.
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
        """A connection to the first of the `addresses` that answers within so many seconds. OSError if none does."""
        allowed = self.addresses(host, port, named=named)
        for each in allowed[:-1]:
            try:
                return socket.create_connection((each, port), seconds)
            except OSError:
                continue
        return socket.create_connection((allowed[-1], port), seconds)

    def _refusal(self, address: Address, *, named: bool) -> str | None:
        """Why the address is refused, as the end of a sentence; None if it is allowed."""
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
"""What holds wherever nobody said otherwise."""


def _inner(address: Address) -> Address:
    """The IPv4 address that an IPv6 address stands for, if it does."""
    if isinstance(address, IPv4Address):
        return address
    if address in _TRANSLATED:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address
