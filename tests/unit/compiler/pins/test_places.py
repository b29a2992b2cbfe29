"""What can be pinned in a document, and what it is in the lock file."""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from stowplan.compiler.pins import images
from stowplan.library.dialects.reading.floating import FloatingReference
from stowplan.library.dialects.registry import reading


def of_document(data: Any) -> Iterator[FloatingReference]:
    yield from images.pins(data)
    yield from reading(data.get("kind")).pins(data)


def keys(text: str) -> list[str]:
    return [f"{each.section} {each.key}" for each in of_document(yaml.safe_load(text))]


def paths(text: str) -> list[str]:
    return [".".join(map(str, each.path)) for each in of_document(yaml.safe_load(text))]


POD = "{containers: [{name: a, image: 'IMAGE'}]}"


@pytest.mark.parametrize(
    ("image", "key"),
    [
        ("ghcr.io/acme/train:1.9", "ghcr.io/acme/train:1.9"),
        ("busybox", "busybox:latest"),
        ("localhost:5000/a/b:c", "localhost:5000/a/b:c"),
    ],
)
def test_image_by_name_and_tag(image: str, key: str) -> None:
    assert keys(f"{{kind: Pod, spec: {POD.replace('IMAGE', image)}}}") == [f"images {key}"]


@pytest.mark.parametrize("image", [f"a:1@sha256:{'a' * 64}", f"a@sha256:{'a' * 64}", "${IMAGE}", "A", "", "a b"])
def test_image_with_a_digest_or_without_a_name_is_none(image: str) -> None:
    assert keys(f"{{kind: Pod, spec: {POD.replace('IMAGE', image)}}}") == []


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("{kind: Training, spec: {image: 'a:1'}}", "spec.image"),
        ("{kind: TrainingJob, spec: {image: 'a:1'}}", "spec.image"),
        (
            "{kind: PaddleJob, spec: {worker: {template: {spec: {initContainers: [{image: 'a:1'}]}}}}}",
            "spec.worker.template.spec.initContainers.0.image",
        ),
        (
            "{kind: MxJob, spec: {replicaspecs: [{Template: {Spec: {Containers: [{Image: 'a:1'}]}}}]}}",
            "spec.replicaspecs.0.Template.Spec.Containers.0.Image",
        ),
        (
            "{kind: CronJob, spec: {jobTemplate: {spec: {template: {spec: {containers: [{image: 'a:1'}]}}}}}}",
            "spec.jobTemplate.spec.template.spec.containers.0.image",
        ),
        (
            "{kind: Training, spec: {template: {spec: {volumes: [{image: {reference: 'a:1'}}]}}}}",
            "spec.template.spec.volumes.0.image.reference",
        ),
    ],
)
def test_images_are_found_in_all_pod_templates(text: str, path: str) -> None:
    assert paths(text) == [path]


def dataset(source: str, more: str = "") -> str:
    return f"{{kind: Dataset, spec: {{source: {{{source}}}{more}}}}}"


def cube(options: str, more: str = "", kind: str = "git") -> str:
    return f"{{kind: DataCube, spec: {{source: {{type: {kind}, options: [{options}]}}{more}}}}}"


URL = "{name: url, value: 'https://host/a.git'}"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (dataset("git: {url: 'https://host/a.git', ref: v1}"), ["git https://host/a.git#v1"]),
        (dataset("git: {url: 'https://host/a.git'}"), ["git https://host/a.git#HEAD"]),
        (dataset("huggingface: {repo: acme/c4}"), ["huggingface datasets/acme/c4@HEAD"]),
        (
            dataset("huggingface: {repo: acme/g, type: model, revision: main}"),
            ["huggingface models/acme/g@main"],
        ),
        (dataset("s3: {uri: 's3://a/b'}"), ["s3 s3://a/b/"]),
        (dataset("s3: {uri: 's3://a'}"), ["s3 s3://a/"]),
        (dataset("s3: {uri: 's3://a/b/', endpoint: 'https://host/'}"), ["s3 s3://a/b/ https://host"]),
        (
            "{kind: Training, spec: {code: {git: {url: 'https://host/a.git', ref: main}}}}",
            ["git https://host/a.git#main"],
        ),
        (cube(URL), ["git https://host/a.git#HEAD"]),
        (cube(f"{URL}, {{name: ref, value: v1}}"), ["git https://host/a.git#v1"]),
        (cube("{name: repo, value: acme/g}", kind="huggingface"), ["huggingface models/acme/g@HEAD"]),
        (
            cube(
                "{name: repo, value: acme/c4}, {name: repo-type, value: dataset}",
                ", executor: {env: [{name: HF_ENDPOINT, value: 'https://hub.example.com/'}]}",
                kind="huggingface",
            ),
            ["huggingface https://hub.example.com/datasets/acme/c4@HEAD"],
        ),
    ],
)
def test_sources_by_address_and_revision(text: str, wanted: list[str]) -> None:
    assert keys(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        dataset(f"git: {{url: 'https://host/a.git', ref: {'a' * 40}}}"),
        dataset(f"huggingface: {{repo: acme/c4, revision: {'b' * 40}}}"),
        dataset(f"s3: {{uri: 's3://a/b', revision: 'sha256:{'c' * 64}'}}"),
        dataset("git: {url: 'https://host/a.git'}", ", refresh: {schedule: '@daily'}"),
        dataset("storage: {uri: 'oss://a/b/'}"),
        cube(URL, ", schedule: '@daily'"),
        cube(f"{URL}, {{name: ref, valueFrom: {{secretKeyRef: {{name: a, key: b}}}}}}"),
        cube(f"{URL}, {{name: ref, value: $(REF)}}"),
        cube("{name: url, valueFrom: {secretKeyRef: {name: a, key: b}}}"),
        cube(URL, ", executor: {options: {extraArgs: ['--branch=v1']}}"),
        cube(
            "{name: repo, value: a}",
            ", executor: {env: [{name: HF_ENDPOINT, valueFrom: {}}]}",
            kind="huggingface",
        ),
        "{kind: DataCube, spec: {sink: {type: git, options: [{name: url, value: 'https://host/a.git'}]}}}",
        "{kind: Training, spec: {outputs: [{to: {huggingface: {repo: acme/g}}}]}}",
    ],
)
def test_what_is_fixed_or_follows_its_source_or_is_a_target_has_no_place(text: str) -> None:
    assert keys(text) == []


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"kind": 1},
        {"kind": "Dataset"},
        {"kind": "Dataset", "spec": {"source": {"git": [], "s3": {"uri": 1}}}},
        {"kind": "DataCube", "spec": {"source": {"type": [], "options": [1, {"name": "url"}]}, "executor": 1}},
        {"kind": "Training", "spec": {"image": 1, "code": {"git": {"url": 1}}, "template": [{"containers": [1]}]}},
    ],
)
def test_documents_may_have_errors(data: Any) -> None:
    assert list(of_document(data)) == []


@pytest.mark.parametrize(
    ("fields", "in_path"),
    [("", False), (", endpoint: 'https://host'", True), (", endpoint: 'https://host', pathStyle: false", False)],
)
def test_the_bucket_is_where_agents_ask_for_it(fields: str, *, in_path: bool) -> None:
    (found,) = of_document(yaml.safe_load(dataset(f"s3: {{uri: 's3://a/b'{fields}}}")))
    assert found.path_style is in_path
