"""Secrets in plain text, rights and images."""

from typing import Any

import pytest

from stowplan.compiler.checks.per_spec import rbac, secrets
from stowplan.compiler.checks.pods import images
from stowplan.library.manifest import Json
from stowplan.schema.platform.platform import Platform
from tests.unit.compiler.checks.given import (
    body,
    changed,
    config_map,
    fields,
    foreign,
    job,
    objects,
    output,
    role,
    role_binding,
    texts,
)

CONTAINER = "spec.template.spec.containers.0"
SECRET_VARIABLE = "STOWPLAN_VOLUME_METAURL"
PLATFORM = Platform.model_validate({"images": {"tag": "1.0"}})


@pytest.mark.parametrize("field", ["data", "stringData"])
@pytest.mark.parametrize("where", [objects, lambda made: objects(foreign(made))])
def test_a_secret_with_values_is_never_written(field: str, where: Any) -> None:
    found = secrets.check(where(changed(body("Secret", "a"), field, {"key": "c2VjcmV0"})))
    assert fields(found) == [("SP603", field)]
    assert "c2VjcmV0" not in texts(found)


def test_a_secret_that_only_names_an_account() -> None:
    made = body("Secret", "a", type="kubernetes.io/service-account-token")
    assert secrets.check(objects(made)) == []


def test_a_secret_variable_comes_from_a_secret() -> None:
    literal = changed(job(), f"{CONTAINER}.env", [{"name": SECRET_VARIABLE, "value": "hunter2"}])
    source = {"secretKeyRef": {"name": "volume", "key": "metaurl"}}
    referred = changed(job(), f"{CONTAINER}.env", [{"name": SECRET_VARIABLE, "valueFrom": source}])
    found = secrets.check(objects(literal))
    assert fields(found) == [("SP603", "spec.template.spec.containers[0].env[0].value")]
    assert "hunter2" not in texts(found)
    assert secrets.check(objects(referred)) == []


@pytest.mark.parametrize(
    "value", ["redis://:hunter2@host:6379/1", "s3://key:hunter2@bucket", "-----BEGIN RSA PRIVATE KEY-----"]
)
def test_a_string_with_a_password_or_key_is_reported(value: str) -> None:
    found = secrets.check(objects(config_map(settings=f"url={value}")))
    assert fields(found) == [("SP603", "data.settings")]
    assert "hunter2" not in texts(found)


@pytest.mark.parametrize(
    "value", ["https://host:443/a@b", "bos://bucket.endpoint/path", "user@host", "-----BEGIN CERTIFICATE-----"]
)
def test_a_string_without_a_secret_passes(value: str) -> None:
    assert secrets.check(objects(config_map(settings=value))) == []


def test_strings_of_a_custom_resource_are_not_reported() -> None:
    made = body("SampleSet", "imagenet", api="batch.paddlepaddle.org/v1alpha1", spec={"source": {"uri": "a://b:c@d"}})
    assert secrets.check(objects(made)) == []


def rule(resources: str = "samplesets/status", verbs: str = "get patch", **more: Any) -> Json:
    return {"apiGroups": ["batch.paddlepaddle.org"], "resources": resources.split(), "verbs": verbs.split(), **more}


@pytest.mark.parametrize(
    ("given", "path"),
    [
        (rule(verbs="*"), "rules[0].verbs"),
        (rule(resources="*"), "rules[0].resources"),
        (rule(resources="*/scale"), "rules[0].resources"),
        (rule(apiGroups=["*"]), "rules[0].apiGroups"),
        ({"nonResourceURLs": ["*"], "verbs": ["get"]}, "rules[0].nonResourceURLs"),
        (rule(resources="secrets", verbs="get"), "rules[0].resources"),
        (rule(verbs="escalate", resources="roles"), "rules[0].verbs"),
        (rule(verbs="bind", resources="roles"), "rules[0].verbs"),
        (rule(verbs="impersonate", resources="users"), "rules[0].verbs"),
        (rule(resources="pods/exec", verbs="create"), "rules[0].resources"),
        (rule(resources="serviceaccounts/token", verbs="create"), "rules[0].resources"),
    ],
)
@pytest.mark.parametrize("kind", ["Role", "ClusterRole"])
def test_a_rule_that_grants_too_much(given: Json, path: str, kind: str) -> None:
    made = role(given, kind=kind)
    assert fields(rbac.check(objects(made))) == [("SP604", path)]
    assert rbac.check(objects(foreign(made))) == []


@pytest.mark.parametrize(
    "given", [rule(), rule(resources="secrets", verbs="get", resourceNames=["volume"]), rule(resources="pods")]
)
def test_a_rule_that_grants_what_is_needed(given: Json) -> None:
    assert rbac.check(objects(role(given))) == []


@pytest.mark.parametrize(
    ("made", "path"),
    [
        (role_binding(roleRef={"kind": "ClusterRole", "name": "cluster-admin"}), "roleRef.name"),
        (role_binding(subjects=[{"kind": "Group", "name": "system:authenticated"}]), "subjects[0]"),
        (changed(role_binding(), "kind", "ClusterRoleBinding"), "kind"),
    ],
)
def test_a_binding_that_grants_too_much(made: Json, path: str) -> None:
    assert fields(rbac.check(objects(made))) == [("SP604", path)]
    assert rbac.check(objects(foreign(made))) == []


def test_a_binding_of_one_account() -> None:
    assert rbac.check(objects(role_binding())) == []


@pytest.mark.parametrize("image", ["agent", "agent:latest", "host:5000/agent", "host/agent:"])
def test_an_image_without_a_fixed_version_is_reported(image: str) -> None:
    made = changed(job(), f"{CONTAINER}.image", image)
    assert fields(images.check(objects(made), PLATFORM)) == [("SP607", "spec.template.spec.containers[0].image")]


@pytest.mark.parametrize(
    ("image", "code"),
    [("agent", "SP607"), ("agent:latest", "SP607"), ("host:5000/agent", "SP607"), ("host/agent:", "SP206")],
)
def test_an_image_of_an_extension_is_checked_too(image: str, code: str) -> None:
    made = foreign(changed(job(), f"{CONTAINER}.image", image))
    assert fields(images.check(objects(made), PLATFORM)) == [(code, "spec.template.spec.containers[0].image")]


@pytest.mark.parametrize(
    "image", ["agent:1.0", "host:5000/agent:1.0", f"agent@sha256:{'a' * 64}", f"a:latest@sha256:{'b' * 64}"]
)
def test_an_image_that_is_pinned(image: str) -> None:
    assert images.check(objects(output(changed(job(), f"{CONTAINER}.image", image))), PLATFORM) == []


def test_an_image_with_a_tag_lacks_a_digest() -> None:
    """Each image is reported once, where it is first used."""
    pinned = changed(job("pinned"), f"{CONTAINER}.image", f"local/agent@sha256:{'0' * 64}")
    made = objects(job("a"), job("b"), pinned)
    assert images.check_digests(made, PLATFORM) == []
    found = images.check_digests(made, Platform.model_validate({"images": {"requireDigests": True}}))
    assert fields(found) == [("SP608", "spec.template.spec.containers[0].image")]
