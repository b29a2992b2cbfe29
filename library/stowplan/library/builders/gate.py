"""Runs that are compiled closed, and the gate: the agent that opens one when all that it waits for is ready."""

from collections.abc import Iterable, Sequence

from stowplan.library.builders import network_policy
from stowplan.library.builders.config_map import named_config_map
from stowplan.library.builders.metadata import Head, manifest
from stowplan.library.builders.pods import agent_pod
from stowplan.library.builders.rbac import COMPONENT as ACCESS
from stowplan.library.builders.rbac import custom_resources, role_binding, service_account
from stowplan.library.ir.data import Site
from stowplan.library.ir.gate import Gate
from stowplan.library.ir.training import TrainingGroup
from stowplan.library.manifest import Json, Manifest, Part
from stowplan.library.values import labels, names
from stowplan.schema.agents.gate_config import (
    ADMISSION_GATE,
    ADMISSION_GATE_NAME,
    GATE_ANNOTATION,
    GateConfig,
    GateObject,
    GateOwner,
    GateWait,
)
from stowplan.schema.meta import LARGEST_INT32
from stowplan.schema.platform.settings import Amounts, Resources

COMPONENT = "gate"
MODULE = "stowplan.agents.gate"
_PLURALS = {"Job": "jobs", "JobSet": "jobsets"}
_REQUESTS = Amounts(cpu="10m", memory="32Mi")


def closed(group: TrainingGroup) -> Json:
    """Return the annotations that a Job or JobSet of the group needs to wait for its gate; empty if it waits for none.

    One that its user holds back has none: Argo CD must not ignore `suspend` then.
    """
    gate = group.gate
    if gate is None or group.suspend:
        return {}
    names_ = ", ".join(f"{wait.spec.kind} {wait.spec.name}" for wait in gate.waits)
    return {GATE_ANNOTATION: names_, **({ADMISSION_GATE: ADMISSION_GATE_NAME} if gate.admission else {})}


def held(group: TrainingGroup) -> Json:
    """Return the field `suspend` of a Job or JobSet that its user or a gate holds back, else an empty mapping.

    The user's `suspend` is no part of the run's hash: the same run goes on when the user lets it.
    """
    by_gate = group.gate is not None and not group.gate.admission
    return {"suspend": True} if group.suspend or by_gate else {}


def mark(group: TrainingGroup) -> list[str]:
    """Return what a run that waits for a gate adds to the content of its hash; an empty list for other runs.

    So it has another name than the same run without a gate: a run that is open is never closed.
    """
    return [COMPONENT] if group.gate else []


def is_gate(body: Json) -> bool:
    """Return whether this is the Job of a gate, which trains nothing."""
    return body["kind"] == "Job" and (body["metadata"].get("labels") or {}).get(labels.COMPONENT) == COMPONENT


def waits(body: Json) -> str:
    """Return what an object that is compiled closed waits for, such as `Dataset a, Training b`; empty for others."""
    return str((body["metadata"].get("annotations") or {}).get(GATE_ANNOTATION) or "")


def parts(group: TrainingGroup, made: Iterable[Manifest], site: Site) -> tuple[Part, ...]:
    """Return the part `gate` of a run; no part if the run waits for none, or its user holds it back.

    `made` are the objects of the run. All objects of the gate belong to the run too, except the ServiceAccount.
    """
    if group.gate is None or group.suspend:
        return ()
    helpers = {role.name for role in group.helpers}
    workloads = [each for each in made if each.kind in _PLURALS]
    workloads.sort(key=lambda each: each.body["metadata"]["labels"][labels.COMPONENT] not in helpers | {"group"})
    config = _config(group, group.gate, workloads)
    origin, home = group.origin, group.origin.spec.namespace
    stem = f"{group.names.base}-{COMPONENT}"
    account = group.names.gate
    # The hash covers the template with a blank name, since the name of the ConfigMap has the hash too.
    run = workloads[0].name[-names.HASH_LENGTH :]
    blank = _job_spec(group, group.gate, site, config_map="", account=account)
    name = group.names.part(
        COMPONENT, names.content_hash(run, blank, config.model_dump(mode="json", exclude_none=True))
    )
    own = Head(origin, COMPONENT)
    job = _job_spec(group, group.gate, site, config_map=name, account=account)
    policy = network_policy.closed(labels.component_selector(origin.spec, COMPONENT), site.platform.network.egress)
    binding = role_binding(name, Head(origin, ACCESS), [(home, account)])
    rights = (
        service_account(account, origin, namespace=home),
        manifest("NetworkPolicy", name, own, stem=stem, run=True, spec=policy),
        manifest("Role", name, own, stem=stem, run=True, rules=_rules(config, workloads)),
        Manifest(binding.body, stem=stem, run=True),
    )
    opener = (
        named_config_map(name, own, config, stem=stem),
        manifest("Job", name, own._replace(labels={labels.RUN_HASH: run}), stem=stem, run=True, spec=job),
    )
    return (Part(COMPONENT, opener, (Part(ACCESS, rights),)),)


def _config(group: TrainingGroup, gate: Gate, workloads: Sequence[Manifest]) -> GateConfig:
    spec = group.origin.spec
    return GateConfig(
        namespace=spec.namespace,
        owner=GateOwner(kind=spec.kind, name=spec.name),
        waits=[
            GateWait(
                kind=each.spec.kind,
                name=each.spec.name,
                condition=each.condition,
                run=each.run,
                spec=each.digest,
                revision=each.revision,
            )
            for each in gate.waits
        ],
        objects=[GateObject.model_validate({"kind": each.kind, "name": each.name}) for each in workloads],
        admission=gate.admission,
    )


def _rules(config: GateConfig, workloads: Sequence[Manifest]) -> list[Json]:
    """Return the rules of the Role: to read the custom resources of the run and of its waits, and to patch the run."""
    wanted = [(config.owner.kind, config.owner.name), *((each.kind, each.name) for each in config.waits)]
    rules = [
        custom_resources(kind, {own for other, own in wanted if other == kind}, ["get", "watch"])
        for kind in dict(wanted)
    ]
    for kind in dict.fromkeys(each.kind for each in workloads):
        same = [each for each in workloads if each.kind == kind]
        rules.append(
            {
                "apiGroups": [same[0].group],
                "resources": [_PLURALS[kind]],
                "resourceNames": sorted(each.name for each in same),
                "verbs": ["get", "patch", "watch"],
            }
        )
    return rules


def _job_spec(group: TrainingGroup, gate: Gate, site: Site, *, config_map: str, account: str) -> Json:
    """Return the spec of the gate's Job: it is tried again without end, since a run that it leaves closed never starts.

    The Job has no time to live: Argo CD would see a removed Job as missing and start it again.
    """
    pod = agent_pod.AgentPod(
        component=COMPONENT,
        agent="control",
        module=MODULE,
        args=(),
        config_map=config_map,
        service_account=account,
        resources=Resources(requests=_REQUESTS, limits=site.platform.resources.control.limits),
        restart_policy="OnFailure",
        scratch_size="16Mi",
    )
    spec: Json = {
        "backoffLimit": LARGEST_INT32,
        "completions": 1,
        "parallelism": 1,
        "template": agent_pod.template(pod, group.origin, site),
    }
    return {**spec, "activeDeadlineSeconds": gate.timeout} if gate.timeout else spec
