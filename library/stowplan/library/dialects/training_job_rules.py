"""What is wrong with a TrainingJob, or worth knowing about it."""

from collections.abc import Iterator
from itertools import combinations

from stowplan.library import quantities
from stowplan.library.dialects.training_job_pods import ETCD_PORT, MASTER_PORT, command
from stowplan.library.dialects.training_job_shape import Shape, instances, is_elastic, shape, topology
from stowplan.library.names import LABEL_LIMIT, MOST_PODS
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, did_you_mean, finding
from stowplan.schema.platform import Platform
from stowplan.schema.training_job import MasterRole, ServerRole, TrainingJob

_FRAMEWORKS = ("paddle", "tensorflow")
_TYPES = ("local", "multi", "nccl2")
_ROLES = ("master", "pserver", "trainer")
_SHELL = frozenset({"&&", "||", "|", ";", "&", ">", ">>", "<", "<<"})
_LARGEST_PORT = 65535


def findings(model: TrainingJob, platform: Platform) -> list[Finding]:
    """All findings of the spec itself."""
    return [
        *_framework(model),
        *_sizes(model, platform),
        *_ports(model, platform),
        *_dead(model),
        *_left_out(model),
        *_wishes(model, platform),
        *_volumes(model),
        *(found for name in _ROLES if (role := getattr(model.spec, name)) for found in _role(name, role)),
    ]


def _framework(model: TrainingJob) -> Iterator[Finding]:
    work = model.spec.frame_work
    if work is None:
        return
    for key, given, known in (("name", work.name, _FRAMEWORKS), ("type", work.type, _TYPES)):
        if given not in known:
            found = f'Found "{given}"' if given else "It is missing"
            message = f"{found}; allowed are {', '.join(known)}."
            hint = did_you_mean(given, known) if given else f"Give one of {', '.join(known)}."
            yield finding("SP204", ("spec", "frame_work", key), message, hint)
    for key, value in (("local_job", model.spec.local_job), ("is_nccl", model.spec.is_nccl)):
        if value is not None:
            message = f"`{key}` has no effect beside `frame_work`, whose type decides."
            yield finding("SP406", ("spec", key), message, "Remove it.", anchor=Anchor.KEY)


def _sizes(model: TrainingJob, platform: Platform) -> Iterator[Finding]:
    spec = model.spec
    kind = topology(spec)
    if spec.trainer is None:
        message = "The job has no trainers."
        yield finding("SP449", ("spec",), message, "Give `trainer` with `min-instance`.", anchor=Anchor.KEY)
        return
    if kind != "local":
        yield from _instances("trainer", spec.trainer)
    elif (spec.trainer.min_instance or 1) > 1:
        message = f"Found {spec.trainer.min_instance}; a local job has one trainer."
        yield finding("SP406", ("spec", "trainer", "min-instance"), message, "Write 1, or choose another type.")
    if kind == "ps" and spec.pserver is None:
        message = "The job trains with parameter servers, but has none."
        hint = "Give `pserver`, or say that it has none: `local_job`, `is_nccl`, or `frame_work.type`."
        yield finding("SP449", ("spec",), message, hint, anchor=Anchor.KEY)
    elif kind == "ps" and spec.pserver:
        yield from _instances("pserver", spec.pserver)
        least, most = instances(spec.pserver)
        if 0 < least < most:
            message = f"Only trainers are elastic; there are {least} parameter servers."
            yield finding("SP406", ("spec", "pserver", "max-instance"), message, "Remove it.", anchor=Anchor.KEY)
    yield from _elasticity(model, platform)


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
    if not is_elastic(model):
        return
    least, most = instances(model.spec.trainer)
    path: FieldPath = ("spec", "trainer", "max-instance")
    if not model.spec.fault_tolerant:
        message = f"The job may have {least} to {most} trainers, but they do not survive each other's loss."
        hint = "Set `fault_tolerant: true`, or give both the same number."
        yield finding("SP470", path, message, hint)
    elif platform.engines.gang != "kueue":
        message = f"Nothing on this platform changes the size of a job, so it has {least} trainers."
        hint = "Set `engines.gang: kueue` in the platform file for jobs that take what is free."
        yield finding("SP471", path, message, hint)


