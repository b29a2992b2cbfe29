"""DataCubes to a claim become Datasets, and those from a dataset's claim DatasetTasks."""

from typing import Any

import pytest

from tests.unit.compiler.migrate.native.migrated import migrated, spec

KEYS = """
  - {name: s3-access-key-id, valueFrom: {secretKeyRef: {name: keys, key: access-key}}}
  - {name: s3-secret-access-key, valueFrom: {secretKeyRef: {name: keys, key: secret-key}}}
"""
S3 = f"""
source:
  type: s3
  options:
  - {{name: s3-uri, value: s3://bucket/train/}}
  - {{name: s3-endpoint, value: https://minio.example.com}}
  - {{name: s3-region, value: eu-west-1}}{KEYS}
"""
CLAIM = "sink: {type: pvc, pvc: {name: nfs, subPath: ./a/b/}}\n"
UPLOAD = """
source: {type: pvc, pvc: {name: nfs, subPath: a/b/out}}
sink:
  type: huggingface
  options:
  - {name: repo, value: me/model}
  - {name: path-in-repo, value: weights}
  - {name: commit-message, value: Upload}
  - {name: token, valueFrom: {secretKeyRef: {name: hub, key: token}}}
"""

CLAIM_SPEC = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": 1}}}


def dataset(body: str) -> Any:
    result = migrated(spec("DataCube", body))
    assert result.reasons == []
    return result.document()["spec"]


def test_objects_of_a_store() -> None:
    assert dataset(S3 + CLAIM) == {
        "source": {
            "s3": {
                "uri": "s3://bucket/train/",
                "endpoint": "https://minio.example.com",
                "region": "eu-west-1",
                "secretRef": {"name": "keys"},
            }
        },
        "volume": {"claim": {"name": "nfs", "subPath": "a/b"}},
    }


def test_a_public_bucket_and_patterns() -> None:
    block = "source: {type: s3, options: [{name: s3-uri, value: s3://b/}], s3: {anonymous: true, pathStyle: false}}\n"
    assert dataset(block + CLAIM)["source"]["s3"] == {"uri": "s3://b/", "anonymous": True, "pathStyle": False}


def test_a_repository_on_a_hub_is_a_model_unless_the_cube_says_otherwise() -> None:
    text = "source: {type: huggingface, options: [{name: repo, value: me/model}]}\n"
    assert dataset(text + CLAIM)["source"]["huggingface"] == {"repo": "me/model", "type": "model"}
    text = "source: {type: huggingface, options: [{name: repo, value: me/d}, {name: repo-type, value: dataset}]}\n"
    assert dataset(text + CLAIM)["source"]["huggingface"] == {"repo": "me/d", "type": "dataset"}


def test_a_git_repository() -> None:
    options = "[{name: url, value: https://a.example/b.git}, {name: ref, value: v1}]"
    text = f"source: {{type: git, options: {options}, git: {{lfs: false}}}}\n"
    assert dataset(text + CLAIM)["source"]["git"] == {"url": "https://a.example/b.git", "ref": "v1", "lfs": False}


def test_objects_that_nothing_proves_submodules_and_links_are_copied_as_before() -> None:
    block = "source: {type: s3, options: [{name: s3-uri, value: s3://b/}], s3: {acceptUnverified: true}}\n"
    assert dataset(block + CLAIM)["source"]["s3"] == {"uri": "s3://b/", "acceptUnverified": True}
    block = "source: {type: git, options: [{name: url, value: https://a.example/b.git}], git: {submodules: true}}\n"
    assert dataset(block + CLAIM)["source"]["git"] == {"url": "https://a.example/b.git", "submodules": True}
    upload = UPLOAD.replace("a/b/out}", "a/b/out, links: skip}")
    result = migrated(spec("DataCube", S3 + CLAIM, "data"), spec("DataCube", upload, "upload"))
    assert "  copy:\n    subPath: out\n    links: skip\n" in result.texts["1.yaml"]


def test_a_claim_of_its_own_keeps_its_name() -> None:
    template = "{spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 1}}}}"
    claim = f"sink: {{type: pvc, pvc: {{name: nfs, template: {template}}}}}\n"
    volume = dataset(S3 + claim)["volume"]["claim"]
    assert volume == {"template": {"spec": CLAIM_SPEC, "metadata": {"name": "nfs"}}, "subPath": "/"}


def test_a_schedule_becomes_a_refresh() -> None:
    more = "schedule: 0 3 * * *\ntimeZone: Europe/Berlin\nexecutor: {options: {sync: true, maxDelete: 7}}\n"
    refresh = {"schedule": "0 3 * * *", "timeZone": "Europe/Berlin", "delete": True, "maxDelete": 7}
    assert dataset(S3 + CLAIM + more)["refresh"] == refresh


