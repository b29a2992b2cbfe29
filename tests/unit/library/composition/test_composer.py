"""Units rendered by a Node of our own."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cdk8s import App

from stowplan.library.composition import Composer, node, unpack
from stowplan.library.composition.tree import chart_id, child_id
from stowplan.library.constructs import SpecChart
from stowplan.library.manifest import Unit
from stowplan.schema.meta import SpecId
from tests.unit.library.constructs.units import body, unit

BUILT = """
const { build } = require('./compose.js');
const chart = build(...JSON.parse(require('fs').readFileSync(0)));
const paths = chart.node.root.node.findAll().map((each) => each.node.path);
console.log(JSON.stringify({ paths, objects: chart.toJson() }));
"""
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
def started(packages: Path) -> Iterator[Composer]:
    with Composer(packages) as found:
        yield found


def render(started: Composer, *units: Unit) -> None:
    started.send(units)
    started.finish()


def built(one: Unit, packages: Path) -> Any:
    """What the script makes of a unit: paths of the tree and objects."""
    ids = [child_id(each, one.spec) for each in one.manifests]
    objects = [each.body for each in one.manifests]
    request = {"chart": chart_id(one.spec), "name": one.spec.name, "ids": ids}
    ended = subprocess.run(
        [node.program(), "-e", BUILT],
        cwd=packages,
        input=json.dumps([request, objects]),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return json.loads(ended.stdout)


def test_tree_and_objects_are_those_of_the_constructs_in_python(packages: Path) -> None:
    app = App()
    chart = SpecChart(app, ODD)
    found = built(ODD, packages)
    assert found["paths"] == [construct.node.path for construct in app.node.find_all()]
    assert len(found["paths"]) == 3 + len(ODD.manifests)
    assert found["objects"] == chart.to_json() == [each.body for each in ODD.manifests]


def test_many_units_are_rendered_as_they_are(started: Composer) -> None:
    """More than pipes hold."""
    text = {"data": {"text": "x" * 10_000}}
    many = [unit(body(**text), body("Job"), spec=SpecId("SampleSet", "vision", f"d{n}")) for n in range(100)]
    render(started, *many)
    render(started, many[0])


def test_a_unit_may_be_larger_than_what_is_read_at_a_time(started: Composer) -> None:
    """Neither lines nor characters end where a read does."""
    texts = [{"data": {"text": "é\u2028\U0001f600x" * number}} for number in (100_000, 1, 30_000, 7)]
    render(started, *(unit(body(**text), spec=SpecId("SampleSet", "vision", f"d{n}")) for n, text in enumerate(texts)))


def test_nobody_waits_for_the_other_where_answers_are_long(started: Composer) -> None:
    """More than pipes hold, both ways: what cdk8s cannot carry comes back whole."""
    one = unit(body(data={"text": "x" * 10_000, "size": 1.0}))
    render(started, *[one] * 500)


@pytest.mark.parametrize("number", [2**60, 1.0])
def test_a_manifest_that_cannot_be_carried_passes_by(started: Composer, number: float) -> None:
    render(started, unit(body("Job"), body(data={"size": number}), body("Service")))


def test_numbers_are_compared_as_numbers(started: Composer) -> None:
    """JavaScript writes the same number in other characters."""
    render(started, unit(body(data={"small": 1.5e-7, "large": 123456789012345680.5e10 + 0.5})))


def test_an_empty_text_and_empty_maps_stay(started: Composer) -> None:
    render(started, unit(body(data={}, other=[], text="", metadata={"labels": {}, "finalizers": []})))


def test_what_cdk8s_changes_is_a_bug_of_ours(packages: Path, tmp_path: Path) -> None:
    """As a cdk8s that forgets something would."""
    shutil.copytree(packages, tmp_path, dirs_exist_ok=True)
    with (tmp_path / "node_modules" / "cdk8s" / "lib" / "api-object.js").open("a") as script:
        script.write("\nexports.ApiObject.prototype.addJsonPatch = () => {};\n")
    with Composer(tmp_path) as started:
        render(started, unit(body("Job")))
        with pytest.raises(RuntimeError, match="rendered ConfigMap vision/flowers otherwise"):
            render(started, unit(body(data={"a": "b"})))


def test_packages_further_up_are_not_taken(tmp_path: Path) -> None:
    """Anyone may write to the folder of temporary folders, and Node would look there."""
    for name in ("cdk8s", "constructs", "yaml", "fast-json-patch"):
        stranger = tmp_path / "node_modules" / name / "index.js"
        stranger.parent.mkdir(parents=True)
        stranger.write_text("process.exit(3);\n")
    folder = tmp_path / "packages"
    unpack(folder)
    with Composer(folder) as started:
        render(started, unit(body(data={"a": "b"})))


def test_what_cdk8s_refuses_is_a_bug_of_ours(started: Composer) -> None:
    with pytest.raises(RuntimeError, match=r"refused SampleSet vision/flowers: .*already a Construct with name"):
        render(started, unit(body("Job"), body("Job")))


def test_a_node_that_dies_is_told(started: Composer) -> None:
    started._process.kill()
    with pytest.raises((RuntimeError, BrokenPipeError)):
        render(started, unit(body("Job")))


def test_nothing_stays_behind(packages: Path) -> None:
    with Composer(packages) as found:
        assert found._process.poll() is None
    assert found._process.returncode is not None
    assert not found._reader.is_alive()
