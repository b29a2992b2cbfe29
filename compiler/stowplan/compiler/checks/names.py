"""Will the API server and the controllers take each name?"""

import re
from collections.abc import Iterator

from stowplan.compiler.checks.object_finding import ObjectFinding, about
from stowplan.compiler.checks.objects import Object, Objects
from stowplan.compiler.manifest_fields import items, mapping
from stowplan.library import names
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import Anchor, FieldPath

Rule = tuple[re.Pattern[str], int, str]
"""Pattern, longest length, and the two in words."""

_LABEL_PATTERN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_LABEL_WORDS = "lower-case letters, digits and -, with a letter or digit at both ends"
_SUBDOMAIN_PATTERN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_SUBDOMAIN_WORDS = "lower-case letters, digits, - and ., with a letter or digit at both ends of each part"

_LABEL: Rule = (_LABEL_PATTERN, names.LABEL_LIMIT, _LABEL_WORDS)
_SUBDOMAIN: Rule = (_SUBDOMAIN_PATTERN, names.SUBDOMAIN_LIMIT, _SUBDOMAIN_WORDS)
_PATH_SEGMENT: Rule = (re.compile(r"(?!\.\.?$)[^/%]+"), names.SUBDOMAIN_LIMIT, "any characters but / and %")
_SERVICE: Rule = (
    re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?"),
    names.LABEL_LIMIT,
    "lower-case letters, digits and -, with a letter at the start",
)
_PORT: Rule = (
    re.compile(r"(?=[^a-z]*[a-z])(?!.*--)[a-z0-9]([-a-z0-9]*[a-z0-9])?"),
    15,
    "lower-case letters, digits and single -, among them a letter",
)
_KEY: Rule = (re.compile(r"(?!\.$)(?!\.\.)[-._a-zA-Z0-9]+"), 253, "letters, digits, -, . and _")

_RULES: dict[tuple[str, str], Rule] = {
    ("", "Namespace"): _LABEL,
    ("", "Service"): _SERVICE,
    # Pods carry `<name>-<ten characters>` as the value of the label controller-revision-hash.
    ("apps", "StatefulSet"): (_LABEL_PATTERN, names.STATEFUL_SET_LIMIT, _LABEL_WORDS),
    # Pods carry the name as the value of a label; their own names are cut by the controller.
    ("batch", "Job"): (_SUBDOMAIN_PATTERN, names.LABEL_LIMIT, _SUBDOMAIN_WORDS),
    # Jobs are named `<name>-<ten digits>`.
    ("batch", "CronJob"): (_SUBDOMAIN_PATTERN, names.CRON_JOB_LIMIT, _SUBDOMAIN_WORDS),
    ("rbac.authorization.k8s.io", "ClusterRole"): _PATH_SEGMENT,
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): _PATH_SEGMENT,
    ("rbac.authorization.k8s.io", "Role"): _PATH_SEGMENT,
    ("rbac.authorization.k8s.io", "RoleBinding"): _PATH_SEGMENT,
}
"""Rules of Kubernetes 1.34 by group and kind; any other name is a DNS subdomain."""


def check(objects: Objects) -> list[ObjectFinding]:
    """Names of objects, containers, volumes, ports and keys; with the room that controllers need for their suffixes."""
    return [
        finding for obj in objects for path, text, rule in _names(obj) for finding in _broken(obj, path, text, rule)
    ]


def _broken(obj: Object, path: FieldPath, text: str, rule: Rule) -> list[ObjectFinding]:
    pattern, limit, words = rule
    anchor = Anchor.KEY if path[-1] == text else Anchor.VALUE
    if len(text) > limit:
        message = f'The name "{text}" has {len(text)} characters; at most {limit} are allowed here.'
        return [about(obj, "SP504", path, message, "Give it a shorter name.", anchor=anchor)]
    if not pattern.fullmatch(text):
        message = f'The name "{text}" is not allowed here; allowed are {words}.'
        return [about(obj, "SP514", path, message, "Give it a name of that form.", anchor=anchor)]
    return []


def _names(obj: Object) -> Iterator[tuple[FieldPath, str, Rule]]:
    body, own = obj.body, obj.id
    if own.name:
        yield ("metadata", "name"), own.name, _RULES.get(obj.kind, _SUBDOMAIN)
    if own.namespace:
        yield ("metadata", "namespace"), own.namespace, _LABEL
    if obj.kind in (("", "ConfigMap"), ("", "Secret")):
        for field in ("data", "binaryData", "stringData"):
            yield from (((field, key), key, _KEY) for key in mapping(body, field))
    if obj.kind == ("", "Service"):
        yield from _listed(body, ("spec", "ports"), "name", _LABEL)
    if obj.kind == ("batch", "Job"):
        yield from _indexed_pods(obj)
    yield from _pod_names(obj)


def _indexed_pods(obj: Object) -> Iterator[tuple[FieldPath, str, Rule]]:
    """Pods of an Indexed Job have `<name>-<index>` as host name."""
    spec = mapping(obj.body, "spec")
    if spec.get("completionMode") == "Indexed":
        last = int(spec.get("completions") or 1) - 1
        yield ("metadata", "name"), f"{obj.id.name}-{last}", _LABEL


def _pod_names(obj: Object) -> Iterator[tuple[FieldPath, str, Rule]]:
    for pod in obj.pods:
        for path, container in pod.containers:
            yield (*path, "name"), str(container.get("name")), _LABEL
            yield from _listed(container, ("ports",), "name", _PORT, path)
        yield from _listed(pod.spec, ("volumes",), "name", _LABEL, pod.spec_path)
        for field in ("hostname", "subdomain"):
            if pod.spec.get(field):
                yield (*pod.spec_path, field), pod.spec[field], _LABEL


def _listed(
    body: Json, keys: tuple[str, ...], field: str, rule: Rule, prefix: FieldPath = ()
) -> Iterator[tuple[FieldPath, str, Rule]]:
    for index, item in enumerate(items(body, *keys)):
        if item.get(field):
            yield (*prefix, *keys, index, field), item[field], rule
