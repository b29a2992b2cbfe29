"""Editor schemas: valid draft-07, and as strict as the compiler about users' values."""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from stowplan.compiler.generate import export
from stowplan.schema.export import json_schema
from stowplan.schema.export.json_schema import COMBINED, KUBERNETES, MODELS
from stowplan.schema.platform.settings import KUBERNETES_VERSIONS
from tests.repositories import CASES, INVALID_CASES

Schema = dict[str, Any]
REPOSITORY = Path(__file__).parents[4]
CORPUS = REPOSITORY.parent / "shared/corpus"
schemas = cache(json_schema.schemas)
KINDS = [model.__name__ for model in MODELS]


NEEDED: dict[str, dict[str, Any]] = {
    "SampleSet": {"partitions": 1, "noSync": True, "secretRef": {"name": "volume"}},
    "SampleJob": {"type": "warmup", "sampleSetRef": {"name": "a"}},
}
"""What a spec needs at least."""


def document(kind: str = "SampleSet", **more: Any) -> dict[str, Any]:
    head = {"apiVersion": "batch.paddlepaddle.org/v1alpha1", "kind": kind, "metadata": {"name": "a"}}
    return head | {"spec": NEEDED[kind] | more.pop("spec", {})} | more if kind in NEEDED else head | {"spec": {}} | more


def errors(body: Any, name: str = COMBINED) -> list[str]:
    """Return messages with their positions, as an editor would show them."""
    return sorted(f"{error.json_path}: {error.message}" for error in validator(name).iter_errors(body))


@cache
def validator(name: str) -> Any:
    """A `Draft7Validator`. Its import builds parsers for two seconds."""
    from jsonschema import Draft7Validator  # noqa: PLC0415

    return Draft7Validator(schemas()[name], registry=registry())


@cache
def registry() -> Any:
    """The types of Kubernetes."""
    from referencing import Registry  # noqa: PLC0415
    from referencing.jsonschema import DRAFT7  # noqa: PLC0415

    return Registry().with_resource(KUBERNETES, DRAFT7.create_resource(json.loads(export.schemas()[KUBERNETES])))


def nodes(schema: Schema) -> Iterator[Schema]:
    """Every schema below `schema` that describes a value."""
    yield schema
    for child in [*schema.get("properties", {}).values(), schema.get("items"), schema.get("additionalProperties")]:
        if isinstance(child, dict):
            yield from nodes(child)


def test_there_is_one_file_per_kind_and_one_for_all() -> None:
    more = ["lock.schema.json", "stowplan.schema.json"]
    assert sorted(schemas()) == sorted([*(f"{kind.lower()}.schema.json" for kind in KINDS), *more])
    assert {"PaddleJob", "Platform", "SampleJob", "SampleSet"} <= set(KINDS)


def test_every_schema_is_valid_draft_07() -> None:
    for name, schema in schemas().items():
        assert schema["$schema"] == "http://json-schema.org/draft-07/schema#", name
        validator(name).check_schema(schema)


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_is_described_and_unknown_fields_are_refused(kind: str) -> None:
    schema = schemas()[f"{kind.lower()}.schema.json"]
    for node in nodes(schema):
        assert all(field["description"] for field in node.get("properties", {}).values())
        assert "additionalProperties" in node or "properties" not in node
        assert "$ref" not in node


@pytest.mark.parametrize("kind", KINDS)
def test_the_combined_schema_equals_the_schema_of_each_kind(kind: str) -> None:
    own = schemas()[f"{kind.lower()}.schema.json"]
    assert schemas()[COMBINED]["definitions"][kind] == {key: own[key] for key in own.keys() - {"$schema"}}


def test_defaults_are_shown() -> None:
    fields = schemas()["platform.schema.json"]["properties"]
    assert fields["kubernetesVersion"]["default"] == "1.36"
    assert fields["policy"]["properties"]["crossNamespaceTasks"]["default"] is False
    assert fields["resources"]["properties"]["task"]["default"]["limits"] == {"cpu": "4", "memory": "4Gi"}


