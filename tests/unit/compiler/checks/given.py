"""Objects for the tests of the checks: valid ones, and functions that change one field of them."""

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any

from stowplan.compiler.checks import spec_stage, stage
from stowplan.compiler.checks.across_specs.facts import facts_of, graph_of
from stowplan.compiler.checks.objects.finding import ObjectFinding
from stowplan.compiler.checks.objects.object import Object, Objects, SpecObjects
from stowplan.compiler.checks.objects.object_graph import ObjectGraph
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.kubernetes.fields import mapping
from stowplan.compiler.model import OutputFile, Program
from stowplan.library.manifest import ExternalReference, Json, Manifest
from stowplan.schema.diagnostics import dotted
from stowplan.schema.meta import ObjectId, SpecId
from stowplan.schema.platform.platform import Platform

SPEC = SpecId("SampleSet", "ml", "imagenet")
GONE = object()
"""As the new value of a field: remove the field."""

KEEP = {"argocd.argoproj.io/sync-options": "Prune=false,Delete=false"}
WAVE = "argocd.argoproj.io/sync-wave"

SECURE = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "readOnlyRootFilesystem": True,
}


def body(kind: str, name: str, *, api: str = "v1", namespace: str = "ml", **fields: Any) -> Json:
    metadata: Json = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **fields}


def pod_template(**spec: Any) -> Json:
    return {
        "metadata": {"labels": {"app": "a"}},
        "spec": {
            "containers": [{"name": "main", "image": "local/agent:1.0", "securityContext": deepcopy(SECURE)}],
            "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
            **spec,
        },
    }


def job(name: str = "work", **spec: Any) -> Json:
    template = pod_template(restartPolicy="Never")
    return body("Job", name, api="batch/v1", spec={"template": template, **spec})


def stateful_set(name: str = "cache", **spec: Any) -> Json:
    given = {"replicas": 2, "selector": {"matchLabels": {"app": "a"}}, "template": pod_template()}
    return body("StatefulSet", name, api="apps/v1", spec={**given, "serviceName": "cache", **spec})


def service(name: str = "cache", **spec: Any) -> Json:
    return body("Service", name, spec={"clusterIP": "None", "selector": {"app": "a"}, **spec})


def config_map(name: str = "settings", **data: str) -> Json:
    return body("ConfigMap", name, data=data)


def volume(name: str = "ml.data", **spec: Any) -> Json:
    given = {
        "accessModes": ["ReadWriteMany"],
        "capacity": {"storage": "10Pi"},
        "claimRef": {"name": "data", "namespace": "ml"},
        "csi": {"driver": "csi.example.com", "volumeHandle": name},
        "persistentVolumeReclaimPolicy": "Retain",
        "storageClassName": "",
    }
    made = body("PersistentVolume", name, namespace="", spec={**given, **spec})
    return changed(made, "metadata.annotations", dict(KEEP))


def claim(name: str = "data", **spec: Any) -> Json:
    given = {
        "accessModes": ["ReadWriteMany"],
        "resources": {"requests": {"storage": "10Pi"}},
        "storageClassName": "",
        "volumeName": "ml.data",
    }
    made = body("PersistentVolumeClaim", name, spec={**given, **spec})
    return changed(made, "metadata.annotations", dict(KEEP))


def role(*rules: Json, kind: str = "Role") -> Json:
    return body(kind, "agent", api="rbac.authorization.k8s.io/v1", rules=list(rules))


def role_binding(**fields: Any) -> Json:
    given: Json = {
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "agent"},
        "subjects": [{"kind": "ServiceAccount", "name": "agent", "namespace": "ml"}],
    }
    return body("RoleBinding", "agent", api="rbac.authorization.k8s.io/v1", **{**given, **fields})


def definition(**spec: Any) -> Json:
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    given = {
        "group": "example.com",
        "names": {"kind": "Thing", "plural": "things"},
        "scope": "Namespaced",
        "versions": [version],
    }
    made = body(
        "CustomResourceDefinition", "things.example.com", api="apiextensions.k8s.io/v1", namespace="", spec=given | spec
    )
    return changed(made, "metadata.annotations", dict(KEEP))


def changed(original: Json, path: str, value: Any) -> Json:
    """A copy with one field set; `path` is dotted, numbers are list indices, `~` is a dot in a key."""
    copy = deepcopy(original)
    *parents, last = [int(part) if part.isdigit() else part.replace("~", ".") for part in path.split(".")]
    node: Any = copy
    for part in parents:
        node = node[part] if isinstance(part, int) else node.setdefault(part, {})
    if value is GONE:
        del node[last]
    else:
        node[last] = value
    return copy


def annotated(original: Json, **annotations: str) -> Json:
    """A copy with annotations of Argo CD; `_` in a name means `-`."""
    given = original["metadata"].get("annotations", {})
    more = {f"argocd.argoproj.io/{name.replace('_', '-')}": value for name, value in annotations.items()}
    return changed(original, "metadata.annotations", {**given, **more})


def output(
    made: Json,
    *,
    spec: SpecId | None = SPEC,
    run: bool = False,
    source: str = "specs/a.yaml",
    externals: Iterable[ExternalReference] = (),
    folder: str = "",
) -> OutputFile:
    metadata = mapping(made, "metadata")
    name = str(metadata.get("name", ""))
    home = folder or metadata.get("namespace", "_cluster")
    path = f"{home}/{str(made.get('kind')).lower()}-{name}.yaml"
    return OutputFile(path, Manifest(made, name, run=run), spec, source, externals=tuple(externals))


def objects(*made: Json | OutputFile) -> Objects:
    """The objects of outputs; a body counts as compiled from a spec."""
    return Objects(_read(made))


def graph(*made: Json | OutputFile) -> ObjectGraph:
    """The graph of outputs, as if no spec was compiled to them."""
    return graph_of([facts_of(SpecObjects(None, objects(*made), Platform()))], Platform())


def check(outputs: Sequence[OutputFile], program: Program, previous: Mapping[ObjectId, Json], report: Report) -> None:
    """Run the check stage; `previous` holds the objects of the committed output."""
    known = spec_stage.definitions(outputs, program.platform.kubernetes_version)
    stage.conclude(spec_stage.check(outputs, program.platform, known, previous), program, previous, report)


def _read(made: Iterable[Json | OutputFile]) -> list[Object]:
    return [Object(each if isinstance(each, OutputFile) else output(each)) for each in made]


def foreign(made: Json) -> OutputFile:
    """An object of a user or an extension."""
    return output(made, spec=None, source="extensions/a.py")


def fields(found: Iterable[ObjectFinding]) -> list[tuple[str, str]]:
    """Code and field path of findings."""
    return [(each.found.code, dotted(each.found.path)) for each in found]


def texts(found: Iterable[ObjectFinding]) -> str:
    return " ".join(f"{each.found.message} {each.found.hint}" for each in found)
