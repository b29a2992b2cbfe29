"""Headless Services, which give pods DNS names."""

from collections.abc import Mapping, Sequence

from stowplan.library.builders.metadata import metadata
from stowplan.library.ir.data import Origin
from stowplan.library.manifest import Manifest


def headless_service(
    name: str, origin: Origin, component: str, *, selector: Mapping[str, str], extra_labels: Mapping[str, str]
) -> Manifest:
    """Return the Service that gives a StatefulSet's pods their DNS names. It has no ports: the agents open none.

    `selector` are the labels of the pods, `extra_labels` further labels of the Service.
    """
    meta = metadata("Service", name, origin, component, namespace=origin.spec.namespace, extra_labels=extra_labels)
    spec = {"clusterIP": "None", "selector": dict(selector)}
    return Manifest({"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": spec}, stem=name)


def pod_names_service(
    name: str, origin: Origin, *, stem: str, selector: Mapping[str, str], ports: Sequence[int]
) -> Manifest:
    """Return the Service of a training run: the pods resolve each other's names even before they are ready.

    `selector` are the labels of the pods, `ports` the TCP ports that they open. `stem` is `name` without the hash.
    """
    meta = metadata("Service", name, origin, "rendezvous", namespace=origin.spec.namespace)
    named = [{"name": f"p-{port}", "port": port, "protocol": "TCP"} for port in sorted(set(ports))]
    spec = {
        "clusterIP": "None",
        **({"ports": named} if named else {}),
        "publishNotReadyAddresses": True,
        "selector": dict(selector),
    }
    return Manifest({"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": spec}, stem=stem, run=True)
