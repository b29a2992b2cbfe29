"""Rules for an MxJob."""

from collections.abc import Iterator

from stowplan.library.builders.pods import await_pod
from stowplan.library.dialects.training_group import image_rules, pod_template, restarts, waiting
from stowplan.library.dialects.training_group.label_form import VALUE_FORM, is_label_value
from stowplan.library.frameworks.mxnet import VARIABLES
from stowplan.library.manifest import Json
from stowplan.library.values.names import MOST_PODS
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, did_you_mean, finding, without_effect
from stowplan.schema.kinds.mx_job import CONTAINER, MxJob, MxReplicaSpec
from stowplan.schema.platform.platform import Platform

LOCAL, DISTRIBUTED = "local", "dist"
ROLES = ("SCHEDULER", "SERVER", "WORKER")
_MODES = (DISTRIBUTED, LOCAL)
_LIST: FieldPath = ("spec", "replicaSpecs")
_LARGEST_PORT = 65535


def role_of(entry: MxReplicaSpec) -> str:
    """Return the role of an entry in capitals, as the document has it; `WORKER` by default."""
    return entry.mx_replica_type or "WORKER"


def container_index(template: Json) -> int:
    """Return the index of the container that trains, which must be named `CONTAINER`; 0 if there is none."""
    names = [container.get("name") for container in template["spec"]["containers"]]
    return names.index(CONTAINER) if CONTAINER in names else 0


def findings(model: MxJob, platform: Platform) -> list[Finding]:
    """Return all findings that depend only on the spec and the platform."""
    entries = list(model.spec.replica_specs or ())
    found = [*_mode(model), *_roles(entries), *_modes(model, entries), *restarts.form(model.metadata)]
    found += waiting.order_findings(model, platform)
    for index, entry in enumerate(entries):
        found += _entry(entry, (*_LIST, index), distributed=model.spec.job_mode == DISTRIBUTED)
    if model.spec.runtime_id is not None:
        found += _runtime_id(model.spec.runtime_id)
    return found


def _runtime_id(given: str) -> Iterator[Finding]:
    path: FieldPath = ("spec", "RuntimeId")
    if not is_label_value(given):
        yield finding("SP210", path, f'"{given}" cannot be the value of the label `runtime_id`.', f"Use {VALUE_FORM}.")
        return
    message = "`RuntimeId` is only the label `runtime_id` of the pods: names end in a hash of what is run."
    yield without_effect(path, message, "Remove it unless something selects pods by it.")


def _mode(model: MxJob) -> Iterator[Finding]:
    mode = model.spec.job_mode
    if mode not in _MODES:
        found = f'Found "{mode}"' if mode else "It is missing"
        hint = did_you_mean(mode, _MODES) if mode else "Give one of them."
        yield finding("SP204", ("spec", "jobMode"), f"{found}; allowed are {' and '.join(_MODES)}.", hint)


def _roles(entries: list[MxReplicaSpec]) -> Iterator[Finding]:
    seen: set[str] = set()
    for index, entry in enumerate(entries):
        role = role_of(entry)
        path = (*_LIST, index, "mxReplicaType")
        if role not in ROLES:
            message = f'Found "{role}"; allowed are {", ".join(ROLES)}.'
            yield finding("SP204", path, message, did_you_mean(role, ROLES))
        elif role in seen:
            message = f"{role} occurs twice; a job has one entry for each role."
            yield finding("SP475", path, message, "Put all pods of a role into one entry.")
        seen.add(role)