@pytest.mark.parametrize(
    ("old", "new", "at"),
    [
        (
            "{name: s3-region, value: eu-west-1}",
            "{name: s3-region, valueFrom: {secretKeyRef: {name: a, key: b}}}",
            "spec.source.options[2].valueFrom",
        ),
        ("s3://bucket/train/", "s3://bucket/train", "spec.source.options[0].value"),
        ("key: access-key", "key: id", "spec.source.options[3].valueFrom"),
        ("keys, key: access-key", "others, key: access-key", "spec.source.options"),
        ("s3-region, ", "s3-uri, ", "spec.source.options[2].name"),
        ("https://minio.example.com", "minio:9000", "spec.source.options[1].value"),
        ("sink:", "executor: {nodeSelector: {a: b}}\nsink:", "spec.executor"),
        ("sink:", "executor: {options: {parallelism: 3}}\nsink:", "spec.executor"),
        ("sink:", "executor: {options: {sync: true}}\nsink:", "spec.executor.options.sync"),
        ("sink:", "schedule: 0 3 * * *\nexecutor: {options: {sync: true}}\nsink:", "spec.executor.options.sync"),
    ],
)
def test_what_a_dataset_cannot_hold_is_said_at_its_line(old: str, new: str, at: str) -> None:
    result = migrated(spec("DataCube", (S3 + CLAIM).replace(old, new)))
    assert [code for code, _ in result.reasons] == ["SP427"]
    assert result.reasons[0][1].startswith(at)
    assert result.texts == {}


@pytest.mark.parametrize("other", ["a", "a/b", "a/b/c"])
def test_two_cubes_that_write_to_one_place_stay(other: str) -> None:
    second = spec("DataCube", S3 + CLAIM.replace("./a/b/", other), "second")
    result = migrated(f"{spec('DataCube', S3 + CLAIM)}---\n{second}")
    assert (result.reasons, result.texts) == ([("SP427", "spec.sink.pvc")] * 2, {})


def test_a_cube_that_fills_the_volume_of_a_sample_set_stays() -> None:
    sample_set = spec("SampleSet", "partitions: 1\nnoSync: true\nsecretRef: {name: volume}", "nfs")
    result = migrated(f"{sample_set}---\n{spec('DataCube', S3 + CLAIM)}")
    assert result.reasons == [("SP427", "spec.sink.pvc")]
    assert (result.document(0)["kind"], result.document(1)["kind"]) == ("Dataset", "DataCube")


def test_an_upload_from_a_dataset_becomes_its_task() -> None:
    result = migrated(f"{spec('DataCube', S3 + CLAIM)}---\n{spec('DataCube', UPLOAD, 'upload')}")
    assert result.reasons == []
    assert result.document(1)["kind"] == "DatasetTask"
    assert result.document(1)["spec"] == {
        "datasetRef": {"name": "x"},
        "copy": {
            "subPath": "out",
            "to": {
                "huggingface": {
                    "repo": "me/model",
                    "path": "weights",
                    "message": "Upload",
                    "secretRef": {"name": "hub"},
                    "type": "model",
                }
            },
        },
    }


def test_an_upload_from_a_dataset_that_is_native_already() -> None:
    head = "apiVersion: stowplan.dev/v1alpha1\nkind: Dataset\nmetadata: {name: d, namespace: ml}\n"
    native = f"{head}spec: {{volume: {{claim: {{name: nfs, subPath: a/b/out}}}}}}\n"
    document = migrated(native, spec("DataCube", UPLOAD)).document()
    assert (document["spec"]["datasetRef"], document["spec"]["copy"].get("subPath")) == ({"name": "d"}, None)


def test_an_upload_from_the_claim_of_a_sample_set() -> None:
    sample_set = spec("SampleSet", "partitions: 1\nnoSync: true\nsecretRef: {name: volume}", "nfs")
    result = migrated(f"{sample_set}---\n{spec('DataCube', UPLOAD)}")
    assert result.document(1)["spec"]["copy"]["subPath"] == "a/b/out"


@pytest.mark.parametrize(
    ("old", "new", "at"),
    [
        ("subPath: a/b/out", "subPath: other", "spec.source.pvc"),
        ("type: huggingface", "type: git", "spec.sink.options[0].name"),
        ("subPath: a/b/out", "subPath: a/b, readOnly: true", "spec.source.pvc.readOnly"),
    ],
)
def test_an_upload_that_stays(old: str, new: str, at: str) -> None:
    result = migrated(f"{spec('DataCube', S3 + CLAIM)}---\n{spec('DataCube', UPLOAD.replace(old, new), 'upload')}")
    assert ("SP427", at) in result.reasons
    assert result.document(1)["kind"] == "DataCube"


def test_an_upload_stays_with_its_cube() -> None:
    cube = spec("DataCube", S3.replace("key: access-key", "key: id") + CLAIM)
    result = migrated(f"{cube}---\n{spec('DataCube', UPLOAD, 'upload')}")
    assert [code for code, _ in result.reasons] == ["SP427", "SP427"]
    assert result.texts == {}
