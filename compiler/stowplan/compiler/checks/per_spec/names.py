"""Will the API server of Kubernetes and the controllers accept each name?"""

import re
from dataclasses import dataclass
from functools import lru_cache

from stowplan.compiler.checks.objects.finding import ObjectFinding, about
from stowplan.compiler.checks.objects.object import Object, Objects
from stowplan.compiler.checks.objects.pods import Pod
from stowplan.compiler.kubernetes.fields import items, mapping
from stowplan.library.manifest import Json
from stowplan.library.values import names
from stowplan.schema.diagnostics import Anchor, FieldPath


@dataclass(frozen=True, slots=True, eq=False)
class NameRule:
    """The pattern that a name must match, its greatest length in characters, and the pattern in words for messages."""

    pattern: re.Pattern[str]
    limit: int
    words: str


_LABEL_PATTERN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_LABEL_WORDS = "lower-case letters, digits and -, with a letter or digit at both ends"
_SUBDOMAIN_PATTERN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_SUBDOMAIN_WORDS = "lower-case letters, digits, - and ., with a letter or digit at both ends of each part"

_LABEL = NameRule(_LABEL_PATTERN, names.LABEL_LIMIT, _LABEL_WORDS)
_SUBDOMAIN = NameRule(_SUBDOMAIN_PATTERN, names.SUBDOMAIN_LIMIT, _SUBDOMAIN_WORDS)
_PATH_SEGMENT = NameRule(re.compile(r"(?!\.\.?$)[^/%]+"), names.SUBDOMAIN_LIMIT, "any characters but / and %")
_SERVICE = NameRule(
    re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?"),
    names.LABEL_LIMIT,
    "lower-case letters, digits and -, with a letter at the start",
)
_PORT = NameRule(
    re.compile(r"(?=[^a-z]*[a-z])(?!.*--)[a-z0-9]([-a-z0-9]*[a-z0-9])?"),
    15,
    "lower-case letters, digits and single -, among them a letter",
)
_KEY = NameRule(re.compile(r"(?!\.$)(?!\.\.)[-._a-zA-Z0-9]+"), 253, "letters, digits, -, . and _")

_RULES: dict[tuple[str, str], NameRule] = {
    ("", "Namespace"): _LABEL,
    ("", "Service"): _SERVICE,
    # Pods carry `<name>-<ten characters>` as the value of the label controller-revision-hash.
    ("apps", "StatefulSet"): NameRule(_LABEL_PATTERN, names.STATEFUL_SET_LIMIT, _LABEL_WORDS),
    # Pods carry the name as the value of a label; their own names are cut by the controller.
    ("batch", "Job"): NameRule(_SUBDOMAIN_PATTERN, names.LABEL_LIMIT, _SUBDOMAIN_WORDS),
    # Jobs are named `<name>-<ten digits>`.
    ("batch", "CronJob"): NameRule(_SUBDOMAIN_PATTERN, names.CRON_JOB_LIMIT, _SUBDOMAIN_WORDS),
    ("rbac.authorization.k8s.io", "ClusterRole"): _PATH_SEGMENT,
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): _PATH_SEGMENT,
    ("rbac.authorization.k8s.io", "Role"): _PATH_SEGMENT,
    ("rbac.authorization.k8s.io", "RoleBinding"): _PATH_SEGMENT,
}
"""Rules of Kubernetes 1.34 by group and kind; any other name is a DNS subdomain."""
_METADATA: FieldPath = ("metadata",)
_KINDS_OF_DATA = (("", "ConfigMap"), ("", "Secret"))


def check(objects: Objects) -> list[ObjectFinding]:
    """Return findings for invalid names of objects, namespaces, containers, volumes, ports and keys of data.

    Names of objects must be short enough for the suffixes that controllers append.
    """
    found = []
    for obj in objects:
        for name, rule, home, place in _names(obj):
            if not _fits(name, rule):
                found.append(_broken(obj, (*home, *place), name, rule))
    return found


@lru_cache(maxsize=10_000)
def _fits(name: str, rule: NameRule) -> bool:
    return len(name) <= rule.limit and rule.pattern.fullmatch(name) is not None


def _broken(obj: Object, path: FieldPath, name: str, rule: NameRule) -> ObjectFinding:
    anchor = Anchor.KEY if path[-1] == name else Anchor.VALUE
    if len(name) > rule.limit:
        message = f'The name "{name}" has {len(name)} characters; at most {rule.limit} are allowed here.'
        return about(obj, "SP504", path, message, "Give it a shorter name.", anchor=anchor)
    message = f'The name "{name}" is not allowed here; allowed are {rule.words}.'
    return about(obj, "SP514", path, message, "Give it a name of that form.", anchor=anchor)


_Name = tuple[str, NameRule, FieldPath, FieldPath]
"""A name, its rule, and its path in two parts that are joined only for a finding."""


def _names(obj: Object) -> list[_Name]:
    _, kind, namespace, name = obj.id
    found: list[_Name] = []
    if name:
        found.append((name, _RULES.get(obj.kind, _SUBDOMAIN), _METADATA, ("name",)))
    if namespace:
        found.append((namespace, _LABEL, _METADATA, ("namespace",)))
    if obj.kind in _KINDS_OF_DATA:
        for field in ("data", "binaryData", "stringData"):
            if field in obj.body:
                found += [(key, _KEY, (field,), (key,)) for key in mapping(obj.body, field)]
    elif obj.kind == ("", "Service"):
        found += _listed(items(obj.body, "spec", "ports"), _LABEL, ("spec", "ports"))
    elif kind == "Job":
        found += _indexed_pods(obj)
    for pod in obj.pods:
        found += _pod_names(pod)
    return found


def _indexed_pods(obj: Object) -> list[_Name]:
    """Return the longest host name of an Indexed Job's pods; empty for other Jobs.

    Each pod of an Indexed Job has the host name `<name>-<index>`.
    """
    spec = mapping(obj.body, "spec")
    if obj.kind[0] != "batch" or spec.get("completionMode") != "Indexed":
        return []
    last = int(spec.get("completions") or 1) - 1
    return [(f"{obj.id.name}-{last}", _LABEL, _METADATA, ("name",))]


def _pod_names(pod: Pod) -> list[_Name]:
    found: list[_Name] = []
    for path, container in pod.containers:
        found.append((str(container.get("name")), _LABEL, path, ("name",)))
        if "ports" in container:
            found += _listed(items(container, "ports"), _PORT, (*path, "ports"))
    if pod.volumes:
        found += _listed(pod.volumes, _LABEL, (*pod.spec_path, "volumes"))
    for field in ("hostname", "subdomain"):
        if pod.spec.get(field):
            found.append((pod.spec[field], _LABEL, pod.spec_path, (field,)))
    return found


def _listed(found: list[Json], rule: NameRule, home: FieldPath) -> list[_Name]:
    return [(item["name"], rule, home, (index, "name")) for index, item in enumerate(found) if item.get("name")]
