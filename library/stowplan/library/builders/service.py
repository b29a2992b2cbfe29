"""Service."""

from collections.abc import Mapping

from stowplan.library.builders.metadata import metadata
from stowplan.library.ir import Origin
from stowplan.library.manifest import Manifest


def headless_service(
    name: str, origin: Origin, component: str, *, selector: Mapping[str, str], extra_labels: Mapping[str, str]
) -> Manifest:
    """The Service that gives a StatefulSet's pods their DNS names. The agents open no port."""
    meta = metadata("Service", name, origin, component, namespace=origin.spec.namespace, extra_labels=extra_labels)
    spec = {"clusterIP": "None", "selector": dict(selector)}
    return Manifest({"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": spec}, stem=name)