def _modes(model: MxJob, entries: list[MxReplicaSpec]) -> Iterator[Finding]:
    present = {role_of(entry) for entry in entries}
    if not entries:
        message = "The job has no pods."
        yield finding("SP449", ("spec",), message, "Give `replicaSpecs`.", anchor=Anchor.KEY)
    elif model.spec.job_mode == LOCAL:
        for index, entry in enumerate(entries):
            if role_of(entry) in ("SCHEDULER", "SERVER"):
                message = f"A local job has one WORKER and no {role_of(entry)}."
                path = (*_LIST, index, "mxReplicaType")
                yield finding("SP476", path, message, "Remove the entry, or write `jobMode: dist`.")
            elif role_of(entry) == "WORKER" and (entry.replicas or 0) > 1:
                message = f"Found {entry.replicas}; a local job has one worker."
                hint = "Write 1, or `jobMode: dist` with a SCHEDULER and SERVERs."
                yield finding("SP205", (*_LIST, index, "replicas"), message, hint)
    elif model.spec.job_mode == DISTRIBUTED:
        for role in ROLES:
            if role not in present:
                message = f"A distributed job needs a {role}."
                yield finding("SP476", _LIST, message, f"Add an entry with `mxReplicaType: {role}`.", anchor=Anchor.KEY)


def _entry(entry: MxReplicaSpec, path: FieldPath, *, distributed: bool) -> Iterator[Finding]:
    yield from _replicas(entry, (*path, "replicas"))
    port = entry.ps_root_port
    if port is not None and role_of(entry) != "SCHEDULER":
        yield without_effect((*path, "PsRootPort"), "Only the SCHEDULER's port is used.")
    elif port is not None and not 1 <= port <= _LARGEST_PORT:
        message = f"Found {port}; allowed are 1 to {_LARGEST_PORT}."
        yield finding("SP439", (*path, "PsRootPort"), message, "Give another port.")
    template = entry.template
    if template is None or not pod_template.is_usable(template):
        yield pod_template.missing(role_of(entry), (*path, "template") if template is not None else path)
        return
    yield from pod_template.findings(template, (*path, "template"))
    yield from image_rules.of_pod(template["spec"], (*path, "template", "spec"))
    if role_of(entry) == "SERVER":
        yield from pod_template.taken(template, await_pod.CONTAINER, await_pod.VOLUMES, (*path, "template"))
    yield from _restart(template, (*path, "template", "spec", "restartPolicy"), distributed=distributed)
    names = [container.get("name") for container in template["spec"]["containers"]]
    if CONTAINER not in names:
        message = f'No container is called "{CONTAINER}"; that one trains.'
        at = (*path, "template", "spec", "containers", 0, "name")
        yield finding("SP477", at, message, f"Call it {CONTAINER}.")
    elif distributed:
        yield from _overridden(template, (*path, "template", "spec"))


def _replicas(entry: MxReplicaSpec, path: FieldPath) -> Iterator[Finding]:
    if entry.replicas is None:
        return
    if not 1 <= entry.replicas <= MOST_PODS:
        message = f"Found {entry.replicas}; allowed are 1 to {MOST_PODS}."
        yield finding("SP205", path, message, "Give the number of pods.")
    elif role_of(entry) == "SCHEDULER" and entry.replicas != 1:
        message = f"Found {entry.replicas}; a job has one scheduler."
        yield finding("SP205", path, message, "Write 1.")


def _restart(template: Json, path: FieldPath, *, distributed: bool) -> Iterator[Finding]:
    given = template["spec"].get("restartPolicy")
    if given == "Always":
        message = "A pod that is always started again never completes; it is compiled with Never."
        yield finding("SP438", path, message, "Write Never.")
    elif given == "OnFailure":
        if distributed:
            message = "Pods are compiled with Never: MXNet readmits no process, so one that fails ends the job."
            hint = "Write Never. Programs that save checkpoints go on from them in the next run."
        else:
            message = "Pods are compiled with Never, so that the exit code decides whether another one is started."
            hint = "Nothing to do: after a code from 128 on, another pod is started."
        yield finding("SP478", path, message, hint)


def _overridden(template: Json, path: FieldPath) -> Iterator[Finding]:
    """Yield findings about variables in the template that override those by which MXNet's processes find each other."""
    index = container_index(template)
    for at, variable in enumerate(template["spec"]["containers"][index].get("env") or ()):
        if variable.get("name") in VARIABLES:
            message = f"The template's {variable['name']} takes the place of the job's own."
            where = (*path, "containers", index, "env", at, "name")
            yield finding("SP479", where, message, "Remove it unless the pods are to meet somewhere else.")
