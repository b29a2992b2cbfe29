"""Lowering of `Training`: a training group with one role, on the platform's engines."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from stowplan.library.builders.pods import lineage_container
from stowplan.library.builders.volume import claim_from_template
from stowplan.library.dialects.shared.context import Context, Lowered
from stowplan.library.dialects.training import checkpoints, code, rules, scheduling
from stowplan.library.dialects.training.datasets import MountedDataset, clashes, resolve
from stowplan.library.dialects.training.job import Job
from stowplan.library.dialects.training.outputs import lower as output_jobs
from stowplan.library.dialects.training.outputs import rules as output_rules
from stowplan.library.dialects.training.outputs import writable
from stowplan.library.dialects.training.pod import TrainingPod, compiled
from stowplan.library.dialects.training.pod_rules import located
from stowplan.library.dialects.training_group import pod_template, restarts, waiting
from stowplan.library.dialects.training_group.group_rules import group_findings
from stowplan.library.dialects.training_group.unit import environments, unit
from stowplan.library.engines.registry import JOB_ENGINES
from stowplan.library.frameworks.neutral import Neutral
from stowplan.library.ir.training import Role, TrainingGroup
from stowplan.library.manifest import ExternalReference, Part, Unit
from stowplan.schema.diagnostics import Finding, has_errors
from stowplan.schema.kinds.native.training import ROLE, Training
from stowplan.schema.meta import RUN_ANNOTATION


def lower(model: Training, context: Context) -> Lowered:
    """Return all manifests of a Training (none if it has errors) and all findings."""
    job = Job(model, context.platform)
    pod, found = compiled(job)
    mounted, problems = resolve(job, context)
    directories = tuple(writable.directories(job, mounted))
    outputs = tuple(writable.placed(model, directories))
    found += [*rules.findings(job, pod), *problems, *output_rules.of_places(outputs, directories)]
    if pod is None or has_errors(found):
        return Lowered(Unit(job.id, ()), tuple(found))
    group = _group(job, pod, mounted, context)
    variables = environments(group, context)
    found += group_findings(group, variables, context, size_path=lambda _: ("spec", "numNodes"))
    found += restarts.findings(group, context, path=rules.RESTART, limit="activeDeadlineSeconds", queued=True)
    found += located(_clashes(job, pod, mounted), pod.template, model)
    if has_errors(found):
        return Lowered(Unit(job.id, ()), tuple(found))
    more: list[Part] = []
    named = output_jobs.externals(outputs, job.id.namespace)
    if (kept := job.checkpoints) and kept.template is not None:
        # Argo CD never deletes it, so the checkpoints outlive the spec.
        more.append(Part("checkpoints", (claim_from_template(kept.name, group.origin, kept.template),)))
    elif kept:
        named.add(ExternalReference("PersistentVolumeClaim", job.id.namespace, kept.name))
    if job.spec.code:
        fetched = code.fetched(job.spec.code, group, context)
        more.append(Part("code", (fetched.configuration,)))
        named |= fetched.externals
        group = group._replace(roles=(group.roles[0]._replace(template=fetched.template),))
    run = unit(model, group, variables, context, more=more, named=named)
    copies = output_jobs.parts(outputs, group, run.manifests, context.site)
    return Lowered(replace(run, parts=(*run.parts, *copies)), tuple(found))


def _clashes(job: Job, pod: TrainingPod, datasets: Sequence[MountedDataset]) -> Iterator[Finding]:
    """Yield findings about names and mount paths that datasets, checkpoints, code and template give twice."""
    for each in datasets:
        yield from clashes(each.mount, pod)
    if job.checkpoints:
        yield from clashes(job.checkpoints.mount, pod, "The checkpoints are")
        yield from pod_template.taken(pod.template, lineage_container.CONTAINER, (), ())
    if job.spec.code:
        yield from code.clashes(job.spec.code, pod)


def _group(job: Job, pod: TrainingPod, datasets: Sequence[MountedDataset], context: Context) -> TrainingGroup:
    spec, launch, kept = job.spec, pod.launch, job.checkpoints
    engine, framework = JOB_ENGINES[context.platform.engines.jobs], job.plugin(launch, context.platform)
    least = launch.bounds.least if launch.bounds else None
    alone = launch.bounds is not None or pod.spec.get("restartPolicy") in ("Always", "OnFailure")
    mounts = (*(each.mount for each in datasets), *((kept.mount,) if kept else ()))
    role = Role(
        name=ROLE,
        size=launch.nodes,
        template=checkpoints.held(job, pod, datasets, context.site),
        decides=True,
        ports=framework.ports,
        restart="OnFailure" if alone else "Never",
        container=pod.container,
        host_network=bool(pod.spec.get("hostNetwork")),
        deadline=spec.active_deadline_seconds,
    )
    return TrainingGroup(
        origin=context.origin(job.id),
        names=job.names,
        framework=Neutral(
            framework,
            launch,
            {each.name: each.mount_path for each in spec.datasets or ()},
            attempts=None if least else engine.attempts,
            checkpoints=kept.directory if kept else None,
            code=spec.code.mount_path if spec.code else None,
        ),
        roles=(role,),
        mounts=mounts,
        gang=scheduling.request(spec)._replace(min_member=least),
        placement=scheduling.placement(spec),
        wishes=scheduling.WISHES,
        minimum=least,
        run=job.model.metadata.annotations.get(RUN_ANNOTATION, ""),
        suspend=spec.suspend is True,
        restart=job.restart,
        gate=waiting.gate(mounts, context),
    )
