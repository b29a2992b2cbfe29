"""Rules for a user's pod template in a training job of any kind.

The template already fits its official schema. The mistakes that these rules find would fail in the cluster, with a
late message or none.
"""

from collections.abc import Iterator, Sequence

from stowplan.library.builders.pods.training_pod import CONTAINER_LISTS, MERGE_KEYS, merge_key
from stowplan.library.ir.training import Environment
from stowplan.library.manifest import Json
from stowplan.library.values import quantities
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, finding

_OLD_NODE_LABEL = "paddlepaddle.org/"
_LONGEST_VARIABLE = 128 * 1024
_SET_BY_US = {
    "hostname": "each pod is named after its index",
    "subdomain": "it is that of the Service by which the pods find each other",
}


def is_usable(template: Json | None) -> bool:
    """Return whether the template exists and has a container."""
    return bool(template and template.get("spec") and template["spec"].get("containers"))


def missing(role: str, path: FieldPath) -> Finding:
    """Return a finding at `path` about a role without a pod template or without a container in it."""
    message = f"The role {role} has no container to run."
    return finding("SP437", path, message, "Give `template.spec.containers`.")


def findings(template: Json, path: FieldPath, *, host_network: bool = False) -> list[Finding]:
    """Return all findings about the pod template at `path` in its document.

    The template must fit the schema of Kubernetes. `host_network` means that its pods use the network of their
    cluster nodes, whatever the template says.
    """
    spec, at = template["spec"], (*path, "spec")
    containers = list(_containers(spec, at))
    return [
        *_duplicates(containers),
        *_resources(containers),
        *_missing_volumes(spec, containers),
        *_same_names(spec, containers, at),
        *_name_service(spec, at, host_network=host_network),
        *(_host_ports(containers) if host_network or spec.get("hostNetwork") else ()),
        *_old_node_labels(spec, at),
        *_set_by_us(spec, at),
    ]


def reserved(template: Json, names: Sequence[str], path: FieldPath) -> Iterator[Finding]:
    """Yield findings about variables of the first container that the job overrides.

    `names` are the variables that the job sets, `path` is the path of the template.
    """
    for index, variable in enumerate(template["spec"]["containers"][0].get("env") or ()):
        if variable.get("name") in names:
            message = f"The job sets {variable['name']} itself, so this value is not used."
            at = (*path, "spec", "containers", 0, "env", index, "name")
            yield finding("SP435", at, message, "Remove the variable.")


Placed = tuple[FieldPath, Json]
"""The path of a container, and the container."""


def _containers(spec: Json, path: FieldPath) -> Iterator[Placed]:
    for field in CONTAINER_LISTS:
        for index, container in enumerate(spec.get(field) or ()):
            yield (*path, field, index), container


def _duplicates(containers: Sequence[Placed]) -> Iterator[Finding]:
    """Yield findings about list entries with equal keys (see `merge_key`).

    Only the last entry is used, since server-side apply refuses duplicates.
    """
    for place, container in containers:
        for field, keys in MERGE_KEYS.items():
            entries = container.get(field) or ()
            if len(entries) < 2:
                continue
            merged = [merge_key(field, entry) for entry in entries]
            last = {key: index for index, key in enumerate(merged)}
            for index, entry in enumerate(entries):
                if last[merged[index]] != index:
                    message = f"`{field}` has another entry for {entry.get(keys[0])} below, which is used instead."
                    yield finding("SP436", (*place, field, index, keys[0]), message, "Remove one of the two.")


def _resources(containers: Sequence[Placed]) -> Iterator[Finding]:
    """Yield findings about requests above their limits. For devices of a plug-in and huge pages, both must be equal.

    `IsOvercommitAllowed` in pkg/apis/core/v1/helper of Kubernetes 1.35 to 1.37.
    """
    for place, container in containers:
        resources = container.get("resources") or {}
        limits = resources.get("limits") or {}
        for name, wanted in (resources.get("requests") or {}).items():
            at = (*place, "resources", "requests", name)
            if ("/" in name and "kubernetes.io/" not in name) or name.startswith("hugepages-"):
                if not quantities.equal(wanted, limits.get(name)):
                    found = limits.get(name, "nothing")
                    message = f"Found a request of {wanted} {name} and a limit of {found}; Kubernetes wants both alike."
                    yield finding("SP440", at, message, "Give the limit alone.")
            elif quantities.larger(wanted, limits.get(name)):
                message = f"The request of {wanted} {name} is more than the limit of {limits[name]}."
                yield finding("SP452", at, message, "Lower the request, or raise the limit.")


def _missing_volumes(spec: Json, containers: Sequence[Placed]) -> Iterator[Finding]:
    known = {volume.get("name") for volume in spec.get("volumes") or ()}
    for place, container in containers:
        for index, mount in enumerate(container.get("volumeMounts") or ()):
            if mount.get("name") not in known:
                at = (*place, "volumeMounts", index, "name")
                message = f'The pod has no volume "{mount.get("name")}".'
                names = ", ".join(sorted(map(str, known)))
                yield finding("SP442", at, message, f"Add it to `volumes`, or mount one of: {names or 'none yet'}.")


