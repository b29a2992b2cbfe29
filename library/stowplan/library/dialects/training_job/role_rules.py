"""Rules for the roles of a TrainingJob: their fields, their ports, and their pods."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from stowplan.library.builders.pods import await_pod
from stowplan.library.dialects.training_group import image_rules, pod_template
from stowplan.library.dialects.training_group.label_form import label_findings
from stowplan.library.dialects.training_job.commands import IMAGE, MASTER_PORT, entrypoint, is_old_image, server_command
from stowplan.library.dialects.training_job.etcd import ETCD, ETCD_PORT, endpoints
from stowplan.library.dialects.training_job.fields import written
from stowplan.library.dialects.training_job.pods import outline
from stowplan.library.dialects.training_job.topology import Shape, own_ports, shape
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, finding, without_effect
from stowplan.schema.kinds.training_job import JobRole, MasterRole, ServerRole, TrainerRole, TrainingJob
from stowplan.schema.platform.platform import Platform

_ROLES = ("master", "pserver", "trainer")
_LARGEST_PORT = 65535

_QUOTED = re.compile(r"""\\.|'[^']*'|"(?:\\.|[^"\\])*\"""", re.DOTALL)
_VERBATIM = re.compile(r"\\.|'[^']*'", re.DOTALL)
_OPERATOR = re.compile(r"[&|;<>]+|\n")
_EXPANSION = re.compile(r"\$[A-Za-z_{]\w*}?|\$\((?!\w+\))|`")
"""Expansions of a shell. `$(NAME)` is not among them: Kubernetes expands it with variables of the container."""
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
_BUILT_IN = frozenset({".", "cd", "exec", "export", "set", "source", "ulimit", "umask"})

_VARIABLE = re.compile(r"[ -<>-~]+")
"""Names of variables that Kubernetes accepts: printable ASCII without `=`."""


def findings(model: TrainingJob, platform: Platform) -> Iterator[Finding]:
    """Yield all findings about the roles in the document, their ports and pods, and the volumes that they share."""
    layout = shape(model, platform)
    yield from _ports(model, layout)
    for name in _ROLES:
        role: JobRole | None = getattr(model.spec, name)
        if role:
            yield from _role(role, ("spec", name))
    yield from _volumes(model)
    yield from image_rules.of_image(model.spec.image or IMAGE, ("spec", "image"))
    yield from image_rules.of_volumes(model.spec.volumes or (), ("spec", "volumes"))
    yield from _pods(model, layout, platform)


def _role(role: JobRole, path: FieldPath) -> Iterator[Finding]:
    if isinstance(role, ServerRole) and role.entrypoint:
        yield from _entrypoint(role, role.entrypoint, (*path, "entrypoint"))
    if isinstance(role, TrainerRole) and role.workspace and role.entrypoint and not role.workspace.startswith("/"):
        message = "The entrypoint is not run there: a container takes no directory but one from the root."
        hint = "Give a path that begins with `/`."
        yield finding("SP406", (*path, "workspace"), message, hint)
    if isinstance(role, MasterRole) and role.etcd_endpoint and not endpoints(role.etcd_endpoint):
        message = f'"{role.etcd_endpoint}" is no address of an etcd.'
        yield finding("SP206", (*path, "etcd-endpoint"), message, "Write it like `http://etcd.ml:2379`.")
    if role.grace_period_seconds is not None and role.grace_period_seconds < 0:
        message = f"Found {role.grace_period_seconds}; a time is not negative."
        yield finding("SP205", (*path, "grace_period_seconds"), message, "Give seconds.")
    yield from label_findings(role.node_selector or {}, (*path, "node_selector"))
    for variable in role.envs or {}:
        if not _VARIABLE.fullmatch(variable):
            message = f'"{variable}" cannot name an environment variable.'
            hint = "Use letters, digits and `_`."
            yield finding("SP206", (*path, "envs", variable), message, hint, anchor=Anchor.KEY)


def _volumes(model: TrainingJob) -> Iterator[Finding]:
    """Yield findings about volumes with equal names. The official schema checks each volume alone."""
    spec = model.spec
    seen = {ETCD} if spec.fault_tolerant and not (spec.master and spec.master.etcd_endpoint) else set()
    for index, volume in enumerate(spec.volumes or ()):
        name = volume.get("name")
        if name in seen:
            message = f'Another volume of these pods is called "{name}" too.'
            yield finding("SP450", ("spec", "volumes", index, "name"), message, "Choose another name.")
        seen.add(str(name))


def _entrypoint(role: ServerRole, text: str, path: FieldPath) -> Iterator[Finding]:
    try:
        words = entrypoint(role)
    except ValueError as error:
        message = f"The command line cannot be split: {str(error).lower()}."
        yield finding("SP473", path, message, "Close every quote, and write `\\\\` for a backslash.")
        return
    if meant := _for_a_shell(text, words):
        message = f"No shell runs the command, so {meant} would be taken as it is written."
        hint = "Write `sh -c '…'` if a shell is meant, or put it into a script."
        yield finding("SP474", path, message, hint)


