"""A lowered DataCube: variables, deadlines, amounts, and errors in unchecked specs."""

import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stowplan.agents.transfer.remotes.s3.settings import s3_settings
from stowplan.agents.transfer.settings import settings
from stowplan.library.builders import job
from stowplan.library.dialects.data_cube import pod as data_cube_pod
from stowplan.library.dialects.registry import lower
from stowplan.library.dialects.shared.context import Lowered
from stowplan.library.manifest import ExternalReference, Json
from stowplan.library.values.variable_references import references
from stowplan.schema.agents.transfer_config import TransferConfig
from stowplan.schema.kinds.data_cube import DataCube
from tests.pods import values
from tests.repositories import CASES, case
from tests.unit.specs import body, codes, context, of_kind

TOKEN = {"name": "token", "valueFrom": {"secretKeyRef": {"name": "git", "key": "token"}}}
URL = {"name": "url", "value": "https://robot:$(TOKEN)@$(HOST)/ml/train.git"}
SPEC: dict[str, Any] = {
    "source": {"type": "git", "options": [TOKEN, URL, {"name": "ref", "value": "$(REF_OF)"}]},
    "sink": {"type": "pvc", "pvc": {"name": "work", "subPath": "code"}},
    "executor": {
        "env": [
            {"name": "HOST", "value": "git.$(DOMAIN)"},
            {"name": "DOMAIN", "value": "example.com"},
            {"name": "REF_OF", "valueFrom": {"configMapKeyRef": {"name": "refs", "key": "train"}}},
        ],
    },
}
S3: dict[str, Any] = {
    "type": "s3",
    "s3": {"anonymous": True},
    "options": [{"name": "s3-uri", "value": "s3://models/llama/"}],
}


def cube(spec: dict[str, Any]) -> DataCube:
    document = {"apiVersion": "tensorstack.dev/v1beta1", "kind": "DataCube", "metadata": {"name": "train"}}
    return DataCube.model_validate({**document, "spec": deepcopy(spec)})


def compiled(spec: dict[str, Any], **platform: Any) -> Lowered:
    policy = {"executorEnv": ["HOST", "DOMAIN", "REF_OF"]}
    return lower(cube(spec), context(**{"policy": policy, **platform}))


def pod(result: Lowered) -> Json:
    found = body(result, "Job")["spec"]["template"]["spec"]
    assert isinstance(found, dict)
    return found


def s3(**executor: Any) -> dict[str, Any]:
    return {"source": S3, "sink": SPEC["sink"], "executor": executor}


@given(st.permutations(SPEC["source"]["options"]), st.permutations(SPEC["executor"]["env"]))
def test_any_order_of_the_options_gives_the_same_objects(options: list[Json], env: list[Json]) -> None:
    shuffled = {**SPEC, "source": {**SPEC["source"], "options": options}, "executor": {"env": env}}

    def objects(spec: dict[str, Any]) -> list[Json]:
        return [manifest.body for manifest in compiled(spec).unit.manifests if manifest.kind != "DataCube"]

    assert objects(shuffled) == objects(SPEC)


def test_variables_resolve_in_their_order_and_the_token_is_in_no_url() -> None:
    (container,) = pod(compiled(SPEC))["containers"]
    values = {each["name"]: each.get("value") for each in container["env"]}
    assert values["URL"] == "https://$(HOST)/ml/train.git"
    names = list(values)
    assert names.index("DOMAIN") < names.index("HOST") < names.index("URL")
    assert names.index("REF_OF") < names.index("REF")


def test_the_agents_configuration_names_variables_and_holds_no_values() -> None:
    text = body(compiled(SPEC), "ConfigMap")["data"]["config.json"]
    source = json.loads(text)["source"]
    assert source == {
        "type": "git",
        "urlEnv": "URL",
        "tokenEnv": "TOKEN",
        "username": "robot",
        "refEnv": "REF",
        "lfs": True,
        "submodules": False,
    }
    assert "example.com" not in text


def test_external_objects_are_listed() -> None:
    assert compiled(SPEC).unit.externals == (
        ExternalReference("ConfigMap", "default", "refs"),
        ExternalReference("PersistentVolumeClaim", "default", "work"),
        ExternalReference("Secret", "default", "git", ("token",)),
    )


@pytest.mark.parametrize(
    ("attempts", "seconds", "expected"),
    [(1, 60, 60), (2, 60, 130), (3, 60, 210), (4, 60, 310), (9, 0, 10 + 20 + 40 + 80 + 160 + 320 + 600 + 600)],
)
def test_attempts_need_their_own_time_and_the_waits_between(attempts: int, seconds: int, expected: int) -> None:
    assert data_cube_pod.needed(attempts, seconds) == expected


