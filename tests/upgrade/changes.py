"""What the commit of an upgrade does to a cluster: two outputs of one repository, compared object by object.

Files are compared by their paths, which have no hashes: a run with another name is a change of its name.
"""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import product
from posixpath import relpath
from typing import Any, NamedTuple

from stowplan.compiler.checks.history.fixed_fields import fixed
from stowplan.library.manifest import Json, group_of
from stowplan.schema.agents.transfer_config import SECRETS_DIRECTORY
from stowplan.schema.diagnostics import dotted

NEW, GONE, EDITED = "new", "gone", "edited"
_LOST, _ANY = f"{GONE}|{EDITED}", ".*"
_NAME = "kind|apiVersion|metadata.name|metadata.namespace"
_PLACES = "source|sink|state|volume|dataset|destination|mountPath|mountOptions|paths|task|target|format"
_RULES = (
    ("starts", "Job|JobSet|CronJob", "", NEW),
    ("starts", "Job|JobSet", rf"{_NAME}|spec\..*", _ANY),
    ("starts", "CronJob", rf"{_NAME}|spec\.(schedule|timeZone|suspend)", _ANY),
    ("deletes", _ANY, "", GONE),
    ("deletes", "(?!ConfigMap$).*", _NAME, EDITED),  # that of a ConfigMap may change with its data
    (
        "deletes",
        "CustomResourceDefinition",
        r".*\.properties\..*(?<!\.description)",
        GONE,
    ),  # the server drops the value
    ("moves", "PersistentVolume|PersistentVolumeClaim", r"spec\..*", _ANY),
    ("moves", _ANY, r"spec\..*\.subPath(Expr)?", _ANY),
    ("moves", _ANY, r"spec\.(.*\.)?(volumes|volumeMounts|volumeClaimTemplates)\W.*(?<!\.configMap\.name)", _LOST),
    ("fetches", "CronJob", r".*\.(args|command)|.*\.env\[.*", _LOST),
    ("fetches", "ConfigMap", rf"data\.config\.json\.({_PLACES})(\..*)?", _LOST),  # an agent knows by it what it brought
    ("out of sync", "Application", r"spec\.(project|destination\..*|source\.(path|repoURL|targetRevision))", EDITED),
    ("out of sync", "AppProject", r"spec\..*", _LOST),
    ("loses a right", "Role|ClusterRole", r"rules\..*", GONE),
)
"""What is harmful: the harm, and patterns of kinds, fields (empty for the whole object) and ways."""


class Change(NamedTuple):
    """One field of an object, or the whole object, is new, gone or edited. `harm` is empty for what is harmless."""

    harm: str
    object: str
    field: str
    way: str
    before: Any = None
    after: Any = None

    def __str__(self) -> str:
        values = f", from {self.before!r} to {self.after!r}" if self.way == EDITED else ""
        return f"{self.harm}: {self.object}: {self.field or 'it'} is {self.way}{values}"


def changes(before: Mapping[str, Json], after: Mapping[str, Json]) -> Iterator[Change]:
    """Yield the changes between two outputs, which are bodies of objects by their paths below the output folder."""
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path, {}), after.get(path, {})
        if not (old and new):
            yield _change(old or new, "", NEW if new else GONE)
        elif old != new:
            yield from _edits(old, new)
    yield from _uncovered(after)


def _edits(old: Json, new: Json) -> Iterator[Change]:
    was, now = dict(_leaves(_with_variables(old))), dict(_leaves(_with_variables(new)))
    for field in sorted(was.keys() | now.keys()):
        if was.get(field) != now.get(field):
            way = NEW if field not in was else GONE if field not in now else EDITED
            yield _change(old, field, way, was.get(field), now.get(field))
    if old["metadata"]["name"] == new["metadata"]["name"]:  # else it is another object
        for path, *values in fixed((group_of(old["apiVersion"]), old["kind"]), old).changes(old, new):
            yield Change("out of sync", _name(old), dotted(path), EDITED, *values)


def _change(body: Json, field: str, way: str, *values: Any) -> Change:
    own = (body["kind"], field, way)
    harms = (harm for harm, *rule in _RULES if all(re.fullmatch(*each) for each in zip(rule, own, strict=True)))
    return Change(next(harms, ""), _name(body), field, way, *values)


def _name(body: Json) -> str:
    parts = (body["metadata"].get("namespace"), body["metadata"]["name"])
    return f"{body['kind']} {'/'.join(filter(None, parts))}"


def _with_variables(value: Any) -> Any:
    """Turn files with values of Secrets into the variables that they stand for: an agent reads both alike."""
    if isinstance(value, list):
        return [_with_variables(each) for each in value]
    if not isinstance(value, dict):
        return value
    value = {key: _with_variables(each) for key, each in value.items()}
    files = {
        volume["name"]: [each["secret"] for each in volume["projected"]["sources"]]
        for volume in value.get("volumes") or ()
        if isinstance(volume, dict)
        and all("secret" in each for each in volume.get("projected", {}).get("sources", [{}]))
    }
    if not files:
        return value
    for container in (*value.get("initContainers", ()), *value["containers"]):
        names = {each["name"] for each in container.get("volumeMounts", ()) if each["mountPath"] == SECRETS_DIRECTORY}
        container["volumeMounts"] = [each for each in container["volumeMounts"] if each["name"] not in names]
        container["env"] = container["env"] + [
            {"name": item["path"], "valueFrom": {"secretKeyRef": _key(secret, item)}}
            for name in sorted(names)
            for secret in files[name]
            for item in secret["items"]
        ]
    value["volumes"] = [each for each in value["volumes"] if each["name"] not in files]
    return value


def _key(secret: Json, item: Json) -> Json:
    optional = {"optional": True} if secret.get("optional") else {}
    return {"name": secret["name"], "key": item["key"], **optional}


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values of all fields. Paths have the names of items of a list of mappings, or what they are."""
    if isinstance(value, str) and value.startswith("{") and path.startswith("data."):
        value = json.loads(value)
    if isinstance(value, dict) and value.keys() >= {"resources", "verbs"}:
        rights = product(*(value.get(key, [""]) for key in ("apiGroups", "resources", "resourceNames", "verbs")))
        yield from ((f"rules.{'/'.join(right)}", True) for right in rights)
    elif isinstance(value, dict) and value:
        for key, below in value.items():
            yield from _leaves(below, f"{path}.{key}".lstrip("."))
    elif isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        for each in value:
            yield from _leaves(each, f"{path}[{each.get('mountPath') or each.get('name') or json.dumps(each)}]")
    else:
        yield path, value


def _uncovered(output: Mapping[str, Json]) -> Iterator[Change]:
    """Yield the objects that not exactly one Application brings, if there are any Applications."""
    for root in (path for path in output if path.endswith("argocd/root.yaml")):
        home, top = root.removesuffix("argocd/root.yaml"), output[root]["spec"]["source"]["path"]
        files = [path for path in output if path.startswith(home)]
        sources = [body["spec"]["source"] for body in map(output.get, files) if body and body["kind"] == "Application"]
        folders = [f"{home}{relpath(source['path'], top + '/..')}/" for source in sources]
        for path in files:
            if sum(path.startswith(folder) for folder in folders) != 1:
                yield Change("out of sync", _name(output[path]), "", "not in one Application")
