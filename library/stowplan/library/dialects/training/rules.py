"""Rules for a Training that depend on the spec and the platform alone."""

from collections.abc import Iterator, Mapping

from stowplan.library.dialects.training import code, pod_rules, scheduling
from stowplan.library.dialects.training.job import Job
from stowplan.library.dialects.training.outputs import rules as output_rules
from stowplan.library.dialects.training.pod import TrainingPod, compiled
from stowplan.library.dialects.training_group import restarts, waiting
from stowplan.library.engines.gang.registry import GANG_ENGINES
from stowplan.library.frameworks.registry import PLUGINS
from stowplan.library.values import quantities
from stowplan.library.values.names import MOST_PODS
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, did_you_mean, finding, has_errors, without_effect
from stowplan.schema.kinds.native.training import Training
from stowplan.schema.meta import RESTARTS_ANNOTATION
from stowplan.schema.platform.platform import Platform

MOST_WAITS = 8
"""Number of datasets that a job can wait for. Of the 20 rules of a Job, others need up to three."""

RESTART: FieldPath = ("spec", "restart")


def of_model(model: Training, platform: Platform) -> list[Finding]:
    """Return all findings that depend only on the spec and the platform."""
    job = Job(model, platform)
    pod, found = compiled(job)
    return [*found, *findings(job, pod)]


def findings(job: Job, pod: TrainingPod | None) -> list[Finding]:
    """Return the findings about a job and its pods; those about the job alone if the pods cannot be compiled."""
    model, platform = job.model, job.platform
    found = [
        *waiting.order_findings(model, platform),
        *_elastic(job),
        *_several(job),
        *_waits(model),
        *_restarts(job),
        *scheduling.findings(model.spec, platform),
        *_profiles(job),
        *_shm(job),
        *code.findings(model),
        *output_rules.of_spec(model, platform),
    ]
    if pod is None:
        return found
    found += pod_rules.of_trainer(job, pod)
    if not has_errors(found):
        found += job.plugin(pod.launch, platform).findings()
    return [*found, *_suspended(job), *_deadline(job), *pod_rules.of_template(job, pod)]


def _elastic(job: Job) -> Iterator[Finding]:
    bounds, nodes = job.bounds, job.spec.num_nodes
    if bounds is None:
        return
    path: FieldPath = ("spec", "elastic")
    if not job.plugin.elastic:
        able = " and ".join(sorted(name for name, plugin in PLUGINS.items() if plugin.elastic))
        message = f"The number of nodes of a job with {job.spec.framework} is fixed; {able} jobs can be elastic."
        yield finding("SP469", path, message, "Remove it.", anchor=Anchor.KEY)
    elif bounds.most < bounds.least:
        message = f"Found {bounds.most}, which is less than `min`, {bounds.least}."
        yield finding("SP205", (*path, "max"), message, "Give at least the smallest number of nodes.")
    elif bounds.most > MOST_PODS:
        yield finding("SP205", (*path, "max"), f"Found {bounds.most}; allowed are up to {MOST_PODS}.", "Give fewer.")
    elif not bounds.least <= nodes <= bounds.most:
        given = "num_nodes" in job.spec.model_fields_set
        found = f"Found {nodes}" if given else f"`numNodes` is missing, which means {nodes}"
        message = f"{found}; `elastic` allows {bounds.least} to {bounds.most}."
        at, anchor = (("spec", "numNodes"), Anchor.VALUE) if given else (path, Anchor.KEY)
        yield finding("SP205", at, message, "Give `numNodes` within `elastic`.", anchor=anchor)


def _several(job: Job) -> Iterator[Finding]:
    if job.spec.num_proc_per_node not in (None, "auto", "1") and not job.plugin.several:
        message = f"A job with {job.spec.framework} has one process on each node, which uses all devices of the node."
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


def _restarts(job: Job) -> Iterator[Finding]:
    """Yield findings about exit codes, and about the annotation of other kinds."""
    given = job.spec.restart
    if RESTARTS_ANNOTATION in job.model.metadata.annotations:
        message = "The annotation has no effect on a Training, which has a field for it."
        yield without_effect(restarts.ANNOTATION, message, "Remove it, and write `restart: {max: 3}` with its number.")
    if given and given.fail_on is not None and given.retry_on is not None:
        message = "`failOn` says which exit codes end the job, and `retryOn` which ones do not."
        yield finding("SP711", (*RESTART, "retryOn"), message, "Give one of the two.", anchor=Anchor.KEY)
    bereft = job.plugin.bereft
    if job.restart and bereft in job.restart.final and job.spec.num_nodes > 1:
        message = f"When a node is lost, the others end with {bereft}, which ends the job if they are faster."
        hint = "Let this code restart it too, as with `failOn: [2, 126, 127]`."
        yield finding("SP716", RESTART, message, hint, anchor=Anchor.KEY)


def _profiles(job: Job) -> Iterator[Finding]:
    """Yield findings about profiles that do not exist, and about a number of nodes that a device does not have."""
    yield from _missing("accelerator", job.spec.accelerator, job.platform.profiles.accelerators)
    yield from _missing("network", job.spec.network, job.platform.profiles.networks)
    together, nodes = job.device.nodes, job.spec.num_nodes
    if together and nodes != together:
        message = f"Found {nodes}; {job.spec.accelerator} has {together} nodes that belong together."
        yield finding("SP205", ("spec", "numNodes"), message, f"Write {together}, or choose another accelerator.")


def _missing(field: str, name: str | None, known: Mapping[str, object]) -> Iterator[Finding]:
    if name is not None and name not in known:
        message = f'The platform has no {field} "{name}".'
        hint = did_you_mean(name, known) if known else f"Add it to `profiles.{field}s` of the platform file."
        yield finding("SP487", ("spec", field), message, hint)


def _shm(job: Job) -> Iterator[Finding]:
    size = job.shm_size
    if size is not None and quantities.amount(size) is None:
        yield finding("SP206", job.shm_path, f'"{size}" is no quantity.', "Give one such as `64Gi`.")


def _suspended(job: Job) -> Iterator[Finding]:
    gang = job.platform.engines.gang
    if job.spec.suspend and GANG_ENGINES[gang].suspends:
        message = f"{gang} decides when jobs are suspended, and would let this one run."
        able = " or ".join(sorted(name for name, engine in GANG_ENGINES.items() if not engine.suspends))
        hint = f"Remove it, and hold the job back by its queue; or use another `engines.gang`: {able}."
        yield finding("SP447", ("spec", "suspend"), message, hint, anchor=Anchor.KEY)


def _deadline(job: Job) -> Iterator[Finding]:
    if job.spec.active_deadline_seconds is not None and not GANG_ENGINES[job.platform.engines.gang].suspends:
        message = "The time counts from when the job is created, also while its pods wait for nodes or images."
        hint = "Allow for the wait, or use `engines.gang: kueue`, where it counts from when the job is admitted."
        yield finding("SP489", ("spec", "activeDeadlineSeconds"), message, hint)