def test_a_huge_number_of_attempts_is_no_trouble() -> None:
    assert data_cube_pod.needed(2**31, 1) == 2**31 + 10 + 20 + 40 + 80 + 160 + 320 + 600 * (2**31 - 1 - 6)


@pytest.mark.parametrize(("attempt", "soft"), [(None, None), (3600, 3570), (60, 30), (40, 20), (1, 1)])
def test_the_agent_ends_before_its_pod(attempt: int | None, soft: int | None) -> None:
    assert job.soft_deadline(attempt) == soft


@pytest.mark.parametrize(
    ("options", "pod_seconds", "job_seconds"),
    [
        ({}, None, 7 * 86400),
        ({"activeDeadlineSeconds": 60}, 60, 3660),
        ({"activeDeadlineSeconds": 60, "backoffLimit": 1}, 60, 3730),
        ({"totalDeadlineSeconds": 60}, None, 60),
        ({"activeDeadlineSeconds": 60, "totalDeadlineSeconds": 90}, 60, 90),
    ],
)
def test_deadlines_of_an_attempt_and_of_all(options: dict[str, Any], pod_seconds: int | None, job_seconds: int) -> None:
    result = compiled(s3(options=options))
    assert pod(result).get("activeDeadlineSeconds") == pod_seconds
    job = body(result, "Job")["spec"]
    assert (job["activeDeadlineSeconds"], job["backoffLimit"]) == (job_seconds, options.get("backoffLimit", 0))


