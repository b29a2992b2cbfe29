"""NetworkPolicy of a spec's agents."""

from collections.abc import Mapping, Sequence

from stowplan.library.builders.metadata import Head, manifest
from stowplan.library.ir.data import Origin
from stowplan.library.manifest import Json, Manifest
from stowplan.library.values import labels
from stowplan.schema.platform.network import DNS_PORT, LINK_LOCAL, EgressRule, Network, lies_in


def network_policy(
    name: str, origin: Origin, *, namespace: str, network: Network, component: str | None = None
) -> Manifest:
    """Return a policy for the pods of the spec's agents in `namespace`. It allows no ingress.

    Egress is restricted only if the platform file lists egress rules or denies link-local addresses: the storage
    endpoints are in Secrets, so the compiler cannot know them. `component` is the component of the agents; None if all
    pods of the spec are agents.
    """
    spec = origin.spec
    selector = labels.component_selector(spec, component) if component else labels.spec_selector(spec)
    egress = _without_link_local(network.egress) if network.deny_link_local else _rules(network.egress)
    return manifest("NetworkPolicy", name, Head(origin, "access", namespace=namespace), spec=_closed(selector, egress))


def closed(selector: Mapping[str, str], egress: Sequence[EgressRule]) -> Json:
    """Return the spec of a NetworkPolicy for the pods with the labels `selector`. It allows no ingress.

    It allows only the given egress; without egress rules, it does not restrict egress.
    """
    return _closed(selector, _rules(egress))


def _closed(selector: Mapping[str, str], egress: list[Json]) -> Json:
    spec: Json = {"podSelector": {"matchLabels": dict(selector)}, "policyTypes": ["Ingress"]}
    if egress:
        spec["policyTypes"].append("Egress")
        spec["egress"] = egress
    return spec


def _without_link_local(egress: Sequence[EgressRule]) -> list[Json]:
    """Return the platform's egress rules without link-local addresses.

    Without such rules, return rules for all other addresses, and for DNS on the cluster node.
    """
    if egress:
        return [_rule(rule.cidr, rule.ports, [rule.protocol], _excepted(rule.cidr)) for rule in egress]
    return [
        # Some network plug-ins do not match pod addresses by an IP range.
        {"to": [{"namespaceSelector": {}}]},
        *(_rule(everything, (), (), _excepted(everything)) for everything in ("0.0.0.0/0", "::/0")),
        # DNS server on a cluster node: 169.254.20.10 by default, 169.254.169.254 with Cloud DNS of GKE.
        # https://kubernetes.io/docs/tasks/administer-cluster/nodelocaldns/
        _rule("169.254.0.0/16", (DNS_PORT,), ("TCP", "UDP"), ()),
    ]


def _excepted(cidr: str) -> list[str]:
    """Return the link-local ranges inside `cidr`; an empty list if `cidr` itself is link-local."""
    return [each for each in LINK_LOCAL if lies_in(each, cidr) and not lies_in(cidr, each)]


def _rules(egress: Sequence[EgressRule]) -> list[Json]:
    return [_rule(rule.cidr, rule.ports, [rule.protocol], ()) for rule in egress]


def _rule(cidr: str, ports: Sequence[int], protocols: Sequence[str], excepted: Sequence[str]) -> Json:
    block: Json = {"cidr": cidr, **({"except": list(excepted)} if excepted else {})}
    rule: Json = {"to": [{"ipBlock": block}]}
    if ports:
        rule["ports"] = [{"port": port, "protocol": protocol} for port in ports for protocol in protocols]
    return rule
