"""Rules for the pods of a Training as they are compiled, with findings at paths in its document."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from stowplan.library.builders.pods import code_container, peers_container
from stowplan.library.builders.pods.training_pod import CONTAINER_LISTS
from stowplan.library.dialects.training import checkpoints, processes
from stowplan.library.dialects.training.job import Job
from stowplan.library.dialects.training.places import written
from stowplan.library.dialects.training.pod import TrainingPod
from stowplan.library.dialects.training_group import image_rules, pod_template
from stowplan.library.frameworks.neutral import dataset_variable
from stowplan.library.manifest import Json
from stowplan.library.values import quantities
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, finding
from stowplan.schema.kinds.native.training import TRAINER, Training

_PREFIX = "STOWPLAN_"


def of_trainer(job: Job, pod: TrainingPod) -> Iterator[Finding]:
    """Yield findings about the processes, memory, variables and checkpoints of the container that trains."""
    yield from processes.findings(job.spec.num_proc_per_node, pod.trainer)
    yield from _memory(job, pod.trainer)
    yield from _reserved(job, pod.trainer)
    yield from _twice(job.model)
    yield from checkpoints.findings(job, pod)


def of_template(job: Job, pod: TrainingPod) -> Iterator[Finding]:
    """Yield findings about containers without an image or, if all have one, those that any job's template may have.

    Another one is about `restartPolicy: Always` without a `restart` in the spec.
    """
    yield from located(list(_imageless(pod.spec)) or _template(job, pod), pod.template, job.model)
    if not job.spec.restart:
        yield from located(_restart(pod.spec), pod.template, job.model)


def located(found: Iterable[Finding], template: Json, model: Training) -> Iterator[Finding]:
    """Yield findings at paths in the compiled pod template with their paths in the document of the Training."""
    if not (found := list(found)):
        return
    document = model.model_dump(by_alias=True, exclude_unset=True)
    names = {
        field: [str(container.get("name")) for container in template["spec"].get(field) or ()]
        for field in CONTAINER_LISTS
    }
    for each in found:
        path = written(each.path, names, document)
        whole = path[-1:] == each.path[-1:]
        yield replace(each, path=path, anchor=each.anchor if whole else Anchor.KEY)


def _memory(job: Job, trainer: Json) -> Iterator[Finding]:
    """Yield a finding if `/dev/shm` is larger than the memory of the trainer, of which it is a part."""
    limit = ((trainer.get("resources") or {}).get("limits") or {}).get("memory")
    given, allowed = quantities.amount(job.shm_size or ""), quantities.amount(limit or "")
    if given and allowed and given > allowed:
        message = f"`/dev/shm` counts as memory of the trainer: {job.shm_size} is more than its limit of {limit}."
        yield finding("SP770", job.shm_path, message, "Raise the memory limit, or make `shmSize` smaller.")


def _reserved(job: Job, trainer: Json) -> Iterator[Finding]:
    """Yield findings about variables that only Stowplan sets."""
    framework = job.spec.framework
    for index, variable in enumerate(trainer.get("env") or ()):
        name = str(variable.get("name"))
        if name.startswith(_PREFIX):
            message = f"Names that begin with {_PREFIX} are for variables of Stowplan."
            yield finding("SP485", _variable(job.model, name, index), message, "Choose another name.")
        elif name in job.plugin.variables:
            message = f"{name} is set by `framework: {framework}`; another value would keep the processes apart."
            hint = "Remove it, or choose `framework: none`, with which you set the variables of a launcher yourself."
            yield finding("SP485", _variable(job.model, name, index), message, hint)


def _variable(model: Training, name: str, index: int) -> FieldPath:
    """Return the path of a variable in the document: in `env`, else in the template or the name of a profile."""
    for at, variable in enumerate(model.spec.env or ()):
        if variable.get("name") == name:
            return ("spec", "env", at, "name")
    document = model.model_dump(by_alias=True, exclude_unset=True)
    document["spec"].pop("env", None)
    return written(("spec", "containers", 0, "env", index, "name"), {"containers": [TRAINER]}, document)


def _twice(model: Training) -> Iterator[Finding]:
    """Yield findings about names that two variables would have."""
    seen: set[str] = set()
    for index, variable in enumerate(model.spec.env or ()):
        name = str(variable.get("name"))
        if name in seen:
            yield finding("SP492", ("spec", "env", index, "name"), f"{name} is set twice.", "Remove one of the two.")
        seen.add(name)
    names: dict[str, str] = {}
    for index, dataset in enumerate(model.spec.datasets or ()):
        name = dataset_variable(dataset.name)
        if name in names:
            message = f"The path of {dataset.name} would be in {name}, as that of {names[name]} is."
            hint = "Mount a dataset once, and give datasets names that differ in more than `-` and `.`."
            yield finding("SP492", ("spec", "datasets", index, "name"), message, hint)
        names.setdefault(name, dataset.name)


def _imageless(spec: Json) -> Iterator[Finding]:
    """Yield findings about containers without an image: a template may leave it out for the trainer alone."""
    for field in CONTAINER_LISTS:
        for index, container in enumerate(spec.get(field) or ()):
            if not container.get("image"):
                message = f"The container {container.get('name')} has no image."
                hint = f"Add `image`; only {TRAINER} has one already."
                yield finding("SP202", ("spec", field, index), message, hint)


def _template(job: Job, pod: TrainingPod) -> Iterator[Finding]:
    """Yield the findings that the pod template of any training job may have, at their paths in the template."""
    template, nowhere = pod.template, ()
    yield from pod_template.findings(template, nowhere, host_network=bool(pod.spec.get("hostNetwork")))
    yield from image_rules.of_pod(pod.spec, ("spec",))
    if job.spec.code:
        yield from pod_template.taken(template, code_container.CONTAINER, code_container.VOLUMES, nowhere)
    yield from pod_template.taken(template, peers_container.CONTAINER, (), nowhere)


def _restart(spec: Json) -> Iterator[Finding]:
    if spec.get("restartPolicy") == "Always":
        message = "A pod that is always started again never completes; it is compiled with OnFailure."
        yield finding("SP438", ("spec", "restartPolicy"), message, "Write OnFailure or Never.")