UNKNOWN = "{}: Additional properties are not allowed ('{}' was unexpected)"
WORKER = {"replicas": 1, "template": {"spec": {"containers": [{"name": "a", "image": "b", "comand": []}]}}}


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ({}, ["$: 'kind' is a required property"]),
        (document("Sampleset"), [f"$.kind: 'Sampleset' is not one of {sorted(KINDS)}"]),
        (
            document(apiVersion="v1"),
            ["$.apiVersion: 'v1' is not one of ['batch.paddlepaddle.org/v1alpha1']"],
        ),
        (
            {"kind": "MxJob", "metadata": {"name": "a"}, "spec": {"jobMode": "dist"}},
            ["$: 'apiVersion' is a required property"],
        ),
        (document(metadata={}), ["$.metadata: 'name' is a required property"]),
        (
            document(spec={"partition": 1}),
            ["$.spec: Additional properties are not allowed ('partition' was unexpected)"],
        ),
        (document(spec={"partitions": 0}), ["$.spec.partitions: 0 is less than the minimum of 1"]),
        (document(spec={"partitions": "1"}), ["$.spec.partitions: '1' is not of type 'integer'"]),
        (
            document("SampleJob", spec={"type": "copy"}),
            ["$.spec.type: 'copy' is not one of ['sync', 'warmup', 'rmr', 'clear']"],
        ),
        (document(spec={"tolerations": ["all"]}), ["$.spec.tolerations[0]: 'all' is not of type 'object', 'null'"]),
        (
            document(spec={"tolerations": [{"key": "a", "value": True}]}),
            ["$.spec.tolerations[0].value: True is not of type 'string', 'null'"],
        ),
        (
            document(metadata={"name": "Mnist"}),
            ["$.metadata.name: 'Mnist' does not match '^([a-z]([-a-z0-9]*[a-z0-9])?)$'"],
        ),
        (document(spec={"secretRef": {}}), ["$.spec.secretRef: 'name' is a required property"]),
        (document(spec={"noSync": False}), ["$.spec: 'source' is a required property"]),
        (
            document(spec={"tolerations": [{"operator": "Exists", "kee": "a"}]}),
            [UNKNOWN.format("$.spec.tolerations[0]", "kee")],
        ),
        (
            document("PaddleJob", apiVersion="batch.paddlepaddle.org/v1", spec={"worker": WORKER}),
            [UNKNOWN.format("$.spec.worker.template.spec.containers[0]", "comand")],
        ),
        (
            {"kind": "Platform", "argocd": {"repoUrl": "a"}},
            ["$.argocd: Additional properties are not allowed ('repoUrl' was unexpected)"],
        ),
    ],
)
def test_a_mistake_is_reported_once_and_at_its_place(body: dict[str, Any], found: list[str]) -> None:
    assert errors(body) == found


TRAINING = {"framework": "none", "image": "a:1"}


@pytest.mark.parametrize(
    ("spec", "place", "message"),
    [
        ({"datasets": [{"name": "A", "mountPath": "/a"}]}, "spec.datasets[0].name", "'A' does not match"),
        ({"outputs": [{"path": "/a", "to": {}}]}, "spec.outputs[0].to", "{} should be non-empty"),
        (
            {"outputs": [{"path": "/a", "to": {"claim": {"name": "A"}}}]},
            "spec.outputs[0].to.claim.name",
            "'A' does not",
        ),
        ({"checkpoints": {"claim": {}}}, "spec.checkpoints.claim", "{} is not valid under any of the given schemas"),
        ({"scheduling": {"topology": {}}}, "spec.scheduling.topology", "{} should be non-empty"),
    ],
)
def test_a_mistake_in_a_training_is_found(spec: dict[str, Any], place: str, message: str) -> None:
    (error,) = errors(document("Training", apiVersion="stowplan.dev/v1alpha1", spec=TRAINING | spec))
    assert error.startswith(f"$.{place}: {message}")


@pytest.mark.parametrize("kind", KINDS)
def test_editors_know_how_names_look(kind: str) -> None:
    if kind != "Platform":
        assert schemas()[f"{kind.lower()}.schema.json"]["properties"]["metadata"]["properties"]["name"]["pattern"]


@pytest.mark.parametrize(
    "body",
    [
        document(),
        document(
            "SampleJob", spec={"type": "sync", "syncOptions": {"source": "s3://a.s3.example.com/", "delete-dst": True}}
        ),
        document(spec={"tolerations": [{"key": "a"}], "nodeAffinity": {}}),
        {"kind": "Platform"},
    ],
)
def test_good_documents_pass(body: dict[str, Any]) -> None:
    assert errors(body) == []


@pytest.mark.parametrize("body", [None, {"apiVersion": "v1", "kind": "ConfigMap"}, {"apiVersion": "v1", "kind": "a"}])
def test_other_documents_allowed_among_the_specs_pass(body: Any) -> None:
    assert errors(body) == []


@pytest.mark.parametrize("version", ["batch.paddlepaddle.org", "batch.paddlepaddle.org/v9", "stowplan.dev/v1alpha1"])
def test_a_kind_that_is_not_of_its_group_is_a_mistake(version: str) -> None:
    assert errors({"apiVersion": version, "kind": "a"}) == [f"$.kind: 'a' is not one of {sorted(KINDS)}"]


