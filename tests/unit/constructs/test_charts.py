"""Units composed into charts and rendered again."""

from dataclasses import replace

import jsii
import pytest
from cdk8s import ApiObject, App
from hypothesis import given
from hypothesis import strategies as st

from stowplan.library.constructs import compose
from stowplan.library.constructs.charts import SpecChart, chart_id
from stowplan.library.manifest import Unit
from stowplan.schema.meta import SpecId
from tests.unit.constructs.units import body, unit


def units(count: int) -> list[Unit]:
    return [
        unit(body("Service", f"d{n}", spec={}), body("Job", f"d{n}"), spec=SpecId("SampleSet", "vision", f"d{n}"))
        for n in range(count)
    ]


def objects_in_node() -> int:
    return int(jsii.stats().object_count)  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("batch", [1, 2, 7])
def test_composing_changes_nothing_whatever_the_batch(batch: int) -> None:
    five = units(5)
    assert compose(five, batch=batch) == tuple(five)


def test_nothing_is_composed_of_nothing() -> None:
    assert compose([]) == ()


def test_equal_names_in_two_namespaces_of_one_spec_stay_apart() -> None:
    one = unit(body(data={"at": "home"}), body("ConfigMap", "flowers", "other", data={"at": "other"}))
    assert compose([one]) == (one,)


def test_stems_and_runs_survive() -> None:
    one = unit(body("Job", "flowers-sync-abc"))
    one = replace(one, manifests=(replace(one.manifests[0], stem="flowers-sync", run=True),))
    assert compose([one]) == (one,)


def test_a_manifest_that_cannot_be_carried_passes_by() -> None:
    one = unit(body("Job"), body(data={"size": 2**60}), body("Service"))
    assert compose([one]) == (one,)


def test_node_keeps_only_the_last_batch() -> None:
    before = objects_in_node()
    compose(units(6), batch=2)
    after_three = objects_in_node()
    compose(units(2), batch=2)
    assert after_three - before == objects_in_node() - after_three


def test_what_cdk8s_changes_is_a_bug_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ApiObject, "add_json_patch", lambda *_: None)
    with pytest.raises(RuntimeError, match="Service vision/d0 otherwise"):
        compose(units(1))


def test_a_tree_has_one_chart_for_each_spec() -> None:
    app = App()
    for each in units(2):
        SpecChart(app, each)
    assert [construct.node.path for construct in app.node.find_all()] == [
        "",
        "vision.sampleset-d0",
        "vision.sampleset-d0/d0",
        "vision.sampleset-d0/d0/service-d0",
        "vision.sampleset-d0/d0/job-d0",
        "vision.sampleset-d1",
        "vision.sampleset-d1/d1",
        "vision.sampleset-d1/d1/service-d1",
        "vision.sampleset-d1/d1/job-d1",
    ]


names = st.from_regex(r"[a-z](-{0,3}[a-z.]){0,6}", fullmatch=True)
specs = st.builds(
    SpecId, st.sampled_from(["SampleSet", "SampleJob"]), names.filter(lambda name: "." not in name), names
)


@given(st.sets(specs))
def test_no_two_specs_share_a_chart_id(given: set[SpecId]) -> None:
    assert len({chart_id(spec) for spec in given}) == len(given)
