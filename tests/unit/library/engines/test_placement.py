"""What engines make of the priority, the topology, the own nodes and the longest run time that a job asks for."""

from typing import Any

import pytest

from stowplan.library.engines.gang.registry import GANG_ENGINES
from stowplan.library.engines.registry import JOB_ENGINES
from stowplan.library.ir.placement import Placement, Topology
from stowplan.library.ir.training import GangRequest, TrainingGroup
from stowplan.library.manifest import Json
from stowplan.library.values.names import BLANK_RUN
from stowplan.schema.diagnostics import dotted
from tests.unit.library.engines.test_run_hash import group as group_of
from tests.unit.library.engines.test_run_hash import run
from tests.unit.specs import platform, site

RACK = "example.com/rack"


def group(placement: Placement, *, queue: str | None = "team-a", **worker: Any) -> TrainingGroup:
    plain = group_of(servers=0, worker=worker)
    return plain._replace(placement=placement, gang=GangRequest(queue=queue), wishes="scheduling")


def objects(given: TrainingGroup, jobs: str, gang: str) -> dict[str, Json]:
    """The compiled objects, by kind."""
    engine, here = JOB_ENGINES[jobs], site(engines={"jobs": jobs, "gang": gang})
    variables = given.framework.environments(given, engine.hosts(given, BLANK_RUN))
    return {each.kind: each.body for each in engine.trainers(given, variables, GANG_ENGINES[gang], here).manifests}


def pods(found: dict[str, Json]) -> Json:
    """The pod template."""
    spec = found["Job"]["spec"] if "Job" in found else found["JobSet"]["spec"]["replicatedJobs"][0]["template"]["spec"]
    template: Json = spec["template"]
    return template


def externals(given: TrainingGroup, gang: str) -> set[tuple[str, str, str]]:
    found = GANG_ENGINES[gang].externals(given, site(engines={"gang": gang}))
    return {(each.kind, each.namespace, each.name) for each in found}


@pytest.mark.parametrize(("jobs", "kind"), [("core", "Job"), ("jobset", "JobSet")])
def test_kueue_reads_queue_priority_and_longest_time_as_labels(jobs: str, kind: str) -> None:
    found = objects(group(Placement("high", longest=3600)), jobs, "kueue")
    labels = found[kind]["metadata"]["labels"]
    assert {key: value for key, value in labels.items() if key.startswith("kueue.x-k8s.io/")} == {
        "kueue.x-k8s.io/max-exec-time-seconds": "3600",
        "kueue.x-k8s.io/priority-class": "high",
        "kueue.x-k8s.io/queue-name": "team-a",
    }
    assert "priorityClassName" not in pods(found)["spec"]


@pytest.mark.parametrize("jobs", ["core", "jobset"])
@pytest.mark.parametrize("word", ["required", "preferred"])
def test_kueue_reads_the_topology_from_the_pods(jobs: str, word: str) -> None:
    topology = Topology(RACK, required=word == "required")
    template = pods(objects(group(Placement(topology=topology)), jobs, "kueue"))
    assert template["metadata"]["annotations"] == {f"kueue.x-k8s.io/podset-{word}-topology": RACK}


@pytest.mark.parametrize("gang", ["none", "coscheduling"])
def test_the_priority_is_that_of_the_pods_without_kueue(gang: str) -> None:
    given = group(Placement("high"), queue=None)
    assert pods(objects(given, "core", gang))["spec"]["priorityClassName"] == "high"
    assert externals(given, gang) == {("PriorityClass", "", "high")}


def test_the_priority_is_that_of_volcanos_pod_group() -> None:
    given = group(Placement("high"))
    assert objects(given, "core", "volcano")["PodGroup"]["spec"]["priorityClassName"] == "high"
    assert externals(given, "volcano") == {("PriorityClass", "", "high"), ("Queue", "", "team-a")}


def test_kueue_needs_the_queue_and_its_own_priority_class() -> None:
    expected = {("LocalQueue", "ml", "team-a"), ("WorkloadPriorityClass", "", "high")}
    assert externals(group(Placement("high")), "kueue") == expected


def test_a_job_set_gets_nodes_of_its_own() -> None:
    found = objects(group(Placement(exclusive="pool")), "jobset", "none")
    assert found["JobSet"]["metadata"]["annotations"]["alpha.jobset.sigs.k8s.io/exclusive-topology"] == "pool"


@pytest.mark.parametrize(
    ("placement", "jobs", "gang"),
    [
        (Placement("high"), "core", "none"),
        (Placement("high"), "core", "coscheduling"),
        (Placement("high"), "core", "kueue"),
        (Placement(longest=60), "jobset", "kueue"),
        (Placement(topology=Topology(RACK, required=True)), "core", "kueue"),
        (Placement(exclusive="pool"), "jobset", "none"),
    ],
)
def test_what_acts_only_when_a_run_starts_begins_a_new_run(placement: Placement, jobs: str, gang: str) -> None:
    assert run(group(placement), jobs, gang) != run(group(Placement()), jobs, gang)


def paths(given: TrainingGroup, gang: str) -> list[tuple[str, str]]:
    found = GANG_ENGINES[gang].validate(given, platform(engines={"gang": gang}), splits=False)
    return [(each.code, dotted(each.path)) for each in found]


def test_kueue_without_any_queue_names_the_field_of_the_kind() -> None:
    assert paths(group(Placement(), queue=None), "kueue") == [("SP447", "spec.scheduling.queue")]


@pytest.mark.parametrize(("gang", "codes"), [("volcano", 1), ("coscheduling", 1), ("kueue", 0), ("none", 0)])
def test_own_nodes_would_stop_a_scheduler_that_waits_for_all_pods(gang: str, codes: int) -> None:
    given = group(Placement(exclusive="pool"), queue=None if gang == "coscheduling" else "team-a")
    expected = [("SP447", "spec.scheduling.exclusive")] * codes
    assert [each for each in paths(given, gang) if each[0] == "SP447"] == expected


@pytest.mark.parametrize("gang", ["volcano", "coscheduling"])
def test_a_priority_has_no_effect_beside_a_scheduler_of_the_template(gang: str) -> None:
    template = {"spec": {"schedulerName": "mine", "containers": [{"name": "trainer", "image": "a:1"}]}}
    given = group(Placement("high"), queue=None, template=template)
    assert paths(given, gang) == [("SP406", "spec.scheduling")]


def test_a_limit_of_time_with_kueue_says_beforehand_that_it_may_suspend_the_job() -> None:
    assert paths(group(Placement(longest=60)), "kueue") == [("SP411", "spec.activeDeadlineSeconds")]
    assert paths(group(Placement(longest=60), queue=None), "none") == []
