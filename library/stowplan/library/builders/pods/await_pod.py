"""Pods of helpers: the user's containers run as sidecars, and the await agent is the pod's only main container.

await ends when the Jobs of the deciders have ended. Kubernetes (sidecars are stable since 1.33) then ends the sidecars.
"""

from collections.abc import Sequence
from functools import lru_cache

from stowplan.library.builders.config_map import named_config_map
from stowplan.library.builders.job import on_exit
from stowplan.library.builders.metadata import Head, manifest
from stowplan.library.builders.pods import agent_pod, token
from stowplan.library.builders.rbac import COMPONENT as ACCESS
from stowplan.library.builders.rbac import role_binding
from stowplan.library.ir.data import Site
from stowplan.library.ir.training import Role, TrainingGroup
from stowplan.library.manifest import Json, Manifest, Part
from stowplan.library.values import names
from stowplan.schema.agents.agent_config import CONFIG_DIRECTORY
from stowplan.schema.agents.await_config import GROUP_FAILED, POD_IP_ENV, AwaitConfig
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.platform.engines import Engines

CONTAINER = "await"
MODULE = "stowplan.agents.await_group"
_CONFIG, _SCRATCH, _TOKEN = VOLUMES = ("await-config", "await-scratch", "await-token")

DEFAULT_ACCOUNT = "default"

_POD, _RUN = agent_pod.OF_RUN
_ENV = [{"name": "HOME", "value": agent_pod.SCRATCH}, _POD, agent_pod.field_env(POD_IP_ENV, "status.podIP"), _RUN]
_MOUNTS = [
    {"mountPath": CONFIG_DIRECTORY, "name": _CONFIG, "readOnly": True},
    {"mountPath": agent_pod.SCRATCH, "name": _SCRATCH},
    token.mount(_TOKEN),
]
_OTHER_VOLUMES: list[Json] = [{"name": _SCRATCH, "emptyDir": {"sizeLimit": "64Mi"}}, token.volume(_TOKEN)]
"""All pods share these dictionaries, since the body of a manifest is never changed."""


def with_await(template: Json, group: TrainingGroup, role: Role, site: Site, run: str) -> Json:
    """Return a copy of a helper's pod template in which await is the main container and the others are its sidecars.

    `run` is the hash of the run.
    """
    spec = dict(template["spec"])
    helpers = [{**container, "restartPolicy": "Always"} for container in spec["containers"]]
    spec["initContainers"] = [*(spec.get("initContainers") or ()), *helpers]
    spec["containers"] = [_container(site)]
    spec["volumes"] = [*(spec.get("volumes") or ()), *_volumes(_config_name(group, role, run))]
    return {**template, "spec": spec}


FAILED = on_exit("FailJob", CONTAINER, (GROUP_FAILED, ExitCode.BAD_SPEC, ExitCode.AUTH))
"""Rule of a helper's Job: the Job fails at once, without retries, if the deciders failed or if await cannot work."""


def parts(group: TrainingGroup, site: Site, run: str) -> tuple[Part, ...]:
    """Return the part `await`: ConfigMaps, Role and RoleBinding of a job's await agents; no part without helpers.

    The Role allows to read and patch the Jobs of the deciders and, if pods are not replaced alone, to read a pod of a
    known name. `run` is the hash of the run.
    """
    if not group.helpers:
        return ()
    accounts = sorted({account(role.template) for role in group.helpers})
    origin, name = group.origin, group.names.part(CONTAINER, run)
    stem = f"{group.names.base}-{CONTAINER}"
    role = _role(group, name, stem, run)
    home = origin.spec.namespace
    binding = role_binding(name, Head(origin, ACCESS), [(home, each) for each in accounts])
    configurations = (_configuration(group, role, site, run) for role in group.helpers)
    return (Part(CONTAINER, (*configurations, role, Manifest(binding.body, stem=stem, run=True))),)


def account(template: Json) -> str:
    """Return the name of the ServiceAccount in a pod template; `default` if the template names none."""
    return template["spec"].get("serviceAccountName") or template["spec"].get("serviceAccount") or DEFAULT_ACCOUNT


def configurations(group: TrainingGroup, site: Site) -> list[Json]:
    """Return the configurations of a training job's await agents as plain data, one for each helper."""
    return [_config(group, role, site).model_dump(mode="json") for role in group.helpers]


def _config(group: TrainingGroup, role: Role, site: Site) -> AwaitConfig:
    jobs = tuple(group.names.stem(each.name) for each in group.deciders)
    ports = (role.port,) if role.watched else ()
    container = (
        None
        if group.replaceable
        else str(role.template["spec"]["containers"][role.container].get("name", ""))[: names.LABEL_LIMIT]
    )
    return _model(group.origin.spec.namespace, jobs, ports, container, site.platform.engines)


@lru_cache(maxsize=8)
def _model(
    namespace: str, jobs: tuple[str, ...], ports: tuple[int, ...], container: str | None, engines: Engines
) -> AwaitConfig:
    """Return await's configuration. It is cached, since both the hash of a run and the run's ConfigMap need it.

    The `container` is None if the group goes on with a helper that was started again.
    """
    return AwaitConfig(
        namespace=namespace,
        jobs=list(jobs),
        ports=list(ports),
        helperTimeoutSeconds=engines.helper_timeout_seconds,
        mustListen=engines.helpers_must_listen,
        container=container,
        replaceable=container is None,
    )


def _configuration(group: TrainingGroup, role: Role, site: Site, run: str) -> Manifest:
    config = _config(group, role, site)
    name = _config_name(group, role, run)
    stem = f"{group.names.base}-{CONTAINER}-{role.name}"
    return named_config_map(name, Head(group.origin, CONTAINER), config, stem=stem)


def _config_name(group: TrainingGroup, role: Role, run: str) -> str:
    """Return the ConfigMap's name, which ends in the run's hash `run`.

    It cannot end in a hash of its content: the pod template holds the name, and the run's hash is made of the template.
    """
    return names.with_hash(f"{group.names.base}-{CONTAINER}-{role.name}", run, names.SUBDOMAIN_LIMIT)


_OWN_POD: Json = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
"""Right of await to read the pod in which it runs. It names no pod, since the Job controller makes up the names; their
random ends cannot be learned with it, because it includes neither `list` nor `watch`."""


def _role(group: TrainingGroup, name: str, stem: str, run: str) -> Manifest:
    jobs = sorted(group.names.job(role.name, run) for role in group.deciders)
    rules: list[Json] = [
        {"apiGroups": ["batch"], "resources": ["jobs"], "resourceNames": jobs, "verbs": ["get", "patch", "watch"]}
    ]
    if not group.replaceable:
        rules.append(_OWN_POD)
    return manifest("Role", name, Head(group.origin, CONTAINER), stem=stem, run=True, rules=rules)


def _container(site: Site) -> Json:
    return agent_pod.control(CONTAINER, ("python", "-m", MODULE), site, env=_ENV, volumeMounts=_MOUNTS)


def _volumes(config_map: str) -> Sequence[Json]:
    """Return the volumes that await needs; `config_map` is the name of its ConfigMap.

    Only await mounts the token of the ServiceAccount, whether or not the user's template wants one in its containers.
    """
    return [{"name": _CONFIG, "configMap": {"name": config_map}}, *_OTHER_VOLUMES]
