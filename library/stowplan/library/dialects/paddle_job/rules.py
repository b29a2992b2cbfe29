"""Rules for a PaddleJob."""

import re
from collections.abc import Iterator
from typing import Literal

from stowplan.library.builders.pods import await_pod
from stowplan.library.dialects.training_group import image_rules, pod_template, restarts, waiting
from stowplan.library.manifest import Json
from stowplan.library.values import quantities
from stowplan.library.values.names import MOST_PODS, is_dns_label, is_dns_subdomain
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, did_you_mean, finding, without_effect
from stowplan.schema.kinds.paddle_job import HOST_PORT_ANNOTATION, ROLES, PaddleJob, PaddleRole, decider
from stowplan.schema.platform.platform import Platform

_KEEPS = ("", "Never")
_CLEANS = ("Always", "OnCompletion", "OnFailure")
_INTRANETS = ("PodIP", "Service", "Host")
_OLD_PORT = 2379
_OLD_PORT_IN_TEXT = re.compile(rf"(?<![0-9A-Za-z]){_OLD_PORT}(?![0-9A-Za-z])")
_LAUNCHER = re.compile(r"paddle\.distributed\.launch|(?:.*/)?fleetrun")
_NAMED = tuple(re.compile(rf"(?:^|\s)--{name}(?=[\s=]|$)") for name in ("servers", "(?:trainers|workers)"))
"""Arguments that tell the launcher the job's servers and workers; it needs both."""

_ARGUMENTS = "--servers=$(PADDLE_PSERVERS_IP_PORT_LIST) --trainers=$(PADDLE_TRAINER_ENDPOINTS)"

_ELASTIC_SERVERS = {"legacy": "PADDLE_ELASTIC_SERVER", "modern": "PADDLE_MASTER"}
"""The variable that holds the address of the etcd, by `paddle.elasticLauncher` of the platform file."""


def findings(model: PaddleJob, platform: Platform) -> list[Finding]:
    """Return all findings that depend only on the spec and the platform."""
    found = [*_sizes(model), *_words(model), *_gloo(model), *_elasticity(model, platform)]
    found += [*_minimum(model), *_names(model), *restarts.form(model.metadata)]
    found += waiting.order_findings(model, platform)
    for name, role in roles(model):
        found += _role(model, name, role, platform)
    return found


def is_elastic(model: PaddleJob) -> bool:
    """Return whether the job is elastic: `spec.elastic` has any value, and all pods are workers.

    The old operator had the same rule.
    """
    others = (model.spec.ps, model.spec.heter)
    return model.spec.elastic is not None and not any(role and role.replicas > 0 for role in others)


def deciding_role(model: PaddleJob) -> str | None:
    """Return the role whose success is the success of the job; None if no role has pods."""
    return decider({name: role.replicas for name, role in roles(model)})


def restart(model: PaddleJob, name: str) -> Literal["Never", "OnFailure"]:
    """Return the restart policy for the pods of a role, as in the old operator.

    The pods of an elastic job restart on failure. Otherwise the template decides. Without a policy in the template,
    only workers with `intranet: Service` restart on failure.
    """
    role: PaddleRole = getattr(model.spec, name)
    given = ((role.template or {}).get("spec") or {}).get("restartPolicy")
    if is_elastic(model) or given in ("OnFailure", "Always"):
        return "OnFailure"
    return "OnFailure" if not given and name == "worker" and model.spec.intranet == "Service" else "Never"


def roles(model: PaddleJob) -> Iterator[tuple[str, PaddleRole]]:
    """Yield (name, role) pairs of the roles in the document."""
    for name in ROLES:
        role: PaddleRole | None = getattr(model.spec, name)
        if role is not None:
            yield name, role


def _sizes(model: PaddleJob) -> Iterator[Finding]:
    for name, role in roles(model):
        path: FieldPath = ("spec", name, "replicas")
        if not 0 <= role.replicas <= MOST_PODS:
            message = f"Found {role.replicas} pods; allowed are 0 to {MOST_PODS}."
            yield finding("SP205", path, message, "Give the number of pods.")
        elif role.replicas == 0:
            yield finding("SP406", path, f"The role {name} has no pods, so it is left out.", "Remove it.")
    if not any(role.replicas for _, role in roles(model)):
        message = "The job has no pods: none of ps, worker and heter has replicas."
        yield finding("SP449", ("spec",), message, "Give `worker` with `replicas` and `template`.", anchor=Anchor.KEY)


