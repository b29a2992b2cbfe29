"""Service."""

from collections.abc import Mapping, Sequence

from stowplan.library.builders.metadata import metadata
from stowplan.library.ir.data import Origin
from stowplan.library.manifest import Manifest


def headless_service(
    name: str, origin: Origin, component: str, *, selector: Mapping[str, str], extra_labels: Mapping[str, str]
) -> Manifest:
    """Return the Service that gives a StatefulSet's pods their DNS names. The agents open no port."""
    meta = metadata("Service", name, origin, component, namespace=origin.spec.namespace, extra_labels=extra_labels)
    spec = {"clusterIP": "None", "selector": dict(selector)}
    return Manifest({"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": spec}, stem=name)


def pod_names_service(
    name: str, origin: Origin, *, stem: str, selector: Mapping[str, str], ports: Sequence[int]
) -> Manifest:
    """Return the Service of a training run: its pods resolve each other's names even before they are ready."""
    meta = metadata("Service", name, origin, "rendezvous", namespace=origin.spec.namespace)
    named = [{"name": f"p-{port}", "port": port, "protocol": "TCP"} for port in sorted(set(ports))]
    spec = {
        "clusterIP": "None",
        **({"ports": named} if named else {}),
        "publishNotReadyAddresses": True,
        "selector": dict(selector),
    }
    return Manifest({"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": spec}, stem=stem, run=True)
