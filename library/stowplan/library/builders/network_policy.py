"""NetworkPolicy of a spec's agents."""

from collections.abc import Mapping, Sequence

from stowplan.library import labels
from stowplan.library.builders.metadata import metadata
from stowplan.library.ir import Origin
from stowplan.library.manifest import Json, Manifest
from stowplan.schema.platform import EgressRule


def network_policy(name: str, origin: Origin, *, namespace: str, egress: list[EgressRule]) -> Manifest:
    """Nobody may call an agent. Egress is only restricted where the platform lists what is allowed.

    Endpoints of storage stand in Secrets, so they cannot be compiled.
    """
    body = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": metadata("NetworkPolicy", name, origin, "access", namespace=namespace),
        "spec": closed(labels.spec_selector(origin.spec), egress),
    }
    return Manifest(body, stem=name)


def closed(selector: Mapping[str, str], egress: Sequence[EgressRule]) -> Json:
    """The spec of a policy by which nobody may call the selected pods."""
    spec: Json = {"podSelector": {"matchLabels": dict(selector)}, "policyTypes": ["Ingress"]}
    if egress:
        spec["policyTypes"].append("Egress")
        spec["egress"] = [_rule(rule) for rule in egress]
    return spec


def _rule(rule: EgressRule) -> Json:
    peers: Json = {"to": [{"ipBlock": {"cidr": rule.cidr}}]}
    if rule.ports:
        peers["ports"] = [{"port": port, "protocol": rule.protocol} for port in rule.ports]
    return peers