@pytest.mark.parametrize(
    ("given_amounts", "cpu", "memory"),
    [
        ({}, ("500m", "4"), ("1Gi", "4Gi")),
        ({"limits": {"memory": "512Mi"}}, ("500m", "4"), ("512Mi", "512Mi")),
        ({"requests": {"memory": "8Gi"}}, ("500m", "4"), ("8Gi", "8Gi")),
        ({"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}, ("1", "2"), ("1Gi", "4Gi")),
    ],
)
def test_missing_amounts_come_from_the_platform(
    given_amounts: dict[str, Any], cpu: tuple[str, str], memory: tuple[str, str]
) -> None:
    (container,) = pod(compiled(s3(resources=given_amounts)))["containers"]
    requests, limits = container["resources"]["requests"], container["resources"]["limits"]
    assert (requests["cpu"], limits["cpu"]) == cpu
    assert (requests["memory"], limits["memory"]) == memory


def test_a_template_of_a_source_makes_no_claim() -> None:
    template = {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
    source = {"type": "pvc", "pvc": {"name": "work", "template": template}}
    result = compiled({"source": source, "sink": S3})
    assert "SP406" in codes(result)
    assert of_kind(result, "PersistentVolumeClaim") == []


@pytest.mark.parametrize("kind", ["configMapKeyRef", "secretKeyRef"])
@pytest.mark.parametrize("name", [{}, {"name": None}])
def test_certificates_need_the_name_of_their_object(kind: str, name: dict[str, None]) -> None:
    """Kubernetes' schema requires only the key."""
    result = compiled({**s3(), "source": {**S3, "caBundle": {kind: {"key": "ca.crt", **name}}}})
    path = ("spec", "source", "caBundle", kind, "name")
    assert [(found.code, found.path) for found in result.findings] == [("SP213", path)]


@pytest.mark.parametrize(
    ("uri", "paths"),
    [
        ("s3://models/llama/", [("spec", "source", "s3", "kind")]),
        ("s3://models", [("spec", "source", "s3", "kind")]),
        ("s3://models/llama", []),
        ("models", [("spec", "source", "options", 0, "value")]),
        ("", [("spec", "source", "options", 0, "value")]),
    ],
)
def test_only_a_prefix_is_refused_as_one_file(uri: str, paths: list[tuple[str | int, ...]]) -> None:
    source = {"type": "s3", "s3": {"anonymous": True, "kind": "file"}, "options": [{"name": "s3-uri", "value": uri}]}
    found = compiled({**s3(), "source": source}).findings
    assert [each.path for each in found if each.code == "SP494"] == paths


CUBES = [name for name in CASES if name.startswith("data-cube-")]


@pytest.mark.parametrize("name", CUBES)
def test_the_agent_reads_the_compiled_configuration(name: str) -> None:
    """It also finds every variable that its configuration names."""
    objects = [output.manifest.body for output in case(name).outputs if output.spec]
    maps = [each["data"]["config.json"] for each in objects if each["kind"] == "ConfigMap"]
    assert maps
    (variables,) = {
        frozenset(variable["name"] for variable in values(_template(each)["spec"]))
        for each in objects
        if each["kind"] in ("Job", "CronJob")
    }
    for text in maps:
        config = TransferConfig.model_validate_json(text)
        assert config.model_dump(mode="json", exclude_none=True) == json.loads(text)
        reported = {**config.source.model_dump(), **config.sink.model_dump()}
        assert {value for key, value in reported.items() if key.endswith("Env") and value} <= variables


def _template(job: Json) -> Json:
    spec = job["spec"].get("jobTemplate", job)["spec"]
    return dict(spec["template"])


SECRETS = {
    "endpoint": "https://s3.example.com\n",
    "accessKeyID": "key\n",
    "secretAccessKey": "secret",
    "sessionToken": "t",
}


@pytest.mark.parametrize("name", [name for name in CUBES if name.startswith("data-cube-s3-")])
def test_the_agent_starts_with_the_variables_of_its_pod(name: str) -> None:
    """Variables are expanded as by the kubelet, each from the earlier ones."""
    objects = {output.manifest.kind: output.manifest.body for output in case(name).outputs if output.spec}
    environment: dict[str, str] = {}
    for each in values(_template(objects["Job"])["spec"]):
        source = each.get("valueFrom", {})
        value = SECRETS[source["secretKeyRef"]["key"]] if "secretKeyRef" in source else each.get("value", "llama")
        for reference in references(value):
            value = value.replace(f"$({reference})", environment[reference])
        environment[each["name"]] = value
    config = TransferConfig.model_validate_json(objects["ConfigMap"]["data"]["config.json"])
    reported = s3_settings(settings(config, environment))
    assert reported.bucket.name in ("models", "open-data")
    assert reported.common.upload == (name == "data-cube-s3-upload")
    assert bool(reported.bucket.credentials) == (not reported.remote.anonymous)
    assert reported.common.run == "llama"


def test_flags_of_options_of_the_other_side_are_left_out() -> None:
    result = compiled(s3(options={"extraArgs": ["--s3-no-check-bucket", "--s3-region", "eu"]}))
    found = [each.path for each in result.findings if each.code == "SP406"]
    assert found == [("spec", "executor", "options", "extraArgs", 0)]
    (container,) = pod(result)["containers"]
    names = {each["name"] for each in container["env"]}
    assert "S3_REGION" in names
    assert "S3_NO_CHECK_BUCKET" not in names


@pytest.mark.parametrize("read_only", [False, True])
def test_files_of_a_source_keep_their_group(read_only: bool) -> None:  # noqa: FBT001
    upload = {"source": {"type": "pvc", "pvc": {"name": "work", "readOnly": read_only}}, "sink": S3}
    assert "fsGroup" not in pod(compiled(upload))["securityContext"]
    named = {**upload, "executor": {"securityContext": {"fsGroup": 1234}}}
    assert pod(compiled(named))["securityContext"]["fsGroup"] == 1234
    # An agent that is not root must be able to write the downloaded files.
    assert pod(compiled(s3()))["securityContext"]["fsGroup"] == 65532


HUB: dict[str, Any] = {
    "type": "huggingface",
    "options": [{"name": "repo", "value": "o/n"}, {"name": "token", "valueFrom": TOKEN["valueFrom"]}],
}


@pytest.mark.parametrize(
    ("remote", "read", "downloaded", "uploaded"),
    [
        (S3, {"partSizeMiB"}, {"verifyParts"}, {"createBucket"}),
        (HUB, {"partSizeMiB"}, {"files"}, set()),
        (SPEC["source"], set(), {"submodules"}, set()),
    ],
)
def test_a_configuration_has_the_fields_that_its_transfer_reads(
    remote: dict[str, Any], read: set[str], downloaded: set[str], uploaded: set[str]
) -> None:
    claim = {"type": "pvc", "pvc": {"name": "work", "subPath": "code"}}
    for source, sink in ((remote, claim), (claim, remote)):
        text = body(compiled({**SPEC, "source": source, "sink": sink}), "ConfigMap")["data"]["config.json"]
        reported = json.loads(text)
        far = reported["source" if source is remote else "sink"]
        assert {"partSizeMiB"} & reported.keys() == read
        one_sided = {"verifyParts", "createBucket", "files", "submodules"}
        assert one_sided & far.keys() == (downloaded if source is remote else uploaded)
        config = TransferConfig.model_validate_json(text)
        assert TransferConfig.model_validate_json(config.model_dump_json(exclude_none=True)) == config