def _ports(model: TrainingJob, platform: Platform) -> Iterator[Finding]:
    spec = model.spec
    layout = shape(model, platform)
    first = "port" if spec.port is not None else "ports_num"
    for name, ports, key in (
        ("pserver", layout.server_ports, first),
        ("trainer", layout.trainer_ports, "trainer_port" if spec.frame_work else first),
    ):
        if ports and not (ports.start >= 1 and ports.stop - 1 <= _LARGEST_PORT):
            message = f"The {name} would listen on {ports.start} to {ports.stop - 1}; allowed are 1 to {_LARGEST_PORT}."
            yield finding("SP439", ("spec", key), message, "Give another first port, or fewer ports.")
    if topology(spec) == "ps" and not layout.server_ports:
        message = "The parameter servers have no port to listen on."
        yield finding("SP439", ("spec", "ports_num"), message, "Give 1 or more.")
    needs_own = spec.frame_work is not None and "trainer" in _listening(model)
    if needs_own and not layout.trainer_ports:
        message = "The trainers listen on ports of their own, but none are given."
        hint = "Give `trainer_port` and `trainer_ports_num`, unless the program finds its own."
        yield finding("SP472", ("spec", "frame_work", "type"), message, hint)
    if spec.host_network:
        yield from _overlaps(layout)


def _listening(model: TrainingJob) -> tuple[str, ...]:
    """Roles that open ports in this topology."""
    work = model.spec.frame_work
    kind = topology(model.spec)
    own = kind == "collective" or (kind == "ps" and work is not None and work.name == "tensorflow")
    return ("trainer",) if own else ()


def _overlaps(layout: Shape) -> Iterator[Finding]:
    """On the network of one node, the ports of different roles must differ."""
    master = range(MASTER_PORT, MASTER_PORT + 1) if layout.master else range(0)
    etcd = range(ETCD_PORT, ETCD_PORT + 1) if layout.master and layout.own_etcd else range(0)
    taken = {
        "the master": master,
        "etcd": etcd,
        "the pserver": layout.server_ports,
        "the trainer": layout.trainer_ports,
    }
    for (one, first), (other, second) in combinations(taken.items(), 2):
        if first and second and first.start < second.stop and second.start < first.stop:
            message = f"On a shared node, {one} and {other} would both use port {max(first.start, second.start)}."
            yield finding("SP439", ("spec", "host_network"), message, "Choose other ports.", anchor=Anchor.KEY)


def _dead(model: TrainingJob) -> Iterator[Finding]:
    spec = model.spec
    never = {
        ("mountpath",): spec.mountpath,
        ("nfsmount",): spec.nfsmount,
        ("matrix",): spec.matrix,
        ("annotations", "userid"): spec.annotations and spec.annotations.userid,
        ("annotations", "usergroupid"): spec.annotations and spec.annotations.usergroupid,
    }
    for keys, value in never.items():
        if value is not None:
            message = f"`{keys[-1]}` has no effect."
            hint = "Remove it." if keys[-1] != "nfsmount" else "Remove it; give the volume in `volumes`."
            yield finding("SP406", ("spec", *keys), message, hint, anchor=Anchor.KEY)


def _left_out(model: TrainingJob) -> Iterator[Finding]:
    """Roles that the topology does not have."""
    spec = model.spec
    if spec.pserver is not None and topology(spec) != "ps":
        message = "This kind of job has no parameter servers, so these are left out."
        yield finding("SP406", ("spec", "pserver"), message, "Remove them.", anchor=Anchor.KEY)
    if spec.master is not None and not spec.fault_tolerant:
        message = "Only fault-tolerant jobs have a master, so it is left out."
        hint = "Remove it, or set `fault_tolerant: true`."
        yield finding("SP406", ("spec", "master"), message, hint, anchor=Anchor.KEY)


