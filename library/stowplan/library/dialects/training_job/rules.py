"""Rules for a TrainingJob as a whole."""

from collections.abc import Iterator

from stowplan.library.dialects.training_group import restarts, waiting
from stowplan.library.dialects.training_group.label_form import VALUE_FORM, is_label_value
from stowplan.library.dialects.training_job import role_rules
from stowplan.library.dialects.training_job.topology import (
    FRAMEWORKS,
    TYPES,
    instances,
    may_grow,
    scheduler,
    shape,
    topology,
)
from stowplan.library.engines.gang.registry import GANG_ENGINES
from stowplan.library.values.names import MOST_PODS, is_dns_subdomain
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, did_you_mean, finding, without_effect
from stowplan.schema.kinds.training_job import ServerRole, TrainingJob
from stowplan.schema.platform.platform import Platform


def findings(model: TrainingJob, platform: Platform) -> list[Finding]:
    """Return all findings that depend only on the spec and the platform."""
    return [
        *restarts.form(model.metadata),
        *waiting.order_findings(model, platform),
        *_framework(model),
        *_sizes(model),
        *_elasticity(model, platform),
        *_dead(model),
        *_left_out(model),
        *_wishes(model, platform),
        *role_rules.findings(model, platform),
        *_commands(model, platform),
    ]


def priority_class(model: TrainingJob, platform: Platform) -> str | None:
    """Return the PriorityClass of the job, its `priority`; None if it is invalid or the gang engine ignores it."""
    wishes = model.spec.annotations
    engine = GANG_ENGINES[platform.engines.gang]
    alone = not engine.prioritizes or (engine.kinds and scheduler(model.spec))
    name = wishes.priority if wishes and not alone else None
    return name if name and is_dns_subdomain(name) else None


def own_pod_group(model: TrainingJob, platform: Platform) -> str | None:
    """Return the PodGroup that the spec names for the pods; None if it names none or the compiler creates one."""
    compiled = GANG_ENGINES[platform.engines.gang].kinds and not scheduler(model.spec)
    return None if compiled else model.spec.pod_group_name or None


def _framework(model: TrainingJob) -> Iterator[Finding]:
    work = model.spec.frame_work
    if work is None:
        if model.spec.local_job and model.spec.is_nccl:
            yield without_effect(("spec", "is_nccl"), "`is_nccl` has no effect together with `local_job`.")
        return
    if work.name and work.name not in FRAMEWORKS:
        message = f'"{work.name}" is no framework; the job is compiled as one of paddle.'
        yield finding("SP430", ("spec", "frame_work", "name"), message, did_you_mean(work.name, FRAMEWORKS))
    if work.type not in TYPES:
        found = f'Found "{work.type}"' if work.type else "It is missing"
        message = f"{found}; allowed are {', '.join(TYPES)}."
        hint = did_you_mean(work.type, TYPES) if work.type else f"Give one of {', '.join(TYPES)}."
        yield finding("SP204", ("spec", "frame_work", "type"), message, hint)
    for key, value in (("local_job", model.spec.local_job), ("is_nccl", model.spec.is_nccl)):
        if value is not None:
            message = f"`{key}` has no effect together with `frame_work`, whose type decides."
            yield without_effect(("spec", key), message)


def _sizes(model: TrainingJob) -> Iterator[Finding]:
    spec = model.spec
    kind = topology(spec)
    if spec.trainer is None:
        message = "The job has no trainers."
        yield finding("SP449", ("spec",), message, "Give `trainer` with `min-instance`.", anchor=Anchor.KEY)
    elif kind != "local":
        yield from _instances("trainer", spec.trainer)
    else:
        for key, given in (("min-instance", spec.trainer.min_instance), ("max-instance", spec.trainer.max_instance)):
            if given is not None and given > 1:
                message = f"Found {given}; a local job has one trainer."
                yield finding("SP406", ("spec", "trainer", key), message, "Write 1, or choose another type.")
    if spec.frame_work and spec.frame_work.type not in TYPES:
        return
    if kind == "ps" and not (spec.pserver and spec.pserver.min_instance):
        message = "The job trains with parameter servers, but has none, so it is compiled with trainers alone."
        hint = "Give `pserver.min-instance`, or say that it has none: `local_job`, `is_nccl`, or `frame_work.type`."
        path: FieldPath = ("spec", "pserver") if spec.pserver else ("spec",)
        yield finding("SP481", path, message, hint, anchor=Anchor.KEY)
    elif kind == "ps" and spec.pserver:
        yield from _instances("pserver", spec.pserver)
        least, most = instances(spec.pserver)
        if 0 < least < most <= MOST_PODS:
            message = f"Only trainers are elastic; there are {least} parameter servers."
            yield without_effect(("spec", "pserver", "max-instance"), message)


