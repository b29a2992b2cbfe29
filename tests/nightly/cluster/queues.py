"""Kueue's queues and its Workloads, as tests make and read them."""

import itertools
from typing import Any

from tests.cluster.client import Client, Manifest, ref, true_conditions

API = "kueue.x-k8s.io/v1beta2"
QUEUE = "training"
"""The usual LocalQueue."""
FLAVOR_NODES = {"kubernetes.io/os": "linux"}
TOLERATION = {"key": "spot", "operator": "Exists", "effect": "NoSchedule"}
"""What Kueue writes into the pods of what it admits."""

_NUMBERS = itertools.count()


def make_queue(admin: Client, namespace: str, cpu: int, topology: tuple[str, ...] = (), local: str = QUEUE) -> Manifest:
    """Give a namespace the LocalQueue `local` with a quota of CPUs of its own, on nodes of one flavor.

    Gives the ClusterQueue.

    The quota of memory is large; Kueue admits nothing that asks for a resource without a quota. Jobs of higher priority
    preempt others. `topology` are labels of nodes, from the largest domain down.
    """
    name = f"queue-{next(_NUMBERS)}"
    flavor: dict[str, Any] = {"nodeLabels": FLAVOR_NODES, "tolerations": [TOLERATION]}
    if topology:
        admin.apply({**ref(API, "Topology", name), "spec": {"levels": [{"nodeLabel": label} for label in topology]}})
        flavor["topologyName"] = name
    admin.apply({**ref(API, "ResourceFlavor", name), "spec": flavor})
    quota = {"cpu": str(cpu), "memory": "1Ti"}
    spec = {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "resourceGroups": [
            {
                "coveredResources": list(quota),
                "flavors": [{"name": name, "resources": [{"name": key, "nominalQuota": quota[key]} for key in quota]}],
            }
        ],
        "preemption": {"withinClusterQueue": "LowerPriority"},
    }
    made = admin.apply({**ref(API, "ClusterQueue", name), "spec": spec})
    admin.apply({**ref(API, "LocalQueue", local, namespace), "spec": {"clusterQueue": name}})
    return made


def make_priorities(admin: Client) -> None:
    """The WorkloadPriorityClasses `low` and `high`."""
    for name, value in (("low", 1), ("high", 1000)):
        admin.apply({**ref(API, "WorkloadPriorityClass", name), "value": value})


def workload(admin: Client, job: Manifest) -> Manifest:
    """The Workload that Kueue made for a Job or JobSet; LookupError before that."""
    uid = admin.get(job)["metadata"]["uid"]
    for each in admin.list(API, "Workload", job["metadata"]["namespace"]):
        if uid in {owner["uid"] for owner in each["metadata"].get("ownerReferences", ())}:
            return each
    raise LookupError(f"no Workload of {job['metadata']['name']}")


def conditions(admin: Client, job: Manifest) -> set[str]:
    """Which conditions of the job's Workload hold; empty before Kueue made one."""
    try:
        return true_conditions(workload(admin, job))
    except LookupError:
        return set()


def reserved(admin: Client, queue: Manifest) -> int:
    """The CPUs that a ClusterQueue gave to Workloads."""
    flavors = admin.get(queue).get("status", {}).get("flavorsReservation") or []
    (cpu,) = (each["total"] for flavor in flavors for each in flavor["resources"] if each["name"] == "cpu")
    return int(cpu)
