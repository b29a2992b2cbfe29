"""The graph of a change: what each kind of spec reads, writes and waits for."""

from typing import Any

import pytest

from stowplan.compiler.diagnostics.document import Document, Node
from stowplan.compiler.diagnostics.locations import Mark
from stowplan.compiler.model import OutputFile, Program
from stowplan.compiler.review.graph import graph
from stowplan.compiler.review.scene import Scene, Scenes
from stowplan.library.dialects.reading.api import Address, Reading
from stowplan.library.dialects.registry import DIALECTS
from stowplan.library.dialects.shared.dialect import Dialect
from stowplan.library.manifest import Manifest
from stowplan.schema.kinds.kind import values
from stowplan.schema.kinds.table import KINDS
from stowplan.schema.platform.platform import Platform


def edges(*bodies: tuple[str, Any], annotations: Any = None) -> list[str]:
    """The edges between the resources `a`, `b`, ... of these kinds and specs, each as `start > end: text`."""
    scene = Scene(
        "", {}, [output(*each, name, annotations) for name, each in zip("ab", bodies, strict=False)], (), PROGRAM
    )
    nodes, found = graph(Scenes((scene,)))
    titles = {node.id: node.title for node in nodes}
    return [f"{titles[each.start]} > {titles[each.end]}: {each.text}" for each in found]


PROGRAM = Program(Platform(), Document("stowplan.yaml", 0, Node({}, Mark(1, 1), Mark(1, 1), {})), ())


def output(kind: str, spec: Any, name: str, annotations: Any) -> OutputFile:
    metadata = {"name": name, "namespace": "ml", "annotations": annotations}
    body = {"apiVersion": KINDS[kind].api_version, "kind": kind, "metadata": metadata, "spec": spec}
    return OutputFile(f"ml/{name}.yaml", Manifest(body, name), None, "specs/a.yaml")


HUB = {"huggingface": {"repo": "acme/c4", "revision": "v1"}}


@pytest.mark.parametrize(
    ("kind", "spec", "edge"),
    [
        ("Dataset", {"source": {"s3": {"uri": "s3://a/b/"}}}, "s3://a/b/ > Dataset a: "),
        ("Dataset", {"source": HUB}, "hf://datasets/acme/c4@v1 > Dataset a: "),
        ("Dataset", {"source": {"storage": {"uri": "oss://a/b/"}}}, "oss://a/b/ > Dataset a: "),
        ("SampleSet", {"source": {"uri": "s3://a/b/"}}, "s3://a/b/ > SampleSet a: "),
        ("SampleJob", {"syncOptions": {"source": "s3://a/b/"}}, "s3://a/b/ > SampleJob a: "),
        ("DatasetTask", {"copy": {"to": {"claim": {"name": "c"}}}}, "DatasetTask a > claim c: "),
        ("Training", {"code": {"git": {"url": "https://a/b", "ref": "v1"}}}, "https://a/b@v1 > Training a: code"),
        ("Training", {"outputs": [{"to": {"s3": {"uri": "s3://a/b/"}}}]}, "Training a > s3://a/b/: "),
        ("DataCube", {"sink": {"type": "pvc", "pvc": {"name": "c"}}}, "DataCube a > claim c: "),
        ("DataCube", {"sink": {"type": "pvc", "pvc": {"template": {}}}}, "DataCube a > claim new: "),
        (
            "DataCube",
            {"source": {"type": "s3", "options": [{"name": "s3-uri", "value": "s3://a/b/"}]}},
            "s3 s3://a/b/ > DataCube a: ",
        ),
    ],
)
def test_where_data_comes_from_and_goes_to(kind: str, spec: Any, edge: str) -> None:
    assert edges((kind, spec)) == [edge]


def test_an_option_that_no_remote_has_is_no_address() -> None:
    source = {"type": "git", "options": [{"name": "repository", "value": "https://a/b"}]}
    assert edges(("DataCube", {"source": source})) == ["git > DataCube a: "]


@pytest.mark.parametrize(
    ("dataset", "kind", "spec", "text"),
    [
        ("Dataset", "Training", {"datasets": [{"name": "a"}]}, ""),
        ("Dataset", "Training", {"datasets": [{"name": "a", "wait": {}}]}, "waits until ready"),
        ("Dataset", "Training", {"datasets": [{"name": "a", "wait": {"until": "warmed"}}]}, "waits until warmed"),
        ("Dataset", "DatasetTask", {"datasetRef": {"name": "a"}}, ""),
        ("SampleSet", "SampleJob", {"sampleSetRef": {"name": "a"}}, ""),
        ("SampleSet", "PaddleJob", {"sampleSetRef": {"name": "a", "wait": {}}}, "waits until ready"),
    ],
)
def test_which_dataset_a_spec_uses(dataset: str, kind: str, spec: Any, text: str) -> None:
    assert edges((dataset, {}), (kind, spec)) == [f"{dataset} a > {kind} b: {text}"]


@pytest.mark.parametrize(
    ("kind", "spec", "annotation"),
    [("DatasetTask", {"runAfter": [{"kind": "Training", "name": "a"}, 1, {}]}, None), ("MxJob", {}, "Training/a")],
)
def test_what_a_spec_runs_after(kind: str, spec: Any, annotation: str | None) -> None:
    notes = {"stowplan.dev/run-after": annotation} if annotation else None
    assert edges(("Training", {}), (kind, spec), annotations=notes) == [f"Training a > {kind} b: runs after"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spec", [None, 1, [], dict.fromkeys(("source", "sink", "copy", "outputs", "code"), 1)])
def test_a_resource_of_another_form_has_no_edges(kind: str, spec: Any) -> None:
    assert edges((kind, spec), annotations=1) == []


def test_a_kind_says_itself_what_it_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = Reading(sources=lambda document: [Address(str(each)) for each, _ in values(document, "spec", "from")])
    own = DIALECTS["MxJob"]
    monkeypatch.setitem(DIALECTS, "MxJob", Dialect(own.lower, own.relations, reading=reading))
    assert edges(("MxJob", {"from": "ftp://a"})) == ["ftp://a > MxJob a: "]
