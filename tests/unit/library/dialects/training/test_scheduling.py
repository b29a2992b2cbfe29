"""`scheduling` of a Training: what engines get of it, and what is refused, with an engine that has it."""

from typing import Any

import pytest

from stowplan.library.dialects.training import scheduling
from stowplan.library.ir.placement import Placement, Topology
from stowplan.library.ir.training import NO_WISHES, GangRequest
from stowplan.schema.diagnostics import Finding, dotted
from stowplan.schema.kinds.native.training import TrainingSpec
from stowplan.schema.platform.platform import Platform

RACK = "example.com/rack"
KUEUE = {"gang": "kueue", "queue": "default"}


def spec(given: dict[str, Any] | None = None, **fields: Any) -> TrainingSpec:
    more = {"scheduling": given} if given is not None else {}
    return TrainingSpec.model_validate({"framework": "torch", "image": "train:1", **more, **fields})


def findings(given: dict[str, Any], engines: dict[str, str], **fields: Any) -> list[Finding]:
    platform = Platform.model_validate({"engines": engines})
    return list(scheduling.findings(spec(given, **fields), platform))


def told(given: dict[str, Any], engines: dict[str, str], **fields: Any) -> list[tuple[str, str]]:
    return [(each.code, dotted(each.path)) for each in findings(given, engines, **fields)]


def test_without_wishes_the_engines_get_none() -> None:
    assert (scheduling.request(spec()), scheduling.placement(spec())) == (NO_WISHES, Placement())
    assert (scheduling.request(spec({})), scheduling.placement(spec({}))) == (NO_WISHES, Placement())


def test_each_wish_becomes_a_value_for_the_engines() -> None:
    given = spec(
        {"queue": "team-a", "priority": "high", "topology": {"required": RACK}, "exclusive": "pool"},
        activeDeadlineSeconds=86400,
    )
    assert scheduling.request(given) == GangRequest(queue="team-a")
    assert scheduling.placement(given) == Placement("high", Topology(RACK, required=True), "pool", 86400)


def test_a_preference_is_not_required() -> None:
    given = spec({"topology": {"preferred": RACK}})
    assert scheduling.placement(given).topology == Topology(RACK, required=False)


ABLE = "`engines.gang: kueue` or `engines.gang: volcano`"


@pytest.mark.parametrize(
    ("given", "engines", "path", "able"),
    [
        ({"queue": "a"}, {"gang": "none"}, "spec.scheduling.queue", ABLE),
        ({"queue": "a"}, {"gang": "coscheduling"}, "spec.scheduling.queue", ABLE),
        ({"topology": {"required": RACK}}, {"gang": "none"}, "spec.scheduling.topology", "`engines.gang: kueue`"),
        ({"topology": {"preferred": RACK}}, {"gang": "volcano"}, "spec.scheduling.topology", "`engines.gang: kueue`"),
        ({"exclusive": "pool"}, {"jobs": "core"}, "spec.scheduling.exclusive", "`engines.jobs: jobset`"),
    ],
)
def test_what_an_engine_lacks_is_an_error_that_names_one_that_has_it(
    given: dict[str, Any], engines: dict[str, str], path: str, able: str
) -> None:
    (found,) = findings(given, engines)
    assert (found.code, dotted(found.path)) == ("SP467", path)
    assert found.hint.startswith(f"Set {able} in the platform file")


@pytest.mark.parametrize(
    ("given", "engines"),
    [
        ({"queue": "a", "priority": "high"}, {"gang": "volcano"}),
        ({"queue": "a", "priority": "high", "topology": {"required": RACK}}, KUEUE),
        ({"priority": "high"}, {"gang": "none"}),
        ({"priority": "high"}, {"gang": "coscheduling"}),
        ({"exclusive": "cloud.google.com/gke-nodepool"}, {"jobs": "jobset"}),
        ({"exclusive": "pool", "topology": {"preferred": RACK}}, {"jobs": "jobset", **KUEUE}),
    ],
)
def test_what_the_engines_have_is_fine(given: dict[str, Any], engines: dict[str, str]) -> None:
    assert findings(given, engines) == []


@pytest.mark.parametrize("topology", [{}, {"required": RACK, "preferred": RACK}])
def test_a_topology_is_either_required_or_preferred(topology: dict[str, str]) -> None:
    assert told({"topology": topology}, KUEUE) == [("SP461", "spec.scheduling.topology")]


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"queue": "Team A"}, "queue"),
        ({"priority": "high_priority"}, "priority"),
        ({"priority": "p" * 64}, "priority"),
        ({"topology": {"required": "a/b/c"}}, "topology.required"),
        ({"topology": {"preferred": "rack "}}, "topology.preferred"),
        ({"exclusive": "-pool"}, "exclusive"),
    ],
)
def test_names_have_the_form_of_kubernetes(given: dict[str, Any], path: str) -> None:
    assert told(given, {"jobs": "jobset", **KUEUE}) == [("SP210", f"spec.scheduling.{path}")]


def test_an_elastic_job_is_no_job_set_so_it_gets_no_nodes_of_its_own() -> None:
    found = told({"exclusive": "pool"}, {"jobs": "jobset"}, elastic={"min": 1, "max": 2})
    assert found == [("SP467", "spec.scheduling.exclusive")]


def test_the_priority_class_of_the_template_wins_except_with_kueue_which_has_priorities_of_its_own() -> None:
    template = {"spec": {"priorityClassName": "low"}}
    assert told({"priority": "high"}, {"gang": "volcano"}, template=template) == [("SP406", "spec.scheduling.priority")]
    assert told({"priority": "low"}, {"gang": "volcano"}, template=template) == []
    assert told({"priority": "high"}, KUEUE, template=template) == []
