"""The kinds as constructs in a user's own app."""

import importlib.util
from copy import deepcopy
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from cdk8s import App, Chart
from constructs import IConstruct

from stowplan.compiler.diagnostics.report import Report
from stowplan.library.composition.tree import object_id
from stowplan.library.constructs import (
    DataCube,
    MxJob,
    PaddleJob,
    SampleJob,
    SampleSet,
    SpecChart,
    SpecError,
    Training,
    TrainingJob,
)
from stowplan.library.dialects.registry import lower
from stowplan.library.dialects.shared.context import Context
from stowplan.schema.kinds.sample_job import SampleJob as SampleJobModel
from stowplan.schema.kinds.sample_set import SampleSet as SampleSetModel
from stowplan.schema.meta import SpecId
from stowplan.schema.platform.platform import Platform
from tests.repositories import EXAMPLES, synthesised
from tests.repositories import example as compiled_example
from tests.unit.specs import platform
from tests.unit.trainings import dataset, training

EXAMPLE = Path(__file__).parents[4] / "examples" / "constructs"
FLOWERS: dict[str, Any] = {
    "apiVersion": "batch.paddlepaddle.org/v1alpha1",
    "kind": "SampleSet",
    "metadata": {"name": "flowers"},
    "spec": {"partitions": 1, "noSync": True, "secretRef": {"name": "volume"}},
}
WARMUP: dict[str, Any] = {
    "apiVersion": "batch.paddlepaddle.org/v1alpha1",
    "kind": "SampleJob",
    "metadata": {"name": "again"},
    "spec": {"type": "warmup", "sampleSetRef": {"name": "flowers"}},
}


def flowers(**spec: Any) -> dict[str, Any]:
    return {**deepcopy(FLOWERS), "spec": {**FLOWERS["spec"], **spec}}


def chart(**properties: Any) -> Chart:
    return Chart(App(), "chart", **properties)


def example_app() -> App:
    spec = importlib.util.spec_from_file_location("example_constructs", EXAMPLE / "main.py")
    assert spec
    assert spec.loader
    module: ModuleType = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    app = module.build()
    assert isinstance(app, App)
    return app


def compiled_app() -> App:
    """The example's specs as the compiler puts them together."""
    source = "specs/flowers.yaml"
    dataset_data, job_data = yaml.safe_load_all((EXAMPLE / source).read_text())
    dataset, task = SampleSetModel.model_validate(dataset_data), SampleJobModel.model_validate(job_data)
    context = Context(
        Platform.model_validate(yaml.safe_load((EXAMPLE / "stowplan.yaml").read_text())),
        version("stowplan"),
        {SpecId("SampleSet", "vision", "flowers"): dataset},
        {("SampleSet", "vision", "flowers"): source, ("SampleJob", "vision", "flowers-morning"): source},
    )
    app = App()
    for model in (dataset, task):
        SpecChart(app, lower(model, context).unit)
    return app


def paths(app: App) -> list[str]:
    def path(construct: IConstruct) -> str:
        return str(construct.node.path)

    return [path(construct) for construct in app.node.find_all()]


def test_an_app_of_one_s_own_has_the_compiler_s_tree_and_objects() -> None:
    own, compiled = example_app(), compiled_app()
    assert [path for path in paths(own) if not path.startswith("ours")] == paths(compiled)
    rendered = {chart.node.id: chart.to_json() for chart in own.charts}
    assert [each["kind"] for each in rendered.pop("ours")] == ["ResourceQuota"]
    assert rendered == {chart.node.id: chart.to_json() for chart in compiled.charts}


def test_an_app_of_one_s_own_has_the_objects_that_synth_writes(tmp_path: Path) -> None:
    report = Report()
    compiled = synthesised(EXAMPLE, tmp_path / "out", report)
    assert not report.failed
    written = {each.manifest.id: each.manifest.body for each in compiled.outputs if each.spec}
    own = {object_id(body): body for chart in example_app().charts for body in chart.to_json()}
    assert {identity: body for identity, body in own.items() if identity.kind != "ResourceQuota"} == written


def test_a_model_and_its_document_give_the_same() -> None:
    model = SampleSetModel.model_validate(flowers())
    assert SampleSet(chart(), "a", spec=flowers()).model.spec == SampleSet(chart(), "a", spec=model).model.spec


@pytest.mark.parametrize(
    ("chart_namespace", "platform", "expected"),
    [
        (None, None, "default"),
        (None, Platform(defaultNamespace="mine"), "mine"),
        ("charted", Platform(defaultNamespace="mine"), "charted"),
    ],
)
def test_a_spec_without_namespace_takes_the_chart_s_then_the_platform_s(
    chart_namespace: str | None, platform: Platform | None, expected: str
) -> None:
    made = SampleSet(chart(namespace=chart_namespace), "flowers", spec=flowers(), platform=platform)
    assert made.spec_id.namespace == expected
    assert made.object("PersistentVolumeClaim", "flowers").metadata.namespace == expected


