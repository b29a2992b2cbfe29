"""Charts rendered by the Node.js process of the compiler."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cdk8s import App

from stowplan.compiler.compiling.reading import read
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.environments.target import Target
from stowplan.compiler.lowering.lower import lower
from stowplan.compiler.repository.layout import Repository
from stowplan.compiler.repository.load import Checkout
from stowplan.library.composition import node, rendering
from stowplan.library.composition.crossing import crosses
from stowplan.library.composition.node_composer import NodeComposer
from stowplan.library.composition.packages import SCRIPT, unpack
from stowplan.library.composition.rendering import _request
from stowplan.library.composition.tree import chart_id, chart_of, rendered
from stowplan.library.constructs import SpecChart
from stowplan.library.manifest import Json, Unit
from stowplan.library.values import labels
from stowplan.schema.kinds.table import DATASET_KINDS
from stowplan.schema.meta import SpecId
from tests.repositories import EXAMPLES, example
from tests.unit.library.constructs.units import body, unit

BUILT = """
const { build } = require('./compose.js');
const charts = build(JSON.parse(require('fs').readFileSync(0)));
const paths = charts[0].node.root.node.findAll().map((each) => each.node.path);
console.log(JSON.stringify({ paths, objects: charts.flatMap((each) => each.toJson()) }));
"""
HEAD = ("apiVersion", "kind", "metadata")
"""What cdk8s gets of an object."""
ODD = unit(
    body("Service", "a", spec={"ports": [{"port": 80}], "selector": {}}),
    body("ConfigMap", "b", "elsewhere", data={"2": "two", "10": "ten", "é": "\u2028\U0001f600\x07"}),
    body("ClusterRole", "c", "", rules=[], apiVersion="rbac.authorization.k8s.io/v1"),
    body("Job", "d", metadata={"labels": {"x": "y"}, "annotations": {}, "finalizers": ["z"]}, spec={"x": 0.5}),
)


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("npm")
    unpack(folder)
    return folder


@pytest.fixture
def started(packages: Path) -> Iterator[NodeComposer]:
    with closing(NodeComposer(packages)) as found:
        yield found


def render(started: NodeComposer, *units: Unit) -> list[list[Json]]:
    """The bodies of each unit as cdk8s rendered them."""
    charts = started.render([chart_of(each) for each in units])
    return [[manifest.body for part in chart.parts for manifest in part.manifests] for chart in charts]


def bodies(one: Unit) -> list[Json]:
    return [manifest.body for manifest in rendered(one).manifests]


def dumped(value: object) -> str:
    """JSON, in which numbers of different types differ."""
    return json.dumps(value, sort_keys=True)


def built(one: Unit, packages: Path) -> Any:
    """Return the script's result for a unit: paths of the tree, and objects."""
    ended = subprocess.run(
        [node.program(), "-e", BUILT],
        cwd=packages,
        input=json.dumps(_request(chart_of(one), set())),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return json.loads(ended.stdout)


def of_example(name: str) -> list[Unit]:
    """The units of an example, before their charts give anything to them."""
    checkout, report = Checkout(Repository(EXAMPLES[name])), Report()
    reading = read(checkout, Target.whole(checkout.platform), (), report)
    return lower(reading.program.specs, reading.program, reading.context, report)


def compare_trees(one: Unit, packages: Path) -> None:
    """Hold that the script builds the tree and the objects of the public constructs."""
    app = App()
    chart = SpecChart(app, chart_id(one.spec), unit=one)
    found = built(one, packages)
    assert found["paths"] == [construct.node.path for construct in app.node.find_all()]
    objects = [body for each in chart.charts for body in each.to_json()]
    assert found["objects"] == [{key: each[key] for key in HEAD} for each in objects]
    assert sorted(map(dumped, objects)) == sorted(map(dumped, bodies(one)))


def test_odd_objects_have_the_tree_of_the_public_constructs(packages: Path) -> None:
    compare_trees(ODD, packages)


@pytest.mark.parametrize("name", ["datacube", "trainingjob", "two-tier-cache"])
def test_specs_have_the_tree_of_the_public_constructs(name: str, packages: Path) -> None:
    for one in of_example(name):
        compare_trees(one, packages)


def test_rendered_bodies_equal_the_built_ones(started: NodeComposer) -> None:
    assert render(started, ODD) == [bodies(ODD)]


def test_a_rendered_manifest_keeps_its_stem_and_run(started: NodeComposer) -> None:
    one = unit(body("Job"))
    (part,) = one.parts
    run = replace(one, parts=(replace(part, own=tuple(replace(x, stem="other", run=True) for x in part.own)),))
    (chart,) = started.render([chart_of(run)])
    ((manifest,),) = (part.own for part in chart.parts)
    assert (manifest.stem, manifest.run) == ("other", True)


@pytest.mark.parametrize("name", ["kitchen-sink", "trainingjob"])
def test_every_object_of_the_examples_can_be_carried(name: str) -> None:
    assert [each.path for each in example(name).outputs if not crosses(each.manifest.body)] == []


def test_requests_and_responses_may_be_larger_than_pipes(started: NodeComposer) -> None:
    notes = {"metadata": {"annotations": {"text": "x" * 10_000}}}
    many = [unit(body(**notes), body("Job"), spec=SpecId("SampleSet", "vision", f"d{n}")) for n in range(100)]
    assert render(started, *many) == [bodies(each) for each in many]
    assert render(started, many[0]) == [bodies(many[0])]


def test_characters_may_be_split_between_two_reads(started: NodeComposer) -> None:
    texts = [
        {"metadata": {"annotations": {"text": "é\u2028\U0001f600x" * number}}} for number in (100_000, 1, 30_000, 7)
    ]
    many = [unit(body(**text), spec=SpecId("SampleSet", "vision", f"d{n}")) for n, text in enumerate(texts)]
    assert render(started, *many) == [bodies(each) for each in many]


@pytest.mark.parametrize("number", [2**60, 1.0])
def test_a_manifest_that_cannot_be_carried_comes_back_as_it_is(started: NodeComposer, number: float) -> None:
    one = unit(body("Job"), body(metadata={"annotations": {"size": number}}), body("Service"))
    assert dumped(render(started, one)) == dumped([bodies(one)])


def test_a_manifest_that_cdk8s_refuses_comes_back_as_it_is(started: NodeComposer) -> None:
    one = unit(body("Job", apiVersion="a/b/c"), body())
    assert render(started, one) == [bodies(one)]


def test_numbers_are_unchanged(started: NodeComposer) -> None:
    numbers = {"small": 1.5e-7, "large": 2**53 - 1, "negative": -1, "half": 0.5}
    one = unit(body(metadata={"annotations": numbers}, data=numbers))
    assert dumped(render(started, one)) == dumped([bodies(one)])


def test_empty_strings_and_empty_maps_are_kept(started: NodeComposer) -> None:
    one = unit(body(data={}, other=[], text="", metadata={"labels": {}, "finalizers": []}))
    assert render(started, one) == [bodies(one)]


def test_the_result_is_the_output_of_cdk8s(packages: Path, tmp_path: Path) -> None:
    """A cdk8s that ignores patches shows that nothing is compared or replaced."""
    shutil.copytree(packages, tmp_path, dirs_exist_ok=True)
    with (tmp_path / "node_modules" / "cdk8s" / "lib" / "api-object.js").open("a") as script:
        script.write("\nexports.ApiObject.prototype.addJsonPatch = () => {};\n")
    with closing(NodeComposer(tmp_path)) as started:
        (found,) = render(started, unit(body(metadata={"finalizers": ["a"]})))
        assert [each["metadata"].get("finalizers") for each in found] == [None]


def test_cdk8s_gives_namespace_and_labels() -> None:
    """With an exchange that returns the heads as they are sent, both are missing."""

    def identity(request: bytes) -> bytes:
        def heads(sent: Json) -> list[Json]:
            own = [head for _, head in sent["objects"]]
            return [*own, *(head for part in sent["parts"] for head in heads(part))]

        return json.dumps([[heads(x["own"]), heads(x["cluster"])] for x in json.loads(request)]).encode()

    one = next(each for each in of_example("imagenet") if each.spec.kind in DATASET_KINDS)
    (chart,) = rendering.render([chart_of(one)], identity)
    given = [each.body["metadata"] for each in rendered(one).manifests]
    bare = [each.body["metadata"] for part in chart.parts for each in part.manifests]
    cluster = [each.kind for each in one.manifests if each.clustered]
    assert cluster == ["PersistentVolume"]
    assert [each.get("namespace", "") for each in given].count("") == len(cluster)
    assert not [each for each in bare if "namespace" in each]
    assert all(labels.of_spec(one.spec).items() <= each["labels"].items() for each in given)
    assert not [each for each in bare if labels.SPEC_NAME in each["labels"]]


def test_packages_further_up_are_not_taken(tmp_path: Path) -> None:
    """Every user may write to the parent of temporary folders, which Node would search."""
    for name in ("cdk8s", "constructs", "yaml", "fast-json-patch"):
        stranger = tmp_path / "node_modules" / name / "index.js"
        stranger.parent.mkdir(parents=True)
        stranger.write_text("process.exit(3);\n")
    folder = tmp_path / "packages"
    unpack(folder)
    with closing(NodeComposer(folder)) as started:
        one = unit(body(data={"a": "b"}))
        assert render(started, one) == [bodies(one)]


def test_a_refusal_of_cdk8s_is_an_internal_error(started: NodeComposer) -> None:
    with pytest.raises(RuntimeError, match=r"refused vision\.sampleset-flowers: .*already a Construct"):
        render(started, unit(body("Job"), body("Job")))


@pytest.mark.parametrize("size", [1, 1_000_000])
def test_a_node_that_dies_is_an_internal_error(started: NodeComposer, size: int) -> None:
    started._process.kill()
    with pytest.raises(RuntimeError, match="Node ended with -9"):
        render(started, unit(body(metadata={"annotations": {"text": "x" * size}})))


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("process.exit(3)", "Node ended with 3"),
        ("process.stdin.on('data', () => process.stdout.write('hello\\n'))", "other than JSON"),
        ("process.stdin.on('data', () => process.stdout.write('[]\\n'))", "did not respond with 1 charts"),
        ("process.stdin.on('data', () => process.stdout.write('[[]]\\n'))", r"refused vision.*: \[\]"),
        ("process.stdin.on('data', () => {})", "Node ended with -9"),
    ],
    ids=["dies", "no JSON", "too few charts", "too few objects", "hangs"],
)
def test_a_node_that_responds_with_nonsense_is_an_internal_error(script: str, message: str, tmp_path: Path) -> None:
    (tmp_path / SCRIPT).write_text(script)
    with closing(NodeComposer(tmp_path, patience=5)) as started, pytest.raises(RuntimeError, match=message):
        render(started, unit(body("Job")))


def test_node_ends_with_its_composer(packages: Path) -> None:
    with closing(NodeComposer(packages)) as found:
        assert found._process.poll() is None
    assert found._process.returncode is not None