def _same_names(spec: Json, containers: Sequence[Placed], path: FieldPath) -> Iterator[Finding]:
    """Yield findings about equal names of a container and an init container, or of two ports of a container.

    The official schema finds other equal names, which are keys of one list.
    """
    inits = {container.get("name") for container in spec.get("initContainers") or ()} - {None}
    for index, container in enumerate(spec["containers"]):
        if container.get("name") in inits:
            message = f'An init container is called "{container["name"]}" too; names are unique in a pod.'
            yield finding("SP450", (*path, "containers", index, "name"), message, "Rename one of the two.")
    for place, container in containers:
        names: set[str] = set()
        for index, port in enumerate(container.get("ports") or ()):
            name = port.get("name")
            if name in names:
                message = f'Another port of the container is called "{name}" too.'
                yield finding("SP450", (*place, "ports", index, "name"), message, "Rename one of the two.")
            names |= {name} if name else set()


def taken(template: Json, container: str, volumes: Sequence[str], path: FieldPath) -> Iterator[Finding]:
    """Yield findings about containers and volumes in the template at `path` with names that Stowplan uses itself.

    `container` and `volumes` are the names that Stowplan uses."""
    spec, at = template["spec"], (*path, "spec")
    own: list[tuple[FieldPath, Json, Sequence[str]]]
    own = [(place, entry, (container,)) for place, entry in _containers(spec, at)]
    own += [((*at, "volumes", index), entry, volumes) for index, entry in enumerate(spec.get("volumes") or ())]
    for place, entry, names in own:
        if entry.get("name") in names:
            message = f'Stowplan adds something called "{entry["name"]}" to these pods.'
            yield finding("SP450", (*place, "name"), message, "Choose another name.")


def _name_service(spec: Json, path: FieldPath, *, host_network: bool) -> Iterator[Finding]:
    """Yield a finding about a DNS policy by which pods cannot resolve Services, as only the cluster's DNS does."""
    policy = spec.get("dnsPolicy", "ClusterFirst")
    if policy == "Default":
        message = "With the name service of its node a pod resolves no Service, so the pods do not find each other."
        yield finding("SP441", (*path, "dnsPolicy"), message, "Remove it.")
    elif spec.get("hostNetwork") and policy == "ClusterFirst" and not host_network:
        message = "On the network of its node a pod resolves no Service, unless `dnsPolicy` says so."
        at = (*path, "hostNetwork")
        yield finding("SP441", at, message, "Add `dnsPolicy: ClusterFirstWithHostNet`.", anchor=Anchor.KEY)


def _host_ports(containers: Sequence[Placed]) -> Iterator[Finding]:
    """Yield findings about host ports that differ from the container's port. On the host network they are the same."""
    for place, container in containers:
        for index, port in enumerate(container.get("ports") or ()):
            if port.get("hostPort") and port["hostPort"] != port.get("containerPort"):
                message = (
                    f"Found {port['hostPort']}; on the network of the node it can only be {port['containerPort']}."
                )
                at = (*place, "ports", index, "hostPort")
                yield finding("SP451", at, message, "Remove it, or give both the same number.")


def _old_node_labels(spec: Json, path: FieldPath) -> Iterator[Finding]:
    """Yield findings about node labels that the old operator gave cache nodes. Nothing sets these labels any more."""
    for key in sorted(spec.get("nodeSelector") or {}):
        if key.startswith(_OLD_NODE_LABEL):
            yield _old_label((*path, "nodeSelector", key), key, Anchor.KEY)
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    field = "requiredDuringSchedulingIgnoredDuringExecution"
    for at, term in enumerate((affinity.get(field) or {}).get("nodeSelectorTerms") or ()):
        for index, expression in enumerate(term.get("matchExpressions") or ()):
            key = str(expression.get("key"))
            if key.startswith(_OLD_NODE_LABEL):
                terms = ("affinity", "nodeAffinity", field, "nodeSelectorTerms", at)
                yield _old_label((*path, *terms, "matchExpressions", index, "key"), key, Anchor.VALUE)


def _old_label(path: FieldPath, key: str, anchor: Anchor) -> Finding:
    message = f"No node gets the label {key} any more, so the pod would find no node."
    hint = "Remove it: with `sampleSetRef` pods go where the dataset is cached, by pod affinity to the cache pods."
    return finding("SP443", path, message, hint, anchor=anchor)


def _set_by_us(spec: Json, path: FieldPath) -> Iterator[Finding]:
    for field, why in _SET_BY_US.items():
        if spec.get(field):
            message = f"`{field}` cannot be chosen: {why}."
            yield finding("SP445", (*path, field), message, "Remove it.", anchor=Anchor.KEY)


def long_variables(environment: Environment, path: FieldPath) -> Iterator[Finding]:
    """Yield a finding at `path` about the first variable that is longer than Linux allows; nothing if there is none.

    Linux starts no process with a variable of more than 128 KiB (MAX_ARG_STRLEN).
    """
    for variable in (*environment.fixed, *environment.defaults):
        size = len(variable["name"]) + len("=") + len(variable.get("value", "")) + 1
        if size > _LONGEST_VARIABLE:
            message = f"{variable['name']} would have {size} bytes; Linux takes {_LONGEST_VARIABLE} at most."
            yield finding("SP448", path, message, "Use fewer pods, or a shorter name for the job.")
            return
