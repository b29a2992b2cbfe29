"""When what a run waits for counts as ready."""

from typing import Any

import pytest

from stowplan.agents.gate.readiness import REPLACED, SETTLED, Verdict, look, unseen
from stowplan.schema.agents.gate_config import GateWait, digest

SPEC: dict[str, Any] = {"source": {"uri": "s3://samples/a"}, "partitions": 2}
WAIT = GateWait(kind="SampleSet", name="a", condition="Ready", run="abcdefgh", spec=digest({"spec": SPEC}))
BORN = "2026-01-02T00:00:00Z"


def resource(
    *, run: str = "abcdefgh", spec: dict[str, Any] = SPEC, ready: bool = True, condition: str = "Ready", **metadata: Any
) -> Any:
    found = {"type": condition, "status": "True" if ready else "False", "reason": "Syncing", "message": ""}
    status = {"observedGeneration": 3, "run": run, "conditions": [found]}
    return {"metadata": {"generation": 3, **metadata}, "spec": spec, "status": status}


def written(at: str) -> Any:
    """Fields of the metadata of a custom resource whose spec was last changed at this time."""
    return {"managedFields": [{"manager": "argocd-controller", "time": at, "fieldsV1": {"f:spec": {}}}]}


def test_ready_by_the_compiled_run() -> None:
    assert look(WAIT, resource(), BORN).ready


def test_absent_unreported_and_not_ready() -> None:
    views = [
        look(WAIT, each, BORN)
        for each in (None, resource(generation=4), resource(ready=False), {"metadata": {"generation": 1}})
    ]
    assert [(each.ready, each.after) for each in views] == [(False, 0.0)] * 4
    assert [each.text for each in views] == [
        "SampleSet a does not exist",
        "SampleSet a has no report on its newest spec",
        "SampleSet a is not Ready: Syncing",
        "SampleSet a has no report on its newest spec",
    ]


def test_run_of_an_older_compiler_counts_after_a_while() -> None:
    known = unseen(WAIT)
    known.saw(resource(run="zzzzzzzz"), BORN, 10.0)
    assert [known.is_ready(10.0 + seconds) for seconds in (0, SETTLED - 1, SETTLED)] == [False, False, True]


def test_another_revision_than_the_wanted_one_never_counts() -> None:
    wait = WAIT.model_copy(update={"revision": "abc"})
    held = resource()
    assert look(wait, held, BORN).text == "SampleSet a is Ready, but holds an unknown revision, not abc"
    for run in ("abcdefgh", "zzzzzzzz"):
        held = resource(run=run)
        held["status"]["revision"] = "def"
        verdict = look(wait, held, BORN)
        assert (verdict.ready, verdict.after) == (False, 0.0)
        assert verdict.text == "SampleSet a is Ready, but holds def, not abc"
    held = resource()
    held["status"]["revision"] = "abc"
    assert look(wait, held, BORN).ready


def test_time_starts_anew_with_another_run() -> None:
    known = unseen(WAIT)
    known.saw(resource(run="zzzzzzzz"), BORN, 0.0)
    known.saw(resource(run="yyyyyyyy"), BORN, 50.0)
    assert not known.is_ready(SETTLED)
    assert known.is_ready(50.0 + SETTLED)


def test_older_spec_counts_only_once_argo_cd_has_given_up_and_an_edited_one_soon() -> None:
    edited = {**SPEC, "partitions": 3}
    old = resource(run="zzzzzzzz", spec=edited, **written("2026-01-01T00:00:00Z"))
    new = resource(run="zzzzzzzz", spec=edited, **written("2026-01-03T00:00:00Z"))
    assert [look(WAIT, each, BORN).after for each in (old, new)] == [REPLACED, SETTLED]


def test_digest_ignores_empty_fields_and_knows_the_run_marker() -> None:
    notes = {"annotations": {"stowplan.dev/run": "2"}}
    assert digest({"spec": {**SPEC, "more": {}, "none": None, "list": []}}) == digest(
        {"spec": {**SPEC, "partitions": 2.0}}
    )
    assert digest({"spec": SPEC, "metadata": notes}) != digest({"spec": SPEC})


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("SampleJob", {"jobName": "clean-rmr-abcdefgh"}),
        ("DatasetTask", {"run": "clean-rmr-abcdefgh"}),
        ("DataCube", {"run": "abcdefgh"}),
        ("Training", {"run": "abcdefgh"}),
        ("PaddleJob", {"run": "abcdefgh"}),
    ],
)
def test_run_that_a_kind_reports_is_the_one_that_must_be_complete(kind: str, status: dict[str, str]) -> None:
    found = resource(condition="Complete")
    del found["status"]["run"]
    found["status"] |= status
    wait = WAIT.model_copy(update={"kind": kind, "condition": "Complete"})
    assert look(wait, found, BORN) == Verdict(ready=True, text=f"{kind} a is Complete")
    before = look(wait.model_copy(update={"run": "zzzzzzzz"}), found, BORN)
    assert (before.ready, before.text) == (False, f"{kind} a is Complete, but by run abcdefgh, not zzzzzzzz")


def test_dataset_without_a_run_is_ready_at_once() -> None:
    found = resource()
    del found["status"]["run"]
    assert look(WAIT.model_copy(update={"run": ""}), found, BORN).ready


def test_any_run_counts_of_a_spec_that_was_not_known() -> None:
    assert look(WAIT.model_copy(update={"run": "", "spec": ""}), resource(run="zzzzzzzz"), BORN).ready
