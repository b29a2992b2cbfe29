"""Interface of a storage driver."""

from abc import ABC, abstractmethod

from stowplan.library.builders.job import TaskSet
from stowplan.library.ir.data import CachedDataset, DataTask, Site
from stowplan.library.manifest import ExternalReference, Json, Manifest
from stowplan.schema.diagnostics import Finding


class StorageDriver(ABC):
    """Turns a dataset and the tasks on it into volume objects and agent configurations.

    It replaces the compile-time half of paddle-operator's Go interface `Driver`: `CreatePV` and `CreatePVC`
    are `volume`, `CreateService` and `CreateRuntime` are `runtime`, and the four `Create...JobOptions` are
    `tasks`. The run-time half (`CreateCacheStatus`, `Do...Job`) belongs to the agents.

    An example is `stowplan.library.drivers.toy`::

        '''Toy volumes, which nodes cache.'''

        from stowplan.library.builders import dataset_transfer, job, volume
        from stowplan.library.builders.config_map import config_map
        from stowplan.library.builders.dataset_transfer import Course
        from stowplan.library.builders.metadata import Head, manifest
        from stowplan.library.builders.pods import affinity, agent_pod
        from stowplan.library.drivers.api import StorageDriver
        from stowplan.library.values import labels
        from stowplan.schema.agents.cache_config import RuntimeConfig, WarmupConfig
        from stowplan.schema.diagnostics import finding


        def _shared(spec, site):
            target = {"kind": spec.kind, "namespace": spec.namespace, "name": spec.name}
            return {"target": target, "reportPhase": site.agents_report_phase, "driver": "toy", "mountPath": "/data"}


        def _pod(dataset, component, args, configuration, account, **fields):
            return agent_pod.AgentPod(
                component=component,
                agent="cache",
                module="stowplan.agents.cache",
                args=args,
                config_map=configuration.name,
                service_account=account,
                mount=agent_pod.Mount(dataset.names.claim, "/data"),
                placement=dataset.placement,
                **fields,
            )


        class ToyDriver(StorageDriver):
            def validate(self, dataset, site):
                if dataset.source is None or dataset.source.remote:
                    return []
                path, message = dataset.fields.source, "Toys are copied by transfers."
                return [finding("SP402", path, message, "Name another source.")]

            def cache_directories(self, dataset, site):
                return tuple(each for tier in dataset.tiers for each in tier.directories)

            def volume(self, dataset, site):
                names, origin = dataset.names, dataset.origin
                shelf = dataset.volume.shelf if dataset.volume else names.name
                head = volume.head(origin, keep=dataset.retained)
                own = {"csi": {"driver": "toy.example.com", "volumeHandle": shelf}, "capacity": {"storage": "1Ti"}}
                shared = {"accessModes": ["ReadWriteMany"], "storageClassName": ""}
                wanted = {"resources": {"requests": own["capacity"]}, "volumeName": names.volume}
                return [
                    manifest("PersistentVolume", names.volume, head._replace(namespace=""), spec={**shared, **own}),
                    manifest("PersistentVolumeClaim", names.claim, head, spec={**shared, **wanted}),
                ]

            def near(self, dataset, *, required):
                term = affinity.same_node(labels.component_selector(dataset.origin.spec, "runtime"))
                return affinity.required(term) if required else affinity.preferred(term)

            def runtime(self, dataset, site, service_account):
                names, origin = dataset.names, dataset.origin
                size = sum(tier.size_mib for tier in dataset.tiers) or 1024
                own = {"partitions": dataset.partitions, "cacheSizeMiB": size}
                filled = {"mountOptions": [], "synced": dataset.source is not None, "warmed": dataset.warmed}
                config = RuntimeConfig.model_validate({**_shared(origin.spec, site), **own, **filled})
                head = Head(origin, "runtime")
                configuration = config_map(f"{names.base}-runtime", head, config, run=False)
                resources = site.platform.resources.runtime
                fields = {"restart_policy": "Always", "resources": resources}
                pod = _pod(dataset, "runtime", ("runtime",), configuration, service_account, **fields)
                chosen = labels.component_selector(origin.spec, "runtime")
                pods = {
                    "replicas": dataset.partitions,
                    "selector": {"matchLabels": chosen},
                    "serviceName": names.service,
                    "template": agent_pod.template(pod, origin, site),
                }
                front = {"clusterIP": "None", "selector": chosen}
                return [
                    configuration,
                    manifest("Service", names.service, head, spec=front),
                    manifest("StatefulSet", names.runtime, head, spec=pods),
                ]

            def tasks(self, task, site, service_account):
                dataset, origin = task.dataset, task.origin
                if task.operation == "sync":
                    return dataset_transfer.task_set(task, task.source.remote, Course(), site, service_account)
                own = {"dataset": dataset.names.name, "paths": list(task.paths), "partitions": dataset.partitions}
                more = {"strategy": task.strategy, "threshold": 1, "afterRun": task.after_run}
                config = WarmupConfig.model_validate({**_shared(origin.spec, site), **own, **more})
                stem, once = task.configuration_stem, task.schedule is None
                configuration = config_map(stem, Head(origin, "warmup"), config, run=once)
                resources = site.platform.resources.task
                jobs = []
                for index, name in enumerate(task.stems):
                    args = ("warmup", agent_pod.PARTITION, str(index))
                    pod = _pod(dataset, "warmup", args, configuration, service_account, resources=resources)
                    template = agent_pod.template(pod, origin, site)
                    spec = job.job_spec(template, container="warmup", deadline_seconds=None, suspend=task.suspend)
                    jobs.append(job.Task(name, "warmup", task.namespace, spec))
                return job.TaskSet(configuration, tuple(jobs))


        DRIVER = ToyDriver()
    """

    def validate(self, dataset: CachedDataset, site: Site) -> list[Finding]:
        """Return findings about the dataset's options, at paths in its document; see `dataset.fields`."""
        return []

    def validate_task(self, task: DataTask, site: Site) -> list[Finding]:
        """Return findings about the options of a SampleJob's task, at paths in the SampleJob; not called for others."""
        return []

    def cache_directories(self, dataset: CachedDataset, site: Site) -> tuple[str, ...]:
        """Return the host directories that the dataset's cache uses on each cluster node; empty if it uses none."""
        return ()

    @abstractmethod
    def volume(self, dataset: CachedDataset, site: Site) -> list[Manifest]:
        """Return the volume and its claim, as far as the driver creates them; it may create none."""

    def externals(self, dataset: CachedDataset) -> set[ExternalReference]:
        """Return references to the objects of the volume that must exist in the cluster."""
        return set()

    def near(self, dataset: CachedDataset, *, required: bool) -> Json:
        """Return the pod affinity of pods that use the dataset, to the cluster nodes that cache the dataset.

        It is empty without a cache. The scheduler must satisfy it if `required` is true, else it is a preference.
        """
        return {}

    def runtime(self, dataset: CachedDataset, site: Site, service_account: str) -> list[Manifest]:
        """Return the objects of the cache pods, which mount the dataset on each cache node and measure the cache.

        The list is empty without a cache. `service_account` is the name of the pods' ServiceAccount.
        """
        return []

    @abstractmethod
    def tasks(self, task: DataTask, site: Site, service_account: str) -> TaskSet:
        """Return the Jobs of a valid task, one for each of its `stems`, not yet named, and the ConfigMap of all.

        `service_account` is the name of the pods' ServiceAccount.
        """