def without_command(model: TrainingJob, role: str) -> Iterator[Finding]:
    """Yield a finding about a role with pods, `pserver` or `trainer`, that has no entrypoint, if it may run nothing."""
    given: ServerRole | None = getattr(model.spec, role)
    if given is None or (given.entrypoint or "").strip():
        return
    path: FieldPath = ("spec", role)
    if not is_old_image(model):
        message = (
            f"The {role} has no `entrypoint`, so the image's own command runs. An image made from {IMAGE} would print"
            " how it is used and end with 0, as if the work were done."
        )
        example = f", such as `{' '.join(server_command(model))}`" if role == "pserver" else ""
        yield finding("SP483", path, message, f"Give the command as `entrypoint`{example}.", anchor=Anchor.KEY)
    elif role == "trainer":
        message = f"The trainers have no `entrypoint`, and {IMAGE} does not train by itself: it prints how it is used."
        hint = "Give `entrypoint`, the command line that trains."
        yield finding("SP482", path, message, hint, anchor=Anchor.KEY)


def _for_a_shell(text: str, words: list[str]) -> str | None:
    """Return the first part of a command line that only a shell understands, as words for a message; None without one.

    `text` is the command line, `words` are its words.
    """
    joined = text.strip().replace("\\\n", " ")
    if found := _OPERATOR.search(_QUOTED.sub("_", joined)):
        return "the end of a line" if found[0] == "\n" else f"`{found[0]}`"
    if found := _EXPANSION.search(_VERBATIM.sub("_", joined)):
        return "a backtick" if found[0] == "`" else f"`{found[0]}`"
    if words and (_ASSIGNMENT.fullmatch(words[0]) or words[0] in _BUILT_IN):
        return f"`{words[0]}`"
    return None


def _ports(model: TrainingJob, layout: Shape) -> Iterator[Finding]:
    """Yield the findings about numbers of ports, ports outside of the range, and roles whose ports overlap."""
    spec = model.spec
    numbers = {
        "ports_num": spec.ports_num,
        "ports_num_for_sparse": spec.ports_num_for_sparse,
        "trainer_ports_num": spec.trainer_ports_num,
    }
    negative = {key: number for key, number in numbers.items() if number is not None and number < 0}
    for key, number in negative.items():
        message = f"Found {number}; a number of ports is not negative."
        yield finding("SP205", ("spec", key), message, "Give the number of ports.")
    if negative:
        return
    for name, ports in (("pserver", layout.server_ports), ("trainer", layout.trainer_ports)):
        if ports and not (ports.start >= 1 and ports.stop - 1 <= _LARGEST_PORT):
            key = "trainer_port" if name == "trainer" and own_ports(spec) else "port" if spec.port else "ports_num"
            message = f"The {name} would listen on {ports.start} to {ports.stop - 1}; allowed are 1 to {_LARGEST_PORT}."
            yield finding("SP439", ("spec", key), message, "Give another first port, or fewer ports.")
    yield from _trainer_ports(model, layout)
    if spec.host_network:
        yield from _overlaps(layout)


def _trainer_ports(model: TrainingJob, layout: Shape) -> Iterator[Finding]:
    spec = model.spec
    if not own_ports(spec):
        for key, number in (("trainer_port", spec.trainer_port), ("trainer_ports_num", spec.trainer_ports_num)):
            if number:
                message = f"`{key}` has no effect: trainers of this kind open no ports of their own."
                yield without_effect(("spec", key), message)
    elif not layout.trainer_ports:
        message = "The trainers listen on ports of their own, but none are given."
        hint = "Give `trainer_port` and `trainer_ports_num`, unless the program finds its own."
        yield finding("SP472", ("spec", "frame_work", "type"), message, hint)


def _overlaps(layout: Shape) -> Iterator[Finding]:
    """Yield findings about roles whose ports overlap. On the network of one cluster node, ports must differ."""
    taken = {
        "the master": range(MASTER_PORT, MASTER_PORT + 1) if layout.master else range(0),
        "etcd": range(ETCD_PORT, ETCD_PORT + 1) if layout.master and layout.own_etcd else range(0),
        "the pserver": layout.server_ports if layout.servers else range(0),
        "the trainer": layout.trainer_ports if "trainer" in layout.on_host else range(0),
    }
    for (one, first), (other, second) in combinations(taken.items(), 2):
        if first and second and first.start < second.stop and second.start < first.stop:
            message = f"On a shared node, {one} and {other} would both use port {max(first.start, second.start)}."
            yield finding("SP439", ("spec", "host_network"), message, "Choose other ports.", anchor=Anchor.KEY)


def _pods(model: TrainingJob, layout: Shape, platform: Platform) -> Iterator[Finding]:
    """Yield all findings about the pod templates of the roles with pods, without duplicates.

    Each is at the field of the document that gives the wrong value. Other fields may have errors.
    """
    present = {"master": layout.master, "pserver": layout.servers, "trainer": True}
    seen = set()
    for role in (role for role, pods in present.items() if pods):
        template = outline(model, role, layout, platform)
        found = pod_template.findings(template, ())
        if role != "trainer":
            found += pod_template.taken(template, await_pod.CONTAINER, await_pod.VOLUMES, ())
        for each in found:
            placed = replace(each, path=written(each.path, role))
            if placed not in seen:
                seen.add(placed)
                yield placed