def _wishes(model: TrainingJob, platform: Platform) -> Iterator[Finding]:
    wishes = model.spec.annotations
    path: FieldPath = ("spec", "annotations")
    if wishes and wishes.walltime is not None and wishes.walltime < 0:
        message = f"Found {wishes.walltime}; a time is not negative."
        yield finding("SP205", (*path, "walltime"), message, "Give seconds, or 0 for no limit.")
    if wishes and wishes.priority and not _is_label_value(wishes.priority):
        message = f'"{wishes.priority}" cannot be the value of a label.'
        hint = "Use at most 63 letters, digits, `-`, `_` and `.`, with a letter or digit at both ends."
        yield finding("SP210", (*path, "priority"), message, hint)
    if model.spec.pod_group_name and platform.engines.gang in ("volcano", "coscheduling"):
        message = "The pods belong to the PodGroup that is compiled for the job, so this one is not used."
        yield finding("SP406", ("spec", "podGroupName"), message, "Remove it.", anchor=Anchor.KEY)


def _is_label_value(text: str) -> bool:
    plain = text.replace("-", "").replace("_", "").replace(".", "")
    return len(text) <= LABEL_LIMIT and text.isascii() and plain.isalnum() and text[0].isalnum() and text[-1].isalnum()


def _volumes(model: TrainingJob) -> Iterator[Finding]:
    known = sorted(str(volume.get("name")) for volume in model.spec.volumes or ())
    for index, mount in enumerate(model.spec.volume_mounts or ()):
        if mount.get("name") not in known:
            message = f'The job has no volume "{mount.get("name")}".'
            hint = f"Add it to `volumes`, or mount one of: {', '.join(known) or 'none yet'}."
            yield finding("SP442", ("spec", "VolumeMounts", index, "name"), message, hint)


def _role(name: str, role: MasterRole) -> Iterator[Finding]:
    path: FieldPath = ("spec", name)
    yield from _entrypoint(role, (*path, "entrypoint"))
    if role.grace_period_seconds is not None and role.grace_period_seconds < 0:
        message = f"Found {role.grace_period_seconds}; a time is not negative."
        yield finding("SP205", (*path, "grace_period_seconds"), message, "Give seconds.")
    if name != "master" and role.etcd_endpoint is not None:
        message = "Only the master's `etcd-endpoint` is read."
        yield finding("SP406", (*path, "etcd-endpoint"), message, "Move it there.", anchor=Anchor.KEY)
    for variable in role.envs or {}:
        if not variable or "=" in variable:
            message = f'"{variable}" cannot name an environment variable.'
            yield finding("SP206", (*path, "envs", variable), message, "Use letters, digits and `_`.")
    resources = role.resources or {}
    limits = resources.get("limits") or {}
    for device, wanted in (resources.get("requests") or {}).items():
        if "/" in device and not quantities.equal(wanted, limits.get(device)):
            limit = limits.get(device, "nothing")
            message = f"Found a request of {wanted} {device} and a limit of {limit}; Kubernetes wants both alike."
            at = (*path, "resources", "requests", device)
            yield finding("SP440", at, message, "Give the limit alone.")


def _entrypoint(role: MasterRole, path: FieldPath) -> Iterator[Finding]:
    try:
        words = command(role) or []
    except ValueError as error:
        message = f"The command line cannot be split: {str(error).lower()}."
        yield finding("SP473", path, message, "Close every quote, and write `\\\\` for a backslash.")
        return
    operators = sorted(_SHELL.intersection(words))
    if operators:
        message = f"No shell runs the command, so {', '.join(operators)} would be handed to the program as it is."
        yield finding("SP474", path, message, "Write `sh -c '…'` if a shell is meant, or put it into a script.")