@pytest.mark.parametrize("form", ["construct", "model", "document"])
def test_a_task_takes_its_dataset_in_any_form(form: str) -> None:
    here = chart(namespace="vision")
    dataset: Any = flowers(partitions=2)
    if form == "construct":
        dataset = SampleSet(here, "flowers", spec=dataset)
    elif form == "model":
        dataset = SampleSetModel.model_validate(dataset)
    jobs = [kind for kind, _ in SampleJob(here, "again", spec=WARMUP, sample_set=dataset).objects if kind == "Job"]
    assert len(jobs) == 2


def test_a_task_takes_the_platform_of_its_dataset() -> None:
    here = chart()
    dataset = SampleSet(here, "flowers", spec=flowers(), platform=Platform(defaultNamespace="mine"))
    assert SampleJob(here, "again", spec=WARMUP, sample_set=dataset).spec_id.namespace == "mine"


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


def test_legacy_spellings_are_accepted_and_reported() -> None:
    status = {**flowers(), "status": {"phase": "Ready"}}
    made = SampleSet(chart(), "flowers", spec=status)
    assert "SP211" in [found.code for found in made.findings]


def test_the_platform_may_let_unknown_fields_go() -> None:
    platform = Platform.model_validate({"policy": {"unknownFields": "warn"}})
    made = SampleSet(chart(), "flowers", spec=flowers(partition=2), platform=platform)
    assert [found.severity for found in made.findings if found.code == "SP201"] == ["warning"]


def test_all_errors_of_the_kind_s_rules_are_reported_at_once() -> None:
    spec = flowers()
    del spec["spec"]["secretRef"], spec["spec"]["partitions"]
    with pytest.raises(SpecError, match="SampleSet default/flowers cannot be compiled") as caught:
        SampleSet(chart(), "flowers", spec=spec)
    assert [found.code for found in caught.value.findings] == ["SP404", "SP401"]


def test_a_task_on_another_dataset_is_refused() -> None:
    spec = {**WARMUP, "spec": {**WARMUP["spec"], "sampleSetRef": {"name": "trees"}}}
    with pytest.raises(SpecError, match="SP302"):
        SampleJob(chart(), "again", spec=spec, sample_set=flowers())


def test_warnings_are_kept_by_the_construct() -> None:
    made = SampleSet(chart(), "flowers", spec=flowers(cache={"levels": [{"mediumType": "SSD", "path": "/a"}]}))
    assert made.findings
    assert not [found for found in made.findings if found.severity == "error"]


@pytest.mark.parametrize(
    ("example", "kind"),
    [("wide-and-deep", PaddleJob), ("trainingjob", TrainingJob), ("mxnet", MxJob), ("gang-jobset", PaddleJob)],
)
def test_training_jobs_have_the_objects_that_synth_writes(example: str, kind: Any) -> None:
    folder = EXAMPLES[example]
    platform = Platform.model_validate(yaml.safe_load((folder / "stowplan.yaml").read_text()))
    documents = {path: yaml.safe_load(path.read_text()) for path in sorted(folder.glob("specs/*.yaml"))}
    datasets = [document for document in documents.values() if document["kind"] == "SampleSet"]
    own: dict[Any, Any] = {}
    for path, document in documents.items():
        if document["kind"] == kind.__name__:
            more = {"sample_set": datasets[0]} if datasets else {}
            here = chart()
            kind(here, "job", spec=document, platform=platform, source=str(path.relative_to(folder)), **more)
            own |= {object_id(body): body for body in here.to_json()}
    written = {
        each.manifest.id: each.manifest.body
        for each in compiled_example(example).outputs
        if each.spec and each.spec.kind == kind.__name__
    }
    assert own == written


def test_data_cubes_have_the_objects_that_synth_writes() -> None:
    folder = EXAMPLES["datacube"]
    platform = Platform.model_validate(yaml.safe_load((folder / "stowplan.yaml").read_text()))
    here = chart()
    for path in sorted(folder.glob("specs/*.yaml")):
        for document in yaml.safe_load_all(path.read_text()):
            name = document["metadata"]["name"]
            DataCube(here, name, spec=document, platform=platform, source=str(path.relative_to(folder)))
    written = {each.manifest.id: each.manifest.body for each in compiled_example("datacube").outputs if each.spec}
    assert {object_id(body): body for body in here.to_json()} == written


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
    spec = {
        "apiVersion": "tensorstack.dev/v1beta1",
        "kind": "DataCube",
        "metadata": {"name": "train"},
        "spec": {"source": MIRRORED, "sink": CLAIM, **value},
    }
    with pytest.raises(SpecError) as raised:
        DataCube(chart(), "train", spec=spec)
    assert [(found.code, found.path[-1]) for found in raised.value.findings] == [("SP213", path)]


def test_a_job_does_not_wait_for_a_dataset_with_errors() -> None:
    given = training(datasets=[{"name": "c4", "mountPath": "/c4", "wait": {}}])
    wrong = dataset("c4", source={"s3": {"uri": "s3://bucket/c4"}}, refresh={"schedule": "never"})
    with pytest.raises(SpecError, match=r"Dataset ml/c4 cannot be compiled:\n  spec\.refresh\.schedule: SP415"):
        Training(chart(), "train", spec=given, platform=platform(), datasets=[wrong])
