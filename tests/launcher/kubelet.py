"""Pods as Kubernetes creates them from compiled objects: the controllers' names and the kubelet's environment."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from stowplan.library.manifest import Json
from stowplan.library.values.labels import JOB_INDEX, JOB_NAME, ROLE
from stowplan.schema.kinds import mx_job
from stowplan.schema.kinds.native.training import TRAINER
from tests.repositories import Result

CONTAINER = "paddle"
"""Name of the container that trains, in every template of a PaddleJob; elsewhere the name is given."""

ADDRESS = "<address of the pod>"
"""Stands for the address, which nobody knows before the pod is placed."""

_MINIMUM = "kueue.x-k8s.io/job-min-parallelism"
_EQUAL = "kueue.x-k8s.io/job-completions-equal-parallelism"
_REFERENCE = re.compile(r"\$\$|\$\(([^()]*)\)")
_ENTRY = re.compile(r"metadata\.(annotations|labels)\['([^']+)'\]")


@dataclass(frozen=True)
class Container:
    """A container that runs before or beside the one that trains."""

    name: str
    command: tuple[str, ...]
    env: Mapping[str, str]


@dataclass(frozen=True)
class Mount:
    """A claim, or a folder of it, that the container that trains finds at a path."""

    claim: str
    path: str
    sub_path: str
    read_only: bool


@dataclass(frozen=True, eq=False)
class Pod:
    """One pod, and in it the container that trains. `name` is what DNS has of it, if a Service selects it."""

    role: str
    index: int
    namespace: str
    hostname: str
    subdomain: str
    labels: Mapping[str, str]
    on_host: bool
    host_ports: frozenset[int]
    command: tuple[str, ...]
    env: Mapping[str, str]
    directory: str | None
    init: tuple[Container, ...]
    """Containers that must have ended before the others start."""
    sidecars: tuple[Container, ...]
    mounts: tuple[Mount, ...] = ()

    @property
    def title(self) -> str:
        """What tests call it, such as `worker-0`."""
        return f"{self.role}-{self.index}"

    @property
    def name(self) -> str:
        return f"{self.hostname}.{self.subdomain}"


def pods(result: Result, sizes: Mapping[str, int] | None = None, attempt: int = 0) -> list[Pod]:
    """All pods of all Jobs and JobSets. `sizes` has the roles that a queue admits with another number of pods.

    `attempt` is how often JobSets have started again.
    """
    bodies = objects(result)
    return [_pod(job, index, bodies) for job in _jobs(bodies, attempt) for index in range(_size(job, sizes or {}))]


def objects(result: Result, *kinds: str) -> list[Json]:
    """The objects of these kinds, or all."""
    bodies = [output.manifest.body for output in result.outputs]
    return [body for body in bodies if not kinds or body["kind"] in kinds]


def resolved(result: Result, found: Iterable[Pod]) -> Iterator[Pod]:
    """The pods whose names DNS has before they are ready: those that a headless Service of their subdomain selects."""
    services = list(_services(objects(result)))
    yield from (pod for pod in found if any(_names(service, pod) for service in services))


def _names(service: Json, pod: Pod) -> bool:
    meta, spec = service["metadata"], service["spec"]
    if (meta["namespace"], meta["name"]) != (pod.namespace, pod.subdomain):
        return False
    early = spec["clusterIP"] == "None" and spec["publishNotReadyAddresses"]
    return bool(early and spec["selector"].items() <= pod.labels.items())


def _size(job: Json, sizes: Mapping[str, int]) -> int:
    """Kueue changes both fields, of Jobs that let it and not below what they say."""
    size: int = job["spec"]["completions"]
    assert job["spec"]["parallelism"] == size
    admitted = sizes.get(job["spec"]["template"]["metadata"]["labels"][ROLE], size)
    if admitted != size:
        assert int(job["metadata"]["annotations"][_MINIMUM]) <= admitted <= size
        assert job["metadata"]["annotations"][_EQUAL] == "true"
    return admitted


def _jobs(bodies: Iterable[Json], attempt: int) -> Iterator[Json]:
    """Jobs as they are, and those that the JobSet controller makes: `<JobSet>-<role>-<number>`."""
    for body in bodies:
        if body["kind"] == "Job":
            yield body
        elif body["kind"] == "JobSet":
            for replicated in body["spec"]["replicatedJobs"]:
                for number in range(replicated["replicas"]):
                    yield _child(body, replicated, number, attempt)


def _child(job_set: Json, replicated: Json, number: int, attempt: int) -> Json:
    name = job_set["metadata"]["name"]
    spec = replicated["template"]["spec"]
    template = spec["template"]
    labels = {
        **template["metadata"]["labels"],
        **_job_set_label(name),
        "jobset.sigs.k8s.io/restart-attempt": str(attempt),
    }
    subdomain = _subdomain(job_set)
    template = {"metadata": {**template["metadata"], "labels": labels}, "spec": {**template["spec"], **subdomain}}
    meta = {"name": f"{name}-{replicated['name']}-{number}", "namespace": job_set["metadata"]["namespace"]}
    return {"kind": "Job", "metadata": meta, "spec": {**spec, "template": template}}


def _services(bodies: Iterable[Json]) -> Iterator[Json]:
    """Services as they are, and those that the JobSet controller makes for its pods where there is none."""
    bodies = list(bodies)
    own = [body for body in bodies if body["kind"] == "Service"]
    yield from own
    taken = {(body["metadata"]["namespace"], body["metadata"]["name"]) for body in own}
    for body in bodies:
        subdomain = _subdomain(body) if body["kind"] == "JobSet" else {}
        if subdomain and (body["metadata"]["namespace"], subdomain["subdomain"]) not in taken:
            spec = {
                "clusterIP": "None",
                "publishNotReadyAddresses": body["spec"]["network"]["publishNotReadyAddresses"],
                "selector": _job_set_label(body["metadata"]["name"]),
            }
            meta = {"name": subdomain["subdomain"], "namespace": body["metadata"]["namespace"]}
            yield {"kind": "Service", "metadata": meta, "spec": spec}


def _job_set_label(name: str) -> dict[str, str]:
    return {"jobset.sigs.k8s.io/jobset-name": name}


def _subdomain(job_set: Json) -> dict[str, str]:
    network = job_set["spec"]["network"]
    return {"subdomain": network["subdomain"]} if network["enableDNSHostnames"] else {}


def _pod(job: Json, index: int, bodies: Iterable[Json]) -> Pod:
    """A pod of an Indexed Job. Its host name is `<Job>-<index>`, its index stands in a label and an annotation."""
    home, name = job["metadata"]["namespace"], job["metadata"]["name"]
    assert job["spec"]["completionMode"] == "Indexed"
    template = job["spec"]["template"]
    spec, number = template["spec"], {JOB_INDEX: str(index)}
    meta = {
        "namespace": home,
        "labels": {**template["metadata"]["labels"], JOB_NAME: name, **number},
        "annotations": {**template["metadata"].get("annotations", {}), **number},
    }
    hostname = f"{name}-{index}"
    meta["name"] = f"{hostname}-x7k2p"
    container, *sidecars = _containers(spec, template["metadata"]["labels"][ROLE])
    maps = {each["metadata"]["name"]: each["data"] for each in bodies if each["kind"] == "ConfigMap"}
    env = _environment(container.get("env", ()), meta, maps)
    return Pod(
        role=meta["labels"][ROLE],
        index=index,
        namespace=home,
        hostname=hostname,
        subdomain=spec["subdomain"],
        labels=meta["labels"],
        on_host=spec.get("hostNetwork", False),
        host_ports=frozenset(port["hostPort"] for port in container.get("ports", ()) if "hostPort" in port),
        command=_command(container, env),
        env=env,
        directory=container.get("workingDir"),
        init=tuple(_other(each, meta, maps) for each in spec.get("initContainers", ()) if "restartPolicy" not in each),
        sidecars=tuple(_other(each, meta, maps) for each in sidecars),
        mounts=tuple(_mounts(spec, container)),
    )


def _mounts(spec: Json, container: Json) -> Iterator[Mount]:
    claims = {each["name"]: each.get("persistentVolumeClaim") for each in spec.get("volumes", ())}
    for each in container.get("volumeMounts", ()):
        if claim := claims[each["name"]]:
            read_only = each.get("readOnly", False) or claim.get("readOnly", False)
            yield Mount(claim["claimName"], each["mountPath"], each.get("subPath", ""), read_only)


def _containers(spec: Json, role: str) -> list[Json]:
    """The container that trains, which in the pods of helpers may be a sidecar, and the sidecars beside it."""
    sidecars = [each for each in spec.get("initContainers", ()) if each.get("restartPolicy") == "Always"]
    names = (CONTAINER, TRAINER, mx_job.CONTAINER, role)
    main = next(each for each in (*sidecars, *spec["containers"]) if each["name"] in names)
    return [main, *(each for each in sidecars if each is not main)]


def _other(container: Json, meta: Json, maps: Mapping[str, Mapping[str, str]]) -> Container:
    env = _environment(container.get("env", ()), meta, maps)
    return Container(container["name"], _command(container, env), env)


def _command(container: Json, env: Mapping[str, str]) -> tuple[str, ...]:
    words = (*container["command"], *container.get("args", ()))
    return tuple(_expanded(word, env) for word in words)


def _environment(variables: Iterable[Json], meta: Json, maps: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """In their order: a value may refer to variables before it, and nothing that comes from elsewhere is expanded."""
    env: dict[str, str] = {}
    for variable in variables:
        source: Any = variable.get("valueFrom")
        if source is None:
            env[variable["name"]] = _expanded(variable.get("value", ""), env)
        elif "configMapKeyRef" in source:
            env[variable["name"]] = maps[source["configMapKeyRef"]["name"]][source["configMapKeyRef"]["key"]]
        else:
            env[variable["name"]] = _field(source["fieldRef"]["fieldPath"], meta)
    return env


def _field(path: str, meta: Json) -> str:
    if path in ("metadata.name", "metadata.namespace"):
        return str(meta[path.removeprefix("metadata.")])
    if path == "status.podIP":
        return ADDRESS
    entry = _ENTRY.fullmatch(path)
    assert entry, path
    return str(meta[entry[1]][entry[2]])


def _expanded(text: str, env: Mapping[str, str]) -> str:
    """`$(NAME)` of a known variable is its value, of an unknown one stays; `$$` is a dollar sign."""
    return _REFERENCE.sub(lambda found: "$" if found[1] is None else env.get(found[1], found[0]), text)