def _words(model: PaddleJob) -> Iterator[Finding]:
    policy = model.spec.clean_pod_policy
    path: FieldPath = ("spec", "cleanPodPolicy")
    if policy in _CLEANS:
        message = f"Pods are kept, also with {policy}: if Argo CD found the Job missing, it would train again."
        yield finding("SP431", path, message, "Nothing to do: remove the spec when the run is no longer of use.")
    elif policy is not None and policy not in _KEEPS:
        message = f'"{policy}" is no policy, so it counts as not given; pods are kept.'
        yield finding("SP430", path, message, did_you_mean(policy, [*_KEEPS[1:], *_CLEANS]))
    intranet = model.spec.intranet
    if intranet == "PodIP":
        message = "Addresses are DNS names, not addresses of pods, which are unknown before the pods run."
        yield finding("SP432", ("spec", "intranet"), message, "Nothing to do: names are resolved to the same pods.")
    elif intranet and intranet not in _INTRANETS:
        message = f'"{intranet}" is no network; the job is compiled as with PodIP.'
        yield finding("SP430", ("spec", "intranet"), message, did_you_mean(intranet, _INTRANETS))
    if HOST_PORT_ANNOTATION in model.metadata.annotations and intranet != "Host":
        message = "The annotation has no effect without `intranet: Host`."
        at = ("metadata", "annotations", HOST_PORT_ANNOTATION)
        yield without_effect(at, message)


def _gloo(model: PaddleJob) -> Iterator[Finding]:
    gloo = model.spec.with_gloo
    path: FieldPath = ("spec", "withGloo")
    if gloo is None:
        return
    if gloo not in (0, 1, 2):
        message = f"Found {gloo}; Paddle knows 0 (off), 1 (workers) and 2 (workers and servers)."
        yield finding("SP204", path, message, "Choose one of them; 1 is what Paddle's documentation recommends.")
    elif gloo and not (model.spec.ps and model.spec.ps.replicas):
        yield without_effect(path, "Gloo has no effect without parameter servers.")


def _elasticity(model: PaddleJob, platform: Platform) -> Iterator[Finding]:
    path: FieldPath = ("spec", "elastic")
    if model.spec.elastic is None:
        return
    if not is_elastic(model):
        message = "Only jobs of workers alone can be elastic; this one is not."
        yield without_effect(path, message, "Remove it, or the other roles.")
        return
    if platform.paddle.elastic_launcher == "legacy":
        message = "With `paddle.elasticLauncher: legacy`, each pod trains alone, unless it has Paddle 2.1 or 2.2."
        hint = "Remove it from the platform file, unless the image has one of these two releases."
        yield finding("SP460", path, message, hint, anchor=Anchor.KEY)
    variable = _ELASTIC_SERVERS[platform.paddle.elastic_launcher]
    if not platform.paddle.elastic_servers and not _has(model, variable):
        message = "Elastic workers meet at an etcd, and there is none."
        hint = f"Give `paddle.elasticServers` in the platform file, or {variable} in the template's `env`."
        if _has(model, old := _ELASTIC_SERVERS["legacy"]):
            hint += f" For Paddle 2.1 or 2.2, which alone read {old}, set `paddle.elasticLauncher: legacy` there."
        yield finding("SP434", path, message, hint, anchor=Anchor.KEY)


def _has(model: PaddleJob, variable: str) -> bool:
    worker = model.spec.worker
    template = worker.template if worker else None
    if not pod_template.is_usable(template) or template is None:
        return False
    return any(each.get("name") == variable for each in template["spec"]["containers"][0].get("env") or ())


def _minimum(model: PaddleJob) -> Iterator[Finding]:
    policy = model.spec.scheduling_policy
    for name, quantity in ((policy and policy.min_resources) or {}).items():
        if quantities.amount(quantity) is None:
            at: FieldPath = ("spec", "schedulingPolicy", "minResources", name)
            yield finding("SP206", at, f'"{quantity}" is no quantity.', "Give one such as `500m`, `4` or `16Gi`.")
    if policy is None or policy.min_available is None:
        return
    most = sum(max(role.replicas, 0) for _, role in roles(model))
    if not 1 <= policy.min_available <= most:
        message = f"Found {policy.min_available}; the job has {most} pods, so 1 to {most} are allowed."
        hint = "Give a number among these, or remove it for all pods."
        yield finding("SP433", ("spec", "schedulingPolicy", "minAvailable"), message, hint)


