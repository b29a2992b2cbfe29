"""StatefulSet of agents."""

from collections.abc import Mapping
from typing import Literal

from stowplan.library.builders.metadata import metadata
from stowplan.library.ir.data import Origin
from stowplan.library.manifest import Json, Manifest


def stateful_set(
    name: str,
    origin: Origin,
    component: str,
    *,
    replicas: int,
    service: str,
    selector: Mapping[str, str],
    template: Json,
    pod_management: Literal["Parallel", "OrderedReady"],
    extra_labels: Mapping[str, str],
) -> Manifest:
    """Return a StatefulSet: pods with stable names and without storage of their own.

    `service` is the name of the headless Service. `selector` are the labels of the pods, `template` is their template.
    """
    body = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": metadata(
            "StatefulSet", name, origin, component, namespace=origin.spec.namespace, extra_labels=extra_labels
        ),
        "spec": {
            "podManagementPolicy": pod_management,
            "replicas": replicas,
            "selector": {"matchLabels": dict(selector)},
            "serviceName": service,
            "template": template,
            "updateStrategy": {"type": "RollingUpdate"},
        },
    }
    return Manifest(body, stem=name)
