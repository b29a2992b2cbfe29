"""Charts rendered by the Node.js process that jsii has started."""

import jsii
import pytest

from stowplan.library.composition.tree import ChartSource, chart_of, rendered
from stowplan.library.constructs import JsiiComposer
from stowplan.library.manifest import Part, Unit
from stowplan.schema.meta import SpecId
from tests.unit.library.constructs.units import body, unit

ODD = unit(
    body("Service", "a", spec={"ports": [{"port": 80}], "selector": {}}),
    body("ConfigMap", "b", "elsewhere", data={"2": "two", "é": "\u2028\U0001f600\x07", "$jsii.byref": "a", "c": "d"}),
    body("ClusterRole", "c", "", rules=[], apiVersion="rbac.authorization.k8s.io/v1"),
    body("Job", "d", spec={"x": 0.5, "size": 2**60}),
)


def parts(charts: list[ChartSource]) -> list[tuple[Part, ...]]:
    return [each.parts for each in charts]


def test_rendered_bodies_equal_the_built_ones() -> None:
    many: list[Unit] = [ODD, unit(body(data={"a": "b"}), spec=SpecId("SampleSet", "vision", "other"))]
    assert parts(JsiiComposer().render([chart_of(each) for each in many])) == [rendered(each).parts for each in many]


def test_a_refusal_of_cdk8s_is_an_internal_error() -> None:
    with pytest.raises(RuntimeError, match=r"refused vision\.sampleset-flowers: .*already a Construct"):
        JsiiComposer().render([chart_of(unit(body("Job"), body("Job")))])


@pytest.mark.parametrize("error", [BrokenPipeError(), ValueError("no JSON")])
def test_a_node_that_has_ended_is_an_internal_error(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(*_: object) -> None:
        raise error

    monkeypatch.setattr(jsii, "sinvoke", ended)
    with pytest.raises(RuntimeError, match="jsii did not render charts"):
        JsiiComposer().render([chart_of(ODD)])
