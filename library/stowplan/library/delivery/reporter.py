"""Objects of the reporter of one namespace: a Deployment of one small pod, and its RBAC rights.

The reporter is an agent that writes the status of all specs in its namespace.
"""

from stowplan.library.builders import network_policy
from stowplan.library.builders.config_map import content
from stowplan.library.builders.metadata import EARLY_KINDS, EARLY_WAVE
from stowplan.library.builders.pods import agent_pod
from stowplan.library.composition.tree import ChartSource
from stowplan.library.engines.api import JobEngine
from stowplan.library.engines.jobset import JOB_SET
from stowplan.library.engines.registry import JOB_ENGINES
from stowplan.library.ir.data import Placement, Site
from stowplan.library.manifest import Json, Manifest, Part
from stowplan.library.values import labels, names
from stowplan.schema.agents.reporter_config import ReporterConfig
from stowplan.schema.kinds.table import KINDS

NAME = "stowplan-reporter"
COMPONENT = "reporter"
MODULE = "stowplan.agents.reporter"
FOLDER = "reporter"
"""Folder of the reporter's objects, in the folder of the namespace."""

LOST_SECONDS = 20
"""Seconds after which the pod is replaced whose cluster node is lost.

By default it is 300, and all that is told in the namespace would be out of date meanwhile, above all of the lost node.
"""

_RBAC = "rbac.authorization.k8s.io"
_READ = ("get", "list", "watch")
_SELECTOR = {labels.NAME: COMPONENT, labels.PART_OF: "stowplan"}


def chart(namespace: str, site: Site) -> ChartSource:
    """Return the chart of the reporter of `namespace`. Each namespace of specs has one. It belongs to no spec."""
    configuration = _configuration(namespace, site)
    policy = network_policy.closed(_SELECTOR, site.platform.network.egress)
    subject = {"kind": "ServiceAccount", "name": NAME, "namespace": namespace}
    role = {"apiGroup": _RBAC, "kind": "Role", "name": NAME}
    access = (
        _made("v1", "ServiceAccount", {"automountServiceAccountToken": False}),
        _made(f"{_RBAC}/v1", "Role", {"rules": _rules(site)}),
        _made(f"{_RBAC}/v1", "RoleBinding", {"roleRef": role, "subjects": [subject]}),
        _made("networking.k8s.io/v1", "NetworkPolicy", {"spec": policy}),
    )
    deployment = _made("apps/v1", "Deployment", {"spec": _deployment(configuration.name, site)})
    parts = (Part("access", access),)
    return ChartSource(f"{namespace}.{COMPONENT}", (configuration, deployment), parts, namespace, _labels())


def _configuration(namespace: str, site: Site) -> Manifest:
    """Return the reporter's ConfigMap. Its name ends in a hash, so a new configuration restarts the reporter."""
    has_job_sets = JOB_SET in _engine(site).kinds
    config = ReporterConfig(namespace=namespace, jobSets=has_job_sets, mxnetSuccess=site.platform.mxnet.success)
    data = content(config)
    name = names.with_hash(NAME, names.content_hash(data), names.SUBDOMAIN_LIMIT)
    return _made("v1", "ConfigMap", {"immutable": True, "data": data}, name)


def _engine(site: Site) -> JobEngine:
    return JOB_ENGINES[site.platform.engines.jobs]


def _rules(site: Site) -> list[Json]:
    """Return the rules of the reporter's Role.

    It may read the specs' custom resources, pods, events, StatefulSets, Jobs and the job engine's kinds. It may write
    only the status of custom resources.
    """
    read = {"": {"events", "pods"}, "apps": {"statefulsets"}, "batch": {"jobs"}}
    for made in _engine(site).kinds:
        read.setdefault(made.group, set()).add(made.plural)
    kinds: dict[str, set[str]] = {}
    for kind in KINDS.values():
        kinds.setdefault(kind.group, set()).add(kind.plural)
    rules = [_rule(group, resources, _READ) for group, resources in [*read.items(), *sorted(kinds.items())]]
    statuses = [(group, {f"{plural}/status" for plural in plurals}) for group, plurals in sorted(kinds.items())]
    return [*rules, *(_rule(group, resources, ("patch",)) for group, resources in statuses)]


def _rule(group: str, resources: set[str], verbs: tuple[str, ...]) -> Json:
    return {"apiGroups": [group], "resources": sorted(resources), "verbs": list(verbs)}


def _deployment(configuration: str, site: Site) -> Json:
    """Return the spec of a Deployment with never more than one pod: a second pod would write everything twice."""
    return {
        "replicas": 1,
        "revisionHistoryLimit": 2,
        "selector": {"matchLabels": dict(_SELECTOR)},
        "strategy": {"type": "Recreate"},
        "template": agent_pod.with_labels(_pod(configuration, site), _labels(), site),
    }


def _pod(configuration: str, site: Site) -> agent_pod.AgentPod:
    return agent_pod.AgentPod(
        component=COMPONENT,
        agent="control",
        module=MODULE,
        args=(),
        config_map=configuration,
        service_account=NAME,
        resources=site.platform.resources.control,
        probes={"livenessProbe": ("python", "-m", MODULE, "probe")},
        restart_policy="Always",
        placement=Placement(tolerations=tuple(map(_lost, ("not-ready", "unreachable")))),
        scratch_size="16Mi",
    )


def _lost(why: str) -> Json:
    """Return the toleration of one taint of lost cluster nodes."""
    key = f"node.kubernetes.io/{why}"
    return {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": LOST_SECONDS}


def _labels() -> dict[str, str]:
    return {**_SELECTOR, labels.COMPONENT: COMPONENT, labels.MANAGED_BY: "stowplan"}


def _made(api_version: str, kind: str, fields: Json, name: str = NAME) -> Manifest:
    metadata: Json = {"name": name}
    if kind in EARLY_KINDS:
        metadata["annotations"] = {labels.SYNC_WAVE: EARLY_WAVE}
    return Manifest({"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}, stem=NAME)