def _instances(name: str, role: ServerRole) -> Iterator[Finding]:
    least, most = instances(role)
    path: FieldPath = ("spec", name)
    if not 1 <= least <= MOST_PODS:
        found = "It is missing" if role.min_instance is None else f"Found {least}"
        message = f"{found}; allowed are 1 to {MOST_PODS}."
        yield finding("SP205", (*path, "min-instance"), message, "Give the number of pods.")
    elif not least <= most <= MOST_PODS:
        message = f"Found {most}; allowed are {least} (`min-instance`) to {MOST_PODS}."
        yield finding("SP205", (*path, "max-instance"), message, "Give the largest number of pods, or remove it.")


def _elasticity(model: TrainingJob, platform: Platform) -> Iterator[Finding]:
    least, most = instances(model.spec.trainer)
    if not may_grow(model) or most > MOST_PODS:
        return
    path: FieldPath = ("spec", "trainer", "max-instance")
    if not model.spec.fault_tolerant:
        message = (
            f"Up to {most} trainers are wished for, but they do not survive each other's loss, so there are {least}."
        )
        hint = "Set `fault_tolerant: true`, or give both the same number."
        yield finding("SP470", path, message, hint)
    elif not GANG_ENGINES[platform.engines.gang].resizes:
        message = f"Nothing on this platform changes the size of a job, so it has {least} trainers."
        hint = "Set `engines.gang: kueue` in the platform file for jobs that take what is free."
        yield finding("SP471", path, message, hint)


def _dead(model: TrainingJob) -> Iterator[Finding]:
    spec = model.spec
    wishes = spec.annotations
    never = {
        ("mountpath",): spec.mountpath,
        ("nfsmount",): spec.nfsmount,
        ("matrix",): spec.matrix,
        ("annotations", "userid"): wishes.userid if wishes else None,
        ("annotations", "usergroupid"): wishes.usergroupid if wishes else None,
        ("trainer", "etcd-endpoint"): spec.trainer.etcd_endpoint if spec.trainer else None,
    }
    hints = {
        "nfsmount": "Remove it; give the volume in `volumes`.",
        "etcd-endpoint": "Remove it; the master's is read.",
    }
    for keys, value in never.items():
        if value is not None:
            yield without_effect(("spec", *keys), f"`{keys[-1]}` has no effect.", hints.get(keys[-1], "Remove it."))


def _left_out(model: TrainingJob) -> Iterator[Finding]:
    """Yield findings about roles that a job of this topology does not have."""
    spec = model.spec
    if spec.pserver is not None and topology(spec) != "ps":
        message = "This kind of job has no parameter servers, so these are left out."
        yield without_effect(("spec", "pserver"), message, "Remove them.")
    if spec.master is not None and not spec.fault_tolerant:
        message = "Only fault-tolerant jobs have a master, so it is left out."
        yield without_effect(("spec", "master"), message, "Remove it, or set `fault_tolerant: true`.")


def _commands(model: TrainingJob, platform: Platform) -> Iterator[Finding]:
    if shape(model, platform).servers:
        yield from role_rules.without_command(model, "pserver")
    yield from role_rules.without_command(model, "trainer")


def _wishes(model: TrainingJob, platform: Platform) -> Iterator[Finding]:
    wishes = model.spec.annotations
    path: FieldPath = ("spec", "annotations")
    if wishes and wishes.walltime is not None and wishes.walltime < 0:
        message = f"Found {wishes.walltime}; a time is not negative."
        yield finding("SP205", (*path, "walltime"), message, "Give seconds, or 0 for no limit.")
    elif wishes and wishes.walltime and not GANG_ENGINES[platform.engines.gang].suspends:
        message = "The time counts from when the job is created, also while its pods wait for nodes or images."
        hint = "Allow for the wait, or use `engines.gang: kueue`, where it counts from when the job is admitted."
        yield finding("SP489", (*path, "walltime"), message, hint)
    if wishes and not is_label_value(wishes.priority or ""):
        message = f'"{wishes.priority}" cannot be the value of a label.'
        hint = f"Use {VALUE_FORM}."
        yield finding("SP210", (*path, "priority"), message, hint)
    if name := priority_class(model, platform):
        message = f'The job gets the PriorityClass "{name}" too, which {platform.engines.gang} looks at.'
        yield finding("SP480", (*path, "priority"), message, "See that the cluster has it.")
    chosen = scheduler(model.spec)
    if model.spec.scheduler_name and chosen != model.spec.scheduler_name:
        message = f'`annotations.scheduler` takes precedence, so the scheduler is "{chosen}".'
        yield without_effect(("spec", "schedulerName"), message, "Remove one of the two.")
    if model.spec.pod_group_name and not own_pod_group(model, platform):
        message = "The pods belong to the PodGroup that is compiled for the job, so this one is not used."
        yield without_effect(("spec", "podGroupName"), message)