def _names(model: PaddleJob) -> Iterator[Finding]:
    """Yield findings about invalid names of the queue and the PriorityClass.

    They become parts of manifests. Checks of manifests report them without the field of the document.
    """
    policy = model.spec.scheduling_policy
    if policy and policy.queue and not is_dns_label(policy.queue):
        yield _misnamed(("spec", "schedulingPolicy", "queue"), policy.queue, " and `-`, at most 63")
    if policy and policy.priority_class and not is_dns_subdomain(policy.priority_class):
        yield _misnamed(("spec", "schedulingPolicy", "priorityClass"), policy.priority_class, ", `-` and `.`")


def _misnamed(path: FieldPath, name: str, others: str) -> Finding:
    message = f'"{name}" is not a name that Kubernetes allows here.'
    hint = f"Use lower-case letters, digits{others}, beginning and ending with a letter or digit."
    return finding("SP210", path, message, hint)


def _role(model: PaddleJob, name: str, role: PaddleRole, platform: Platform) -> Iterator[Finding]:
    path: FieldPath = ("spec", name)
    for key in ("limits", "requests"):
        if getattr(role, key) is not None:
            hint = "Remove it; resources belong to the containers of the template."
            yield without_effect((*path, key), f"`{key}` never had an effect.", hint)
    template = role.template
    if template is None or not pod_template.is_usable(template):
        if role.replicas:
            yield pod_template.missing(name, (*path, "template") if template is not None else path)
        return
    yield from pod_template.findings(template, (*path, "template"), host_network=model.spec.intranet == "Host")
    yield from image_rules.of_pod(template["spec"], (*path, "template", "spec"))
    yield from _restart(model, name, template["spec"].get("restartPolicy"))
    if name != deciding_role(model):
        yield from pod_template.taken(template, await_pod.CONTAINER, await_pod.VOLUMES, (*path, "template"))
    yield from _old_port(model, name, template, platform.paddle.base_port)
    if model.spec.ps and model.spec.ps.replicas:
        yield from _launcher(template["spec"]["containers"][0], (*path, "template", "spec", "containers", 0))


def _launcher(container: Json, path: FieldPath) -> Iterator[Finding]:
    """Yield a finding if a container of a job with parameter servers starts Paddle's launcher without naming all pods.

    The launcher of 2.6.2 then waits for ever: plainly called, with `--run_mode=ps` and with `--legacy`. With
    `--server_num` it starts servers of its own in each pod.
    """
    words = [(key, i, str(word)) for key in ("command", "args") for i, word in enumerate(container.get(key) or ())]
    line = " ".join(word for *_, word in words)
    if all(name.search(line) for name in _NAMED):
        return
    for key, index, word in words:
        if any(_LAUNCHER.fullmatch(part) for part in word.split()):
            message = "This launcher does not find the parameter servers of the job: it would wait for ever."
            hint = f"Run the script itself, as `python train.py`, or add the arguments `{_ARGUMENTS}`."
            yield finding("SP453", (*path, key, index), message, hint)
            return


def _old_port(model: PaddleJob, name: str, template: Json, port: int) -> Iterator[Finding]:
    """Yield findings about `_OLD_PORT` in a template; none for elastic jobs, since an etcd listens on this port."""
    if is_elastic(model) or port == _OLD_PORT or str(_OLD_PORT) not in str(template):
        return
    for path in _mentions(template, ("spec", name, "template")):
        message = f"This is {_OLD_PORT}, the port of old releases; the job uses {port}."
        hint = f"Use the variable PADDLE_PORT, or set `paddle.basePort: {_OLD_PORT}` in the platform file."
        yield finding("SP446", path, message, hint)


def _mentions(value: object, path: FieldPath) -> Iterator[FieldPath]:
    """Yield the paths of the values below `path` that hold `_OLD_PORT`, as a number or in a string."""
    if isinstance(value, dict | list):
        for key, below in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _mentions(below, (*path, key))
    elif _OLD_PORT_IN_TEXT.search(str(value)):
        yield path


def _restart(model: PaddleJob, name: str, given: str | None) -> Iterator[Finding]:
    path: FieldPath = ("spec", name, "template", "spec", "restartPolicy")
    whole = restarts.annotated(model.metadata) is not None
    if given == "Always" and name == deciding_role(model) and not whole:
        message = "A pod that is always started again never completes; it is compiled with OnFailure."
        yield finding("SP438", path, message, "Write OnFailure or Never.")
    elif given and given != "OnFailure" and is_elastic(model):
        message = f"Elastic workers are started again when they fail, so {given} is not used."
        yield finding("SP406", path, message, "Write OnFailure, or remove it.")
