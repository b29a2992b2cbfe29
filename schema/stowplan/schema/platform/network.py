"""Addresses that agents may reach."""

from ipaddress import ip_network
from typing import Annotated, Literal

from pydantic import Field

from stowplan.schema.meta import Model

LINK_LOCAL = ("169.254.0.0/16", "fd00:ec2::23/128", "fd00:ec2::254/128", "fe80::/10")
"""Address ranges that are local to a cluster node: its metadata service, and services that give out its credentials.

https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-instance-metadata-service.html and
https://docs.aws.amazon.com/eks/latest/userguide/pod-id-agent-setup.html for the two of AWS.
"""

DNS_PORT = 53


def lies_in(inner: str, outer: str) -> bool:
    """Return whether the address range `inner` is in the range `outer` or equal to it. Both are in CIDR notation.

    Raises `ValueError` if one is invalid.
    """
    one, other = ip_network(inner), ip_network(outer)
    return one.overlaps(other) and one.prefixlen >= other.prefixlen


class EgressRule(Model):
    """Addresses that agents may reach."""

    cidr: str = Field(description="Address range, such as `10.0.0.0/8`.", max_length=43)
    ports: list[Annotated[int, Field(ge=1, le=65535)]] = Field(
        default_factory=list, description="Ports. Without any, all.", max_length=64
    )
    protocol: Literal["TCP", "UDP"] = Field(default="TCP", description="Protocol of `ports`.")


class Network(Model):
    """What agents may reach."""

    egress: list[EgressRule] = Field(
        default_factory=list,
        description="Without any, agents may reach everything. With some, only these: DNS and the API server must be among them.",
        max_length=64,
    )
    deny_link_local: bool = Field(
        default=False,
        description="When true, transfer and cache agents reach no link-local address (169.254.0.0/16, fe80::/10) and no metadata service of AWS at fd00:ec2::254 or fd00:ec2::23, except DNS at port 53 of 169.254.0.0/16. Everything else stays as `egress` has it. Leave it false for volumes whose store takes its credentials from the node or from EKS Pod Identity. Cilium applies the policy to the API server at a node's address only with `policy-cidr-match-mode: nodes`.",
    )