def test_the_platform_file_may_be_an_empty_mapping() -> None:
    assert errors({}, "platform.schema.json") == []


def our_documents(path: Path) -> list[dict[str, Any]]:
    bodies = yaml.safe_load_all(path.read_text(encoding="utf-8"))
    return [body for body in bodies if isinstance(body, dict) and body.get("kind") in KINDS]


def test_documents_of_the_old_system_pass() -> None:
    bodies = [body for path in sorted(CORPUS.glob("sample*.yaml")) for body in our_documents(path)]
    if not bodies:
        pytest.skip("no corpus beside the checkout")
    assert [errors(body) for body in bodies] == [[]] * len(bodies)


def test_the_lock_file_of_the_example_passes_and_a_short_digest_does_not() -> None:
    body = yaml.safe_load((REPOSITORY / "examples/pins/stowplan.lock").read_text(encoding="utf-8"))
    assert errors(body, "lock.schema.json") == []
    next(iter(body["images"].values()))["digest"] = "sha256:3f2a1b0c"
    assert errors(body, "lock.schema.json") != []


def test_the_examples_pass() -> None:
    specs = sorted(REPOSITORY.glob("examples/*/specs/**/*.yaml"))
    assert {str(path): said for path in specs for body in our_documents(path) if (said := errors(body))} == {}
    platforms = {
        path: yaml.safe_load(path.read_text(encoding="utf-8")) for path in REPOSITORY.glob("examples/*/stowplan.yaml")
    }
    assert {
        str(path): found for path, body in platforms.items() if (found := errors(body or {}, "platform.schema.json"))
    } == {}


@pytest.mark.parametrize(
    ("profile", "wrong"),
    [
        ("h100: {nodeSelector: {a: b}, tolerations: [{key: a, operator: Exists}], nodes: 4}", False),
        ("h100: {nodeSelectors: {a: b}}", True),
        ("h100: {nodes: four}", True),
        ("h100: {tolerations: [{keys: a}]}", True),
        ("H100: {nodes: 4}", True),
    ],
)
def test_a_mistake_in_a_profile_is_found(profile: str, *, wrong: bool) -> None:
    body = yaml.safe_load(f"profiles: {{accelerators: {{{profile}}}}}")
    assert bool(errors(body, "platform.schema.json")) == wrong


REWRITTEN = {
    "legacy-live-object",
    "mx-job-old-spellings",
    "paddle-job-live-object",
    "platform-unknown-fields",
    "training-job-old-spellings",
}
"""Cases with spellings of old systems and fields that only the cluster sets. The compiler speaks of them too."""


def test_no_valid_case_has_a_mistake() -> None:
    found = {
        name: said
        for name, path in CASES.items()
        for body in our_documents(path)
        if (said := errors(body, "platform.schema.json" if body["kind"] == "Platform" else COMBINED))
    }
    assert found.keys() == REWRITTEN, found


def flagged(path: Path) -> bool:
    """Whether an editor shows a mistake in a document of an invalid case."""
    files = [path] if path.is_file() else [*path.glob("specs/**/*.y*ml"), *path.glob("stowplan.yaml")]
    return any(
        errors(body, "platform.schema.json" if file.name == "stowplan.yaml" else COMBINED)
        for file in files
        for body in yaml.safe_load_all(file.read_text(encoding="utf-8"))
        if body is not None
    )


@pytest.mark.parametrize(("hundred", "least"), [("SP2", 78), ("SP4", 35)])
def test_editors_show_what_a_schema_can_say(hundred: str, least: int) -> None:
    """Mistakes in the fields of one document. The others need arithmetic, a list by key, the platform or another spec.

    Before editors had patterns, required fields and the types of Kubernetes, they showed 54 and none of these.
    """
    wrong = [path for name, path in INVALID_CASES.items() if name.startswith(hundred) and "error SP" in output(path)]
    shown = [path for path in wrong if flagged(path)]
    assert len(shown) >= least, sorted(path.stem for path in wrong if path not in shown)


def output(path: Path) -> str:
    """What the command says of an invalid case."""
    return path.with_name(f"{path.stem}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("version", KUBERNETES_VERSIONS)
def test_types_of_kubernetes_are_those_of_the_version(version: str) -> None:
    schema = json.loads(export.schemas(version)[KUBERNETES])
    validator(COMBINED).check_schema(schema)
    assert schema["title"] == f"Types of Kubernetes {version}"
    assert {"io.k8s.api.core.v1.PodTemplateSpec", "io.k8s.api.core.v1.Container"} <= schema["definitions"].keys()
    references = set(re.findall(r'"\$ref": "#/definitions/([^"]+)"', json.dumps(schema)))
    assert references <= schema["definitions"].keys()
