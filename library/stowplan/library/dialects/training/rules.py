"""Rules for a Training that depend on the spec and the platform alone."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from stowplan.library.builders.pods import code_container, peers_container
from stowplan.library.builders.pods.training_pod import CONTAINER_LISTS
from stowplan.library.dialects.training import (
    checkpoints,
    code,
    pod,
    processes,
    profiles,
    restart,
    scheduling,
    variables,
)
from stowplan.library.dialects.training.outputs import rules as output_rules
from stowplan.library.dialects.training.places import written
from stowplan.library.dialects.training_group import image_rules, order_rules, pod_template
from stowplan.library.engines.gang.registry import GANG_ENGINES
from stowplan.library.frameworks.api import Bounds, Launch
from stowplan.library.frameworks.registry import PLUGINS
from stowplan.library.manifest import Json
from stowplan.library.values import quantities, strategic_merge
from stowplan.library.values.names import MOST_PODS
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, finding, has_errors
from stowplan.schema.kinds.native.training import TRAINER, Training
from stowplan.schema.platform.platform import Platform

MOST_WAITS = 8
"""Number of datasets that a job can wait for. Of the 20 rules of a Job, others need up to three."""


def findings(model: Training, platform: Platform) -> list[Finding]:
    """Return all findings that depend only on the spec and the platform."""
    found = [
        *order_rules.findings(model, platform),
        *_elastic(model),
        *_several(model),
        *_waits(model),
        *restart.findings(model),
        *scheduling.findings(model.spec, platform),
        *profiles.findings(model, platform),
        *_shm(model, platform),
        *code.findings(model),
        *output_rules.of_spec(model, platform),
    ]
    try:
        template = pod.template(model, platform)
    except strategic_merge.PatchError as problem:
        path = ("spec", "template", *problem.path)
        return [*found, finding("SP488", path, str(problem), "Correct it, or remove it from the template.")]
    index = pod.trainer_index(template)
    if index is None:
        return [*found, _no_trainer(model)]
    trainer = template["spec"]["containers"][index]
    found += processes.findings(model.spec.num_proc_per_node, trainer)
    found += _memory(model, platform, trainer)
    found += variables.findings(model, trainer)
    found += checkpoints.findings(model, platform, template["spec"], trainer)
    if not has_errors(found):
        found += PLUGINS[model.spec.framework].findings(launch(model, trainer), platform)
    found += [*_suspended(model, platform), *_deadline(model, platform)]
    imageless = list(_imageless(template))
    found += located(imageless or _pod(template, fetches=model.spec.code is not None), template, model)
    return [*found, *(() if model.spec.restart else located(_restart(template["spec"]), template, model))]


def launch(model: Training, trainer: Json) -> Launch:
    """Return how the job starts its processes. `trainer` is the container that trains, as it is compiled."""
    elastic = model.spec.elastic
    bounds = Bounds(elastic.min, elastic.max) if elastic else None
    return Launch(model.spec.num_nodes, processes.count(model.spec.num_proc_per_node, trainer), bounds)


def _elastic(model: Training) -> Iterator[Finding]:
    elastic, nodes = model.spec.elastic, model.spec.num_nodes
    if elastic is None:
        return
    path: FieldPath = ("spec", "elastic")
    if not PLUGINS[model.spec.framework].elastic:
        able = " and ".join(sorted(name for name, plugin in PLUGINS.items() if plugin.elastic))
        message = f"The number of nodes of a job with {model.spec.framework} is fixed; {able} jobs can be elastic."
        yield finding("SP469", path, message, "Remove it.", anchor=Anchor.KEY)
    elif elastic.max < elastic.min:
        message = f"Found {elastic.max}, which is less than `min`, {elastic.min}."
        yield finding("SP205", (*path, "max"), message, "Give at least the smallest number of nodes.")
    elif elastic.max > MOST_PODS:
        yield finding("SP205", (*path, "max"), f"Found {elastic.max}; allowed are up to {MOST_PODS}.", "Give fewer.")
    elif not elastic.min <= nodes <= elastic.max:
        given = "num_nodes" in model.spec.model_fields_set
        found = f"Found {nodes}" if given else f"`numNodes` is missing, which means {nodes}"
        message = f"{found}; `elastic` allows {elastic.min} to {elastic.max}."
        at, anchor = (("spec", "numNodes"), Anchor.VALUE) if given else (path, Anchor.KEY)
        yield finding("SP205", at, message, "Give `numNodes` within `elastic`.", anchor=anchor)


def _several(model: Training) -> Iterator[Finding]:
    name, given = model.spec.framework, model.spec.num_proc_per_node
    if given not in (None, "auto", "1") and not PLUGINS[name].several:
        message = f"A job with {name} has one process on each node, which uses all devices of the node."
        yield finding("SP469", ("spec", "numProcPerNode"), message, "Remove it.", anchor=Anchor.KEY)


def _waits(model: Training) -> Iterator[Finding]:
    """Yield a finding if pods wait for more datasets than a Job has rules for: each takes up to two."""
    given = [(index, each) for index, each in enumerate(model.spec.datasets or ()) if each.wait or each.revision]
    if len(given) > MOST_WAITS:
        message = (
            f"The job waits for {len(given)} datasets; the rules of a Job of Kubernetes are enough for {MOST_WAITS}."
        )
        hint = "Let it wait for fewer, such as the ones that are ready last."
        yield finding("SP205", ("spec", "datasets", given[MOST_WAITS][0]), message, hint)


def _shm(model: Training, platform: Platform) -> Iterator[Finding]:
    size = pod.shm_size(model, platform)
    if size is not None and quantities.amount(size) is None:
        yield finding("SP206", _shm_path(model), f'"{size}" is no quantity.', "Give one such as `64Gi`.")


def _memory(model: Training, platform: Platform, trainer: Json) -> Iterator[Finding]:
    """Yield a finding if `/dev/shm` is larger than the memory of the trainer, of which it is a part."""
    size = pod.shm_size(model, platform)
    limit = ((trainer.get("resources") or {}).get("limits") or {}).get("memory")
    given, allowed = quantities.amount(size or ""), quantities.amount(limit or "")
    if given and allowed and given > allowed:
        message = f"`/dev/shm` counts as memory of the trainer: {size} is more than its limit of {limit}."
        yield finding("SP770", _shm_path(model), message, "Raise the memory limit, or make `shmSize` smaller.")


def _shm_path(model: Training) -> FieldPath:
    return ("spec", "shmSize" if model.spec.shm_size else "network")


def _suspended(model: Training, platform: Platform) -> Iterator[Finding]:
    gang = platform.engines.gang
    if model.spec.suspend and GANG_ENGINES[gang].suspends:
        message = f"{gang} decides when jobs are suspended, and would let this one run."
        able = " or ".join(sorted(name for name, engine in GANG_ENGINES.items() if not engine.suspends))
        hint = f"Remove it, and hold the job back by its queue; or use another `engines.gang`: {able}."
        yield finding("SP447", ("spec", "suspend"), message, hint, anchor=Anchor.KEY)


def _deadline(model: Training, platform: Platform) -> Iterator[Finding]:
    if model.spec.active_deadline_seconds is not None and not GANG_ENGINES[platform.engines.gang].suspends:
        message = "The time counts from when the job is created, also while its pods wait for nodes or images."
        hint = "Allow for the wait, or use `engines.gang: kueue`, where it counts from when the job is admitted."
        yield finding("SP489", ("spec", "activeDeadlineSeconds"), message, hint)


def _no_trainer(model: Training) -> Finding:
    message = f"The template takes out the container {TRAINER}, which trains."
    hint = f"Change fields of {TRAINER} instead, and add other containers under names of their own."
    own = ((model.spec.template or {}).get("spec") or {}).get("containers")
    path: FieldPath = ("spec", "template", *(("spec", "containers") if own else ()))
    return finding("SP488", path, message, hint, anchor=Anchor.KEY)


def _imageless(template: Json) -> Iterator[Finding]:
    """Yield findings about containers without an image: a template may leave it out for the trainer alone."""
    for field in CONTAINER_LISTS:
        for index, container in enumerate(template["spec"].get(field) or ()):
            if not container.get("image"):
                message = f"The container {container.get('name')} has no image."
                hint = f"Add `image`; only {TRAINER} has one already."
                yield finding("SP202", ("spec", field, index), message, hint)


def _pod(template: Json, *, fetches: bool) -> list[Finding]:
    """Return the findings that the pod template of any training job may have, at their paths in the template.

    `fetches` is true if an init container fetches code.
    """
    spec, nowhere = template["spec"], ()
    found = pod_template.findings(template, nowhere, host_network=bool(spec.get("hostNetwork")))
    found += image_rules.of_pod(spec, ("spec",))
    if fetches:
        found += pod_template.taken(template, code_container.CONTAINER, code_container.VOLUMES, nowhere)
    return [*found, *pod_template.taken(template, peers_container.CONTAINER, (), nowhere)]


def located(found: Iterable[Finding], template: Json, model: Training) -> Iterator[Finding]:
    """Yield findings at paths in the compiled pod template with their paths in the document of the Training."""
    document = model.model_dump(by_alias=True, exclude_unset=True)
    names = {
        field: [str(container.get("name")) for container in template["spec"].get(field) or ()]
        for field in CONTAINER_LISTS
    }
    for each in found:
        path = written(each.path, names, document)
        whole = path[-1:] == each.path[-1:]
        yield replace(each, path=path, anchor=each.anchor if whole else Anchor.KEY)


def _restart(spec: Json) -> Iterator[Finding]:
    if spec.get("restartPolicy") == "Always":
        message = "A pod that is always started again never completes; it is compiled with OnFailure."
        yield finding("SP438", ("spec", "restartPolicy"), message, "Write OnFailure or Never.")
