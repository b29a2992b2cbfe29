"""The kinds as constructs."""

from collections.abc import Iterator
from copy import deepcopy
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import yaml
from cdk8s import App, Chart
from constructs import Construct

from stowplan.library import constructs
from stowplan.library.constructs import (
    DataCube,
    Dataset,
    SampleJob,
    SampleSet,
    SpecApp,
    SpecConstruct,
    SpecError,
    Training,
)
from stowplan.library.dialects.shared.context import Context
from stowplan.library.manifest import Json
from stowplan.schema.kinds.sample_set import SampleSet as SampleSetModel
from stowplan.schema.kinds.table import DATASET_KINDS, KINDS
from stowplan.schema.meta import ObjectId
from stowplan.schema.platform.platform import Platform
from tests.repositories import EXAMPLES, OUTPUTS, example
from tests.unit.library.constructs.units import CHECKS
from tests.unit.trainings import dataset, training

FLOWERS: dict[str, Any] = {
    "apiVersion": "batch.paddlepaddle.org/v1alpha1",
    "kind": "SampleSet",
    "metadata": {"name": "flowers"},
    "spec": {"partitions": 1, "noSync": True, "secretRef": {"name": "volume"}},
}
WARMUP: dict[str, Any] = {"type": "warmup", "sample_set_ref": {"name": "flowers"}}
SOURCE = "stowplan.dev/source"


def app(platform: Platform | None = None) -> SpecApp:
    context = Context(platform or Platform(), version("stowplan"))
    return SpecApp(context, (), Path(__file__).parent, CHECKS)


def chart(platform: Platform | None = None, **properties: Any) -> Chart:
    return Chart(app(platform), "chart", **properties)


def flowers(**spec: Any) -> dict[str, Any]:
    return {**deepcopy(FLOWERS), "spec": {**FLOWERS["spec"], **spec}}


def bodies(construct: Construct) -> dict[ObjectId, Json]:
    """All objects of the app around a construct, without the annotation that has the file."""
    around = construct.node.root
    assert isinstance(around, SpecApp)
    manifests = [manifest for unit in around.extended().units for manifest in unit.manifests]
    return {each.id: without_source(each.body) for each in manifests}


def without_source(body: Json) -> Json:
    metadata = body["metadata"]
    notes = {key: value for key, value in (metadata.get("annotations") or {}).items() if key != SOURCE}
    bare = {key: value for key, value in metadata.items() if key != "annotations"}
    return {**body, "metadata": {**bare, "annotations": notes} if notes else bare}


def documents(name: str) -> Iterator[dict[str, Any]]:
    """The specs of an example, datasets first, as Python has to have them."""
    files = sorted(EXAMPLES[name].glob("specs/**/*.yaml"))
    found = [each for file in files for each in yaml.safe_load_all(file.read_text())]
    return (each for sets in (True, False) for each in found if (each["kind"] in DATASET_KINDS) is sets)


def by_fields(document: dict[str, Any]) -> dict[str, Any]:
    """The arguments that give the same spec field by field."""
    fields: Any = KINDS[document["kind"]].model.model_fields["spec"].annotation
    names = {each.alias: name for name, each in fields.model_fields.items()}
    return {
        "metadata": document["metadata"],
        **{names.get(key, key): value for key, value in document["spec"].items()},
    }


@pytest.mark.parametrize("form", ["document", "fields"])
@pytest.mark.parametrize("name", [name for name in OUTPUTS if name in EXAMPLES and name not in ("extension", "pins")])
def test_specs_have_the_objects_that_synth_writes(name: str, form: str) -> None:
    platform = Platform.model_validate(yaml.safe_load((EXAMPLES[name] / "stowplan.yaml").read_text()) or {})
    here = chart(platform)
    known = [each for each in documents(name) if each["kind"] in KINDS]
    known.sort(key=lambda each: (each["kind"] not in DATASET_KINDS, "runAfter" in each["spec"]))
    for number, each in enumerate(known):
        kind = getattr(constructs, each["kind"])
        given = {"spec": each} if form == "document" else by_fields(each)
        kind(here, f"n{number}", **given)
    written = {x.manifest.id: without_source(x.manifest.body) for x in example(name).outputs if x.spec}
    assert bodies(here) == written


def test_a_model_and_its_document_give_the_same() -> None:
    model = SampleSetModel.model_validate(flowers())
    assert bodies(SampleSet(chart(), "a", spec=model)) == bodies(SampleSet(chart(), "a", spec=flowers()))


