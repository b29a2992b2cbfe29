"""Behaviour of pods on which compiled manifests depend, on a node: `library/POD_LIFECYCLE.md`."""

import pytest

from tests.cluster.client import Manifest, ref, wait_for
from tests.nightly.node.lifecycle.life import DEAF, SECONDS, Life, ends, until_term

NOTE = 'echo "$0 {}" >> /notes/notes'
ENDS = NOTE.format("ends")


def test_sidecar_that_ends_with_0_is_started_again_and_the_pod_ends_with_its_main_container(life: Life) -> None:
    once = f"{ENDS}; [ $(grep -c ends /notes/notes) = 1 ] && exit 0\n{until_term()}"
    main = f"while ! grep -q 'server starts' /notes/notes; do sleep 0.1; done; {ENDS}"
    pod = life.await_phase(life.pod(containers={"main": main}, sidecars={"server": once}), "Succeeded")
    (server,) = pod["status"]["initContainerStatuses"]
    assert server["restartCount"] == 1
    assert server["lastState"]["terminated"]["exitCode"] == 0
    assert life.notes() == [
        "server ends",
        "server ends",
        "server starts",
        "main ends",
        "server is told to end",
        "server ends",
    ]


@pytest.mark.parametrize(("main", "server", "phase"), [(0, 7, "Succeeded"), (1, 0, "Failed")])
def test_exit_codes_of_sidecars_do_not_count(life: Life, main: int, server: int, phase: str) -> None:
    script = f"while ! grep -q starts /notes/notes; do sleep 0.1; done; exit {main}"
    pod = life.pod(containers={"main": script}, sidecars={"server": until_term(server)})
    assert ends(life.await_phase(pod, phase)) == {"main": main, "server": server}


def test_pod_is_ended_main_containers_first_and_then_sidecars_last_declared_first(life: Life) -> None:
    scripts = dict.fromkeys(["one", "two"], until_term())
    pod = life.pod(containers={"main": until_term()}, sidecars=scripts)
    life.await_note("main starts")
    life.client.delete(pod)
    wait_for(lambda: life.client.find(pod) is None, SECONDS, what="end of the pod")
    ended = [f"{name} {what}" for name in ("main", "two", "one") for what in ("is told to end", "ends")]
    assert life.notes() == ["one starts", "two starts", "main starts", *ended]


def test_pod_has_ended_once_its_last_container_has(life: Life) -> None:
    """So that a new attempt never works beside the old one."""
    slow = f"trap 'sleep 3; {ENDS}; exit 0' TERM; {NOTE.format('starts')}; while :; do sleep 0.1; done"
    main = "while ! grep -q starts /notes/notes; do sleep 0.1; done"
    pod = life.pod(containers={"main": main}, sidecars={"server": slow})
    assert ends(life.await_phase(pod, "Succeeded")) == {"main": 0, "server": 0}
    assert life.notes() == ["server starts", "server ends"]


def test_grace_period_ends_with_sigkill_which_is_code_137(life: Life) -> None:
    """The first process of a container ends on SIGTERM only if it handles it, whatever the code then."""
    plain = f"{NOTE.format('starts')}; while :; do sleep 0.1; done"
    pod = life.pod(containers={"deaf": DEAF, "plain": plain, "polite": until_term(143)}, grace=6)
    life.end_by_deadline(pod, "deaf", "plain", "polite")
    assert ends(life.await_phase(pod, "Failed")) == {"deaf": 137, "plain": 137, "polite": 143}


def test_sidecar_has_time_to_end_when_the_main_container_took_the_whole_grace_period(life: Life) -> None:
    pod = life.pod(containers={"main": DEAF}, sidecars={"server": until_term()}, grace=2)
    life.end_by_deadline(pod, "server", "main")
    assert ends(life.await_phase(pod, "Failed"))["main"] == 137
    assert life.notes()[:3] == ["server starts", "main starts", "server is told to end"]


def test_deadline_of_a_pod_fails_the_attempt_and_its_job_tries_again(life: Life) -> None:
    """Although the container ends with 0 when it is told to."""
    script = f"if [ -e /notes/tried ]; then exit 0; fi; touch /notes/tried\n{until_term(0)}"
    job = life.job(life.template(containers={"main": script}, activeDeadlineSeconds=3600), backoffLimit=1)
    life.await_note("main starts")
    life.end_by_deadline(life.pods()[0], "main")
    life.await_condition(job, "Complete")
    first, second = life.pods()
    assert (first["status"]["phase"], first["status"]["reason"]) == ("Failed", "DeadlineExceeded")
    assert "DisruptionTarget" not in _conditions(first)
    assert second["status"]["phase"] == "Succeeded"
    status = life.client.get(job)["status"]
    assert (status["failed"], status["succeeded"]) == (1, 1)


def test_deadline_of_a_job_ends_it_whatever_attempts_are_left(life: Life) -> None:
    job = life.job(life.template(containers={"main": until_term()}), backoffLimit=5)
    life.end_by_deadline(job, "main")
    assert life.await_condition(job, "Failed")["reason"] == "DeadlineExceeded"
    assert life.notes() == ["main starts", "main is told to end", "main ends"]


