"""The tree of charts that units form."""

from cdk8s import App
from hypothesis import given
from hypothesis import strategies as st

from stowplan.library.composition.tree import chart_id
from stowplan.library.constructs import SpecChart
from stowplan.library.manifest import Unit
from stowplan.schema.meta import SpecId
from tests.unit.library.constructs.units import body, unit


def units(count: int) -> list[Unit]:
    return [
        unit(body("Service", f"d{n}", spec={}), body("Job", f"d{n}"), spec=SpecId("SampleSet", "vision", f"d{n}"))
        for n in range(count)
    ]


def test_a_tree_has_one_chart_for_each_spec() -> None:
    app = App()
    for each in units(2):
        SpecChart(app, chart_id(each.spec), unit=each)
    assert [construct.node.path for construct in app.node.find_all()] == [
        "",
        "vision.sampleset-d0",
        "vision.sampleset-d0/part",
        "vision.sampleset-d0/part/service-d0",
        "vision.sampleset-d0/part/job-d0",
        "vision.sampleset-d1",
        "vision.sampleset-d1/part",
        "vision.sampleset-d1/part/service-d1",
        "vision.sampleset-d1/part/job-d1",
    ]


def test_a_chart_leaves_out_an_object_that_cdk8s_refuses() -> None:
    one = unit(body("Job", apiVersion="a/b/c"), body("Service", spec={}), spec=SpecId("SampleSet", "vision", "d"))
    chart = SpecChart(App(), "chart", unit=one)
    assert [manifest.kind for manifest in chart.carried] == ["Service"]


names = st.from_regex(r"[a-z](-{0,3}[a-z.]){0,6}", fullmatch=True)
specs = st.builds(
    SpecId, st.sampled_from(["SampleSet", "SampleJob"]), names.filter(lambda name: "." not in name), names
)


@given(st.sets(specs))
def test_no_two_specs_share_a_chart_id(given: set[SpecId]) -> None:
    assert len({chart_id(spec) for spec in given}) == len(given)