@pytest.mark.parametrize(
    ("around", "platform", "expected"),
    [
        (None, Platform(), "default"),
        (None, Platform(defaultNamespace="mine"), "mine"),
        ("charted", Platform(defaultNamespace="mine"), "charted"),
    ],
)
def test_a_spec_without_namespace_takes_the_chart_s_then_the_platform_s(
    around: str | None, platform: Platform, expected: str
) -> None:
    made = SampleSet(chart(platform, namespace=around), "flowers", spec=flowers())
    assert made.spec_id.namespace == expected
    assert made.object("PersistentVolumeClaim", "flowers").to_json()["metadata"]["namespace"] == expected


def test_a_spec_may_be_directly_in_the_app() -> None:
    assert SampleSet(app(), "flowers", **by_fields(flowers())).spec_id.namespace == "default"


def test_objects_have_the_labels_of_the_user_s_chart() -> None:
    made = SampleSet(chart(labels={"team": "x"}), "flowers", spec=flowers())
    assert {each["metadata"]["labels"]["team"] for each in bodies(made).values()} == {"x"}


def test_the_name_is_the_id_unless_metadata_has_another() -> None:
    here = chart()
    assert SampleSet(here, "flowers", **by_fields(flowers())).spec_id.name == "flowers"
    labelled = SampleSet(here, "b", **by_fields({**flowers(), "metadata": {"labels": {"a": "b"}}}))
    assert labelled.spec_id.name == "b"
    assert labelled.model.metadata.labels == {"a": "b"}


def test_a_task_finds_the_dataset_that_was_made_before() -> None:
    here = chart(namespace="vision")
    SampleSet(here, "flowers", spec=flowers(partitions=2))
    jobs = [kind for kind, _ in SampleJob(here, "again", **WARMUP).objects if kind == "Job"]
    assert len(jobs) == 2


def test_a_dataset_gives_the_names_of_its_objects_and_its_mount() -> None:
    here = chart(namespace="ml")
    c4 = Dataset(here, "c4", volume={"juicefs": {"secretRef": {"name": "v"}}}, cache={"nodes": 1})
    assert (c4.claim_name, c4.service, c4.stateful_set) == ("c4", "c4-runtime-service", "c4-runtime")
    assert {("Service", c4.service), ("StatefulSet", c4.stateful_set)} <= c4.objects.keys()
    plain = Dataset(here, "mine", volume={"claim": {"name": "held"}})
    assert (plain.claim_name, plain.service, plain.stateful_set) == ("held", None, None)
    mount = c4.mount("/data", wait=True, read_only=False)
    assert mount.model_dump(exclude_unset=True) == {"name": "c4", "mountPath": "/data", "wait": {}, "readOnly": False}
    assert c4.reference == {"kind": "Dataset", "name": "c4"}


def test_a_changed_prop_changes_the_objects() -> None:
    def nodes(number: int) -> Json:
        made = Dataset(chart(), "c4", volume={"juicefs": {"secretRef": {"name": "v"}}}, cache={"nodes": number})
        body: Json = made.object("StatefulSet", "c4-runtime").to_json()
        return body

    assert [nodes(number)["spec"]["replicas"] for number in (1, 3)] == [1, 3]


def test_all_schema_errors_are_reported_at_once() -> None:
    spec = flowers(partitions="two", partition=2, csi={"driver": "nfs"})
    with pytest.raises(SpecError) as caught:
        SampleSet(chart(), "flowers", spec=spec)
    assert [(found.code, found.path) for found in caught.value.findings] == [
        ("SP204", ("spec", "csi", "driver")),
        ("SP201", ("spec", "partition")),
        ("SP203", ("spec", "partitions")),
    ]
    assert 'spec.partition: SP201: "partition" is not a field here. Did you mean "partitions"?' in str(caught.value)


def test_a_field_that_is_none_is_refused() -> None:
    given: Any = {"num_node": 2}
    with pytest.raises(TypeError, match=r'A Training has no field num_node\. Did you mean "num_nodes"\?'):
        Training(chart(), "train", **given)


def test_fields_beside_a_spec_are_refused() -> None:
    with pytest.raises(TypeError, match="its fields or by `spec`"):
        SampleSet(chart(), "flowers", spec=flowers(), partitions=2)


def test_an_app_of_cdk8s_alone_is_refused() -> None:
    with pytest.raises(TypeError, match=r"`stowplan\.compiler\.app\.App` in place of `cdk8s\.App`"):
        SampleSet(Chart(App(), "chart"), "flowers", spec=flowers())


