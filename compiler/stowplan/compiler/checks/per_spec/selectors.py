"""Does each workload select its own pods?"""

from stowplan.compiler.checks.objects.finding import ObjectFinding, about
from stowplan.compiler.checks.objects.label_selectors import matches
from stowplan.compiler.checks.objects.object import Objects
from stowplan.compiler.kubernetes.fields import mapping

_WORKLOADS = ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")


def check(objects: Objects) -> list[ObjectFinding]:
    """Return a finding for each workload whose selector does not match its own pod template.

    The API server of Kubernetes refuses such a workload.
    """
    found = []
    for obj in objects.of_kind(*_WORKLOADS):
        for pod in obj.pods:
            if not matches(mapping(obj.body, "spec", "selector"), pod.labels):
                message = "The selector does not match the labels of the pod template."
                found.append(about(obj, "SP506", ("spec", "selector"), message, "Make both alike."))
    return found
