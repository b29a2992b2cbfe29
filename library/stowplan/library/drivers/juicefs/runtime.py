"""The cache pods of a dataset: one on each cluster node that caches the dataset."""

from stowplan.library.builders.config_map import config_map
from stowplan.library.builders.metadata import Head, manifest
from stowplan.library.builders.pods import affinity, agent_pod
from stowplan.library.drivers.juicefs import cache, mount
from stowplan.library.ir.data import CachedDataset, Site
from stowplan.library.manifest import Json, Manifest
from stowplan.library.values import labels
from stowplan.schema.agents.agent_config import DATA_DIRECTORY, StatusTarget
from stowplan.schema.agents.cache_config import RuntimeConfig

MODULE = "stowplan.agents.cache"


def mount_path(name: str) -> str:
    """Return the path at which agents mount the dataset `name`: `/mnt/<name>`."""
    return f"{DATA_DIRECTORY}/{name}"


def selector(dataset: CachedDataset) -> dict[str, str]:
    """Return the labels that select the dataset's cache pods.

    With the name profile `upstream` they are those of the old operator, since a StatefulSet's selector cannot change.
    """
    if dataset.names.profile == "upstream":
        return {**dataset.labels, "name": dataset.names.runtime}
    return labels.component_selector(dataset.origin.spec, labels.CACHE_POD)


def at_partition(dataset: CachedDataset, partition: int) -> Json:
    """Return a required pod affinity to the cluster node of the dataset's cache pod with the number `partition`.

    The StatefulSet controller sets the label `statefulset.kubernetes.io/pod-name`, which selects that pod.
    """
    return affinity.required(affinity.same_node({labels.POD_NAME: dataset.names.runtime_pod(partition)}))


def near(dataset: CachedDataset, *, required: bool = False) -> Json:
    """Return a pod affinity to the cluster node of any cache pod of the dataset, required or preferred.

    It is empty if no cluster node caches the dataset.
    """
    if not dataset.partitions:
        return {}
    term = affinity.same_node(selector(dataset))
    return affinity.required(term) if required else affinity.preferred(term)


def manifests(dataset: CachedDataset, site: Site, service_account: str) -> list[Manifest]:
    """Return the objects of the cache pods: ConfigMap, Service, StatefulSet and PodDisruptionBudget.

    The list is empty if no cluster node caches the dataset. The Service gives the pods their DNS names; it has no
    ports, since the agents open none. The budget does not protect pods that are not ready, so these cannot block the
    drain of a cluster node.
    """
    if not dataset.partitions:
        return []
    origin, names, chosen = dataset.origin, dataset.names, selector(dataset)
    base, head = f"{names.base}-{labels.CACHE_POD}", Head(origin, labels.CACHE_POD)
    labelled = head._replace(labels=dataset.labels)
    configuration = config_map(base, head, _config(dataset, site), run=False)
    pods: Json = {
        "podManagementPolicy": "OrderedReady" if names.profile == "upstream" else "Parallel",
        "replicas": dataset.partitions,
        "selector": {"matchLabels": chosen},
        "serviceName": names.service,
        "template": agent_pod.template(_pod(dataset, site, configuration.name, service_account), origin, site),
        "updateStrategy": {"type": "RollingUpdate"},
    }
    budget = {"maxUnavailable": 1, "selector": {"matchLabels": chosen}, "unhealthyPodEvictionPolicy": "AlwaysAllow"}
    return [
        configuration,
        manifest("Service", names.service, labelled, spec={"clusterIP": "None", "selector": chosen}),
        manifest("StatefulSet", names.runtime, labelled, spec=pods),
        manifest("PodDisruptionBudget", base, head, spec=budget),
    ]


def _config(dataset: CachedDataset, site: Site) -> RuntimeConfig:
    spec = dataset.origin.spec
    return RuntimeConfig(
        target=StatusTarget.model_validate({"kind": spec.kind, "namespace": spec.namespace, "name": spec.name}),
        reportPhase=site.agents_report_phase,
        mountPath=mount_path(spec.name),
        partitions=dataset.partitions,
        cacheSizeMiB=cache.resolve(dataset, site).size_mib,
        mountOptions=mount.mount_options(dataset, site),
        synced=dataset.source is not None,
        warmed=dataset.warmed,
        driver=dataset.driver,
        memoryDirectories=cache.memory_directories(dataset) or None,
    )


def _pod(dataset: CachedDataset, site: Site, configuration: str, service_account: str) -> agent_pod.AgentPod:
    name = dataset.names.name
    agent = ["python", "-m", MODULE]
    return agent_pod.AgentPod(
        component=labels.CACHE_POD,
        agent="cache",
        module=MODULE,
        args=("runtime",),
        config_map=configuration,
        service_account=service_account,
        resources=site.platform.resources.runtime,
        mount=agent_pod.Mount(dataset.names.claim, mount_path(name)),
        placement=dataset.placement,
        pod_anti_affinity=affinity.required(affinity.same_node(selector(dataset))),
        probes={"livenessProbe": [*agent, "alive"], "readinessProbe": [*agent, "ready"]},
        restart_policy="Always",
        scratch_size="64Mi",
        extra_labels={**dataset.labels, "name": dataset.names.runtime},
    )
