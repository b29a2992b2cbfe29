"""Services, network policies, and definitions of kinds."""

from tests.cluster.client import Manifest
from tests.cluster.edits import METADATA, Row, changes, refused, stays
from tests.unit.compiler.checks.given import GONE, body, changed, definition, service

_SILENT = "The server takes it, keeps the address, and tells nobody."

_NETWORKING = "networking.k8s.io/v1"
_POLICY = {"podSelector": {"matchLabels": {"app": "a"}}, "policyTypes": ["Ingress"]}
_COLUMN = {"name": "A", "type": "string", "jsonPath": ".a"}


def _addressed(name: str, **spec: object) -> Manifest:
    return changed(service(name, ports=[{"port": 80}], **spec), "spec.clusterIP", GONE)


def _version(name: str, *, storage: bool) -> Manifest:
    schema = {"openAPIV3Schema": {"type": "object"}}
    return {"name": name, "served": True, "storage": storage, "schema": schema}


def _definition(kind: str, **spec: object) -> Manifest:
    plural = f"{kind.lower()}s"
    made = definition(group="cells.test", names={"kind": kind, "plural": plural}, **spec)
    return changed(made, "metadata.name", f"{plural}.cells.test")


ROWS = {
    "Service, headless": Row(
        service("headless", ports=[{"port": 80}]),
        [
            *METADATA,
            refused("spec.clusterIP", to="10.96.0.77"),
            stays("spec.clusterIP", because=_SILENT),
            changes("spec.ports.0.port", to=81),
            changes("spec.ports"),
            changes("spec.publishNotReadyAddresses", to=True),
            changes("spec.selector.app", to="b"),
            changes("spec.sessionAffinity", to="ClientIP"),
        ],
    ),
    "Service with an address": Row(
        _addressed("addressed"),
        [
            refused("spec.clusterIP", to="10.96.0.77"),
            refused("spec.clusterIP", to="None"),
            changes("spec.externalIPs", to=["192.0.2.1"]),
            changes("spec.internalTrafficPolicy", to="Local"),
            changes("spec.ports.0.port", to=81),
            changes("spec.trafficDistribution", to="PreferClose"),
            changes("spec.type", to="LoadBalancer"),
            changes("spec.type", to="NodePort"),
        ],
    ),
    "Service with a balancer": Row(
        _addressed("balanced", type="LoadBalancer", loadBalancerClass="a.example/b", externalTrafficPolicy="Local"),
        [
            changes("spec.allocateLoadBalancerNodePorts", to=False),
            changes("spec.externalTrafficPolicy", to="Cluster"),
            refused("spec.healthCheckNodePort", to=30999),
            refused("spec.loadBalancerClass", to="a.example/c"),
            refused("spec.loadBalancerClass"),
        ],
    ),
    "EndpointSlice": Row(
        body("EndpointSlice", "a", api="discovery.k8s.io/v1", addressType="IPv4", endpoints=[]),
        [*METADATA, refused("addressType", to="IPv6"), changes("endpoints", to=[{"addresses": ["192.0.2.1"]}])],
    ),
    "Ingress": Row(
        body(
            "Ingress", "a", api=_NETWORKING, spec={"defaultBackend": {"service": {"name": "a", "port": {"number": 1}}}}
        ),
        [
            *METADATA,
            changes("spec.defaultBackend.service.name", to="b"),
            changes("spec.ingressClassName", to="b"),
        ],
    ),
    "IngressClass": Row(
        body("IngressClass", "cells", api=_NETWORKING, namespace="", spec={"controller": "example.com/a"}),
        [
            *METADATA,
            refused("spec.controller", to="example.com/b"),
            changes("spec.parameters", to={"kind": "Thing", "name": "a", "scope": "Cluster"}),
        ],
    ),
    "NetworkPolicy": Row(
        body("NetworkPolicy", "a", api=_NETWORKING, spec=_POLICY),
        [
            *METADATA,
            changes("spec.egress", to=[{}]),
            changes("spec.ingress", to=[{}]),
            changes("spec.podSelector.matchLabels.app", to="b"),
            changes("spec.policyTypes", to=["Ingress", "Egress"]),
        ],
    ),
    "CustomResourceDefinition": Row(
        _definition("Thing"),
        [
            *METADATA,
            refused("spec.group", to="other.test"),
            changes("spec.names.categories", to=["all"]),
            refused("spec.names.kind", to="Other"),
            changes("spec.names.listKind", to="ThingsList"),
            refused("spec.names.plural", to="others"),
            changes("spec.names.shortNames", to=["th"]),
            changes("spec.names.singular", to="one"),
            refused("spec.scope", to="Cluster"),
            changes("spec.versions.0.additionalPrinterColumns", to=[_COLUMN]),
            refused("spec.versions.0.name", to="v2"),
            changes("spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.size.type", to="string"),
            changes("spec.versions.0.schema.openAPIV3Schema.required", to=["spec"]),
            changes("spec.versions.0.subresources", to={"status": {}}),
        ],
        until="status.storedVersions",
    ),
    "CustomResourceDefinition with two versions": Row(
        _definition("Pair", versions=[_version("v2", storage=True), _version("v1", storage=False)]),
        [
            changes("spec.versions", to=[_version("v2", storage=True)]),
            changes("spec.versions", to=[_version("v2", storage=False), _version("v1", storage=True)]),
            refused("spec.versions", to=[_version("v1", storage=True)]),
        ],
        until="status.storedVersions",
    ),
}
