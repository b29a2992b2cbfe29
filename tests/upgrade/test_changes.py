"""What is harmful in an upgrade, one change each."""

import json
from typing import Any

import pytest

from stowplan.library.manifest import Json
from tests.unit.compiler.checks.given import GONE, body, changed
from tests.upgrade.changes import changes


def pod() -> Json:
    return {
        "containers": [{"name": "a", "env": [{"name": "URL", "value": "a"}], "volumeMounts": [{"mountPath": "/a"}]}],
        "volumes": [
            {"name": "data", "persistentVolumeClaim": {"claimName": "birds"}},
            {"name": "config", "configMap": {"name": "refresh-old"}},
        ],
    }


def config(name: str, **fields: Any) -> Json:
    return body("ConfigMap", name, data={"config.json": json.dumps(fields)}, immutable=True)


SCHEMA = {"properties": {"wait": {"type": "string", "description": "a"}}}
BEFORE = {
    "argocd/root": body("Application", "root", spec={"source": {"path": "out/argocd"}}),
    "argocd/ml": body("Application", "ml", spec={"project": "a", "source": {"path": "out/ml"}}),
    "ml/crd": body("CustomResourceDefinition", "a", spec={"versions": [{"name": "v1", "schema": SCHEMA}]}),
    "ml/job": body("Job", "sync-old", api="batch/v1", spec={"template": {"spec": pod()}}),
    "ml/cron": body("CronJob", "refresh", api="batch/v1", spec={"schedule": "@daily", "template": pod()}),
    "ml/config": config("refresh-old", source={"uri": "a"}, threads=1),
    "ml/claim": body("PersistentVolumeClaim", "birds", spec={"resources": {"requests": {"storage": "1Gi"}}}),
    "ml/cache": body("StatefulSet", "cache", api="apps/v1", spec={"serviceName": "cache", "template": {"spec": pod()}}),
    "ml/role": body("Role", "a", rules=[{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}]),
}
"""An output by paths without `.yaml`."""
CHANGES = [
    ("ml/other", body("Job", "warm"), "starts"),
    ("ml/other", body("CronJob", "warm"), "starts"),
    ("ml/job.metadata.name", "sync-new", "starts"),
    ("ml/job.spec.suspend", False, "starts"),
    ("ml/cron.spec.schedule", "@hourly", "starts"),
    ("ml/claim", GONE, "deletes"),
    ("ml/claim.metadata.name", "cats", "deletes"),
    ("argocd/ml.metadata.name", "b", "deletes"),
    ("ml/crd.spec.versions.0.schema.properties", {}, "deletes"),
    ("ml/claim.spec.resources.requests.storage", "2Gi", "moves"),
    ("ml/cache.spec.template.spec.volumes.0.persistentVolumeClaim.claimName", "cats", "moves"),
    ("ml/cache.spec.template.spec.containers.0.volumeMounts.0.subPath", "b", "moves"),
    ("ml/cron.spec.template.containers.0.env.0.value", "b", "fetches"),
    ("ml/config", config("refresh-new", source={"uri": "b"}, threads=1), "fetches"),
    ("ml/cache.spec.serviceName", "b", "out of sync"),
    ("argocd/ml.spec.project", "b", "out of sync"),
    ("ml/config", config("refresh-old", source={"uri": "a"}, threads=2), "out of sync"),
    ("other/a", body("Secret", "a"), "out of sync"),
    ("ml/role.rules.0.verbs", ["list"], "loses a right"),
    ("ml/other", body("ServiceAccount", "gate"), ""),
    ("ml/crd.spec.versions.0.schema.properties.wait.description", GONE, ""),
    ("ml/config", config("refresh-new", source={"uri": "a"}, threads=2, logs="json"), ""),
    ("ml/cache.spec.template.spec.volumes.1.configMap.name", "refresh-new", ""),
    ("ml/cron.spec.template.containers.0.image", "a:2", ""),
    ("ml/role.rules.0.resources", ["events", "pods"], ""),
]


@pytest.mark.parametrize(("where", "value", "harm"), CHANGES)
def test_harms(where: str, value: Any, harm: str) -> None:
    before, after = (
        {f"{path}.yaml": each for path, each in out.items()} for out in (BEFORE, changed(BEFORE, where, value))
    )
    found = list(changes(before, after))
    assert found
    assert {each.harm for each in found} - {""} == {harm} - {""}


def test_a_harm_is_told_in_a_line() -> None:
    before, after = ({"job.yaml": body("Job", name)} for name in ("sync-old", "sync-new"))
    (found,) = changes(before, after)
    assert str(found) == "starts: Job ml/sync-old: metadata.name is edited, from 'sync-old' to 'sync-new'"