def test_two_specs_of_one_name_are_refused() -> None:
    here = chart()
    SampleSet(here, "a", spec=flowers())
    with pytest.raises(ValueError, match="There is a SampleSet default/flowers already"):
        SampleSet(here, "b", spec=flowers())


def test_legacy_spellings_are_accepted_and_reported() -> None:
    made = SampleSet(chart(), "flowers", spec={**flowers(), "status": {"phase": "Ready"}})
    assert "SP211" in [found.code for found in made.findings]


def test_the_platform_may_let_unknown_fields_go() -> None:
    platform = Platform.model_validate({"policy": {"unknownFields": "warn"}})
    made = SampleSet(chart(platform), "flowers", spec=flowers(partition=2))
    assert [found.severity for found in made.findings if found.code == "SP201"] == ["warning"]


def test_all_errors_of_the_kind_s_rules_are_reported_at_once() -> None:
    with pytest.raises(SpecError, match="SampleSet default/flowers cannot be compiled") as caught:
        SampleSet(chart(), "flowers", no_sync=True)
    assert [found.code for found in caught.value.findings] == ["SP404", "SP401"]


def test_a_task_on_another_dataset_is_refused() -> None:
    with pytest.raises(SpecError, match="SP302"):
        SampleJob(chart(), "again", type="warmup", sample_set_ref={"name": "trees"})


MIRRORED = {"type": "s3", "s3": {"anonymous": True}, "options": [{"name": "s3-uri", "value": "s3://models/llama/"}]}
CLAIM = {"type": "pvc", "pvc": {"name": "work"}}


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"executor": {"env": [{"name": "A", "valueFrom": "b"}]}}, "valueFrom"),
        ({"executor": {"env": [{"value": "b"}]}}, "name"),
        ({"executor": {"env": [{"name": "A", "valueFrom": {"secretKeyRef": []}}]}}, "secretKeyRef"),
        ({"executor": {"resources": {"limits": ["cpu"]}}}, "limits"),
        ({"executor": {"securityContext": {"seccompProfile": "x"}}}, "seccompProfile"),
        ({"sink": {"type": "pvc", "pvc": {"name": "work", "template": {"spec": {"resources": 1}}}}}, "resources"),
        ({"sink": {"type": "pvc", "pvc": {"name": "work", "template": {"spec": {"accessModes": 1}}}}}, "accessModes"),
        ({"source": {**MIRRORED, "caBundle": {"secretKeyRef": {"name": "a"}}}}, "key"),
    ],
)
def test_values_of_another_shape_are_refused(value: dict[str, Any], path: str) -> None:
    given: Any = {"source": MIRRORED, "sink": CLAIM, **value}
    with pytest.raises(SpecError) as raised:
        DataCube(chart(), "train", **given)
    assert ("SP213", path) in [(found.code, found.path[-1]) for found in raised.value.findings]


def test_a_job_does_not_wait_for_a_dataset_with_errors() -> None:
    wrong = dataset("c4", source={"s3": {"uri": "s3://bucket/c4"}}, refresh={"schedule": "never"})
    here = chart()
    with pytest.raises(SpecError, match=r"Dataset ml/c4 cannot be compiled:\n  spec\.refresh\.schedule: SP415"):
        Dataset(here, "c4", spec=wrong)
    with pytest.raises(SpecError, match="SP302"):
        Training(here, "train", spec=training(datasets=[{"name": "c4", "mountPath": "/c4", "wait": {}}]))


def test_what_runs_depends_on_nothing_else_that_runs() -> None:
    here = chart()
    source = {"s3": {"uri": "s3://bucket/c4", "secretRef": {"name": "s"}}}
    one, two = (Dataset(here, name, source=source, volume={"claim": {"name": name}}) for name in ("one", "two"))
    one.node.add_dependency(two)
    around = here.node.root
    assert isinstance(around, SpecApp)
    with pytest.raises(ValueError, match=r"chart/one runs something.* `wait` or `run_after`"):
        around.extended()


def test_constructs_are_named_like_kinds() -> None:
    made = [getattr(constructs, kind) for kind in KINDS]
    assert all(issubclass(each, SpecConstruct) for each in made)
    assert set(KINDS) <= set(constructs.__all__)


def test_props_have_types() -> None:
    """mypy calls a comment below unused, which fails, if it takes the argument."""
    with pytest.raises(SpecError, match=r'spec\.numNodes: SP\d+: Found the string "two"'):
        Training(chart(), "a", framework="torch", image="a:1", num_nodes="two")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r'no field numNodes\. Did you mean "num_nodes"'):
        Training(chart(), "a", framework="torch", image="a:1", numNodes=2)  # type: ignore[call-arg]