def test_exit_code_1_of_await_fails_the_job_at_once(life: Life) -> None:
    """The rule names its container, so the server's own exit code 1 is none of its business."""
    await_ = "while ! grep -q starts /notes/notes; do sleep 0.1; done; exit 1"
    template = life.template(containers={"await": await_}, sidecars={"server": until_term(1)})
    rule = {"action": "FailJob", "onExitCodes": {"containerName": "await", "operator": "In", "values": [1]}}
    job = life.job(template, backoffLimit=5, podFailurePolicy={"rules": [rule]})
    assert life.await_condition(job, "Failed")["reason"] == "PodFailurePolicy"
    (pod,) = life.pods()
    assert ends(pod) == {"await": 1, "server": 1}


def test_exit_code_1_of_a_server_does_not_fail_the_job(life: Life) -> None:
    await_ = "while ! grep -q starts /notes/notes; do sleep 0.1; done"
    template = life.template(containers={"await": await_}, sidecars={"server": until_term(1)})
    rule = {"action": "FailJob", "onExitCodes": {"containerName": "await", "operator": "In", "values": [1]}}
    job = life.job(template, backoffLimit=5, podFailurePolicy={"rules": [rule]})
    life.await_condition(job, "Complete")
    assert len(life.pods()) == 1


def test_eviction_costs_no_attempt_and_the_next_pod_starts_after_the_last_has_ended(life: Life) -> None:
    script = f"if [ -e /notes/tried ]; then {NOTE.format('works')}; exit 0; fi; touch /notes/tried\n{until_term(1)}"
    conditions = [{"type": "DisruptionTarget"}]
    job = life.job(
        life.template(containers={"main": script}),
        backoffLimit=0,
        podFailurePolicy={"rules": [{"action": "Ignore", "onPodConditions": conditions}]},
    )
    life.await_note("main starts")
    (pod,) = life.pods()
    eviction = {**ref("policy/v1", "Eviction", pod["metadata"]["name"], life.namespace)}
    life.client.request("POST", life.client.path(pod, "eviction"), eviction)
    life.await_condition(job, "Complete")
    assert life.notes() == ["main starts", "main is told to end", "main ends", "main works"]
    assert "failed" not in life.client.get(job)["status"]


def test_suspending_ends_pods_in_good_order_and_counts_no_failure(life: Life) -> None:
    job = life.job(life.template(containers={"main": until_term(1)}), backoffLimit=0)
    life.await_note("main starts")
    life.client.patch(job, {"spec": {"suspend": True}})
    life.await_condition(job, "Suspended")
    wait_for(lambda: not life.pods(), SECONDS, what="end of the pod")
    assert life.notes() == ["main starts", "main is told to end", "main ends"]
    status = life.client.get(job)["status"]
    assert "failed" not in status
    assert [each["type"] for each in status["conditions"]] == ["Suspended"]


def test_optional_key_of_a_secret_is_left_out(life: Life) -> None:
    pod = life.create(_with_key(life, '[ "${KEY-none}" = none ]', optional=True))
    life.await_phase(pod, "Succeeded")


def test_container_waits_for_a_key_that_is_not_optional(life: Life) -> None:
    pod = life.create(_with_key(life, '[ "$KEY" = value ]', optional=False))
    wait_for(lambda: _waiting(life.client.get(pod)) == "CreateContainerConfigError", SECONDS, what="the wait")
    life.client.create({**ref("v1", "Secret", "keys", life.namespace), "stringData": {"key": "value"}})
    life.await_phase(pod, "Succeeded")


def _with_key(life: Life, script: str, *, optional: bool) -> Manifest:
    template = life.template(containers={"main": script})
    key = {"name": "keys", "key": "key", "optional": optional}
    template["spec"]["containers"][0]["env"] = [{"name": "KEY", "valueFrom": {"secretKeyRef": key}}]
    return template


def _waiting(pod: Manifest) -> str:
    states = [each["state"].get("waiting", {}) for each in pod["status"].get("containerStatuses", [])]
    return next((state["reason"] for state in states if "reason" in state), "")


def test_pod_waits_for_a_config_map_and_keeps_its_files_when_that_goes(life: Life) -> None:
    config = {**ref("v1", "ConfigMap", "config", life.namespace), "data": {"text": "one"}, "immutable": True}
    script = f"{NOTE.format('starts')}; while ! [ -e /notes/gone ]; do sleep 0.1; done; grep one /config/text"
    template = life.template(containers={"main": script})
    template["spec"]["volumes"].append({"name": "config", "configMap": {"name": "config"}})
    template["spec"]["containers"][0]["volumeMounts"].append({"name": "config", "mountPath": "/config"})
    pod = life.create(template)
    events = life.client.collection(ref("v1", "Event", "", life.namespace))
    wait_for(
        lambda: "FailedMount" in [item["reason"] for item in life.client.request("GET", events)["items"]],
        SECONDS,
        what="FailedMount",
    )
    assert life.client.get(pod)["status"]["phase"] == "Pending"
    life.client.create(config)
    life.await_note("main starts")
    life.client.delete(config)
    (life.folder / "gone").touch()
    life.await_phase(pod, "Succeeded")


def _conditions(pod: Manifest) -> set[str]:
    return {each["type"] for each in pod["status"]["conditions"]}
