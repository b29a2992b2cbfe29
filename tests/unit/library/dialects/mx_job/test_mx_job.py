"""A lowered MxJob: variables, roles, and the rules for success and for failed pods."""

from typing import Any

import pytest

from stowplan.library.dialects.shared.context import Lowered
from stowplan.library.manifest import Json
from stowplan.library.values import labels
from tests.unit.specs import body, codes, lowered, mx_job, mx_role, of_kind

JOBSET = {"engines": {"jobs": "jobset"}}
VARIABLES = {
    "DMLC_PS_ROOT_PORT": "9091",
    "DMLC_NUM_SERVER": "1",
    "DMLC_NUM_WORKER": "1",
    "DMLC_USE_KUBERNETES": "1",
}
PERMANENT = list(range(1, 128))


def jobs(result: Lowered) -> dict[str, Json]:
    """Specs of Jobs by role, in or outside of a JobSet."""
    found = [each.body["spec"] for each in of_kind(result, "Job")]
    for each in of_kind(result, "JobSet"):
        found += [job["template"]["spec"] for job in each.body["spec"]["replicatedJobs"]]
    return {job["template"]["metadata"]["labels"][labels.ROLE]: job for job in found}


def mxnet(job: Json) -> Json:
    """Return the training container."""
    spec = job["template"]["spec"]
    (found,) = [each for each in (*spec.get("initContainers", ()), *spec["containers"]) if each["name"] == "mxnet"]
    return dict(found)


def judged(job: Json) -> list[tuple[str, list[int]]]:
    """Return the containers and exit codes that fail the whole Job."""
    rules = job["podFailurePolicy"]["rules"]
    return [
        (rule["onExitCodes"]["containerName"], rule["onExitCodes"]["values"]) for rule in rules if "onExitCodes" in rule
    ]


@pytest.mark.parametrize("engine", ["core", "jobset"])
def test_every_process_gets_the_address_of_the_scheduler(engine: str) -> None:
    """MXNet before 1.2 cannot listen on a DNS name, so the scheduler itself gets the address of its pod."""
    result = lowered(mx_job(), engines={"jobs": engine})
    uris = {}
    for role, job in jobs(result).items():
        env = {each["name"]: each.get("value", each.get("valueFrom")) for each in mxnet(job)["env"]}
        uris[role] = env.pop("DMLC_PS_ROOT_URI")
        assert env == {**VARIABLES, "DMLC_ROLE": role}
    assert uris.pop("scheduler") == {"fieldRef": {"apiVersion": "v1", "fieldPath": "status.podIP"}}
    (uri,) = set(uris.values())
    assert "-scheduler-" in uri


def test_variables_of_the_user_are_never_lost() -> None:
    """The old operator overwrote the first five."""
    own = [{"name": f"OWN_{index}", "value": str(index)} for index in range(7)]
    field = {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}
    result = lowered(mx_job(mx_role("SCHEDULER"), mx_role("SERVER"), mx_role("WORKER", env=[*own, field])))
    assert mxnet(jobs(result)["worker"])["env"][-8:] == [*own, field]
    assert codes(result) == []


@pytest.mark.parametrize("name", [*VARIABLES, "DMLC_PS_ROOT_URI", "DMLC_ROLE"])
def test_a_variable_of_the_user_takes_the_place_of_the_jobs(name: str) -> None:
    env = [{"name": name, "value": "mine"}]
    result = lowered(mx_job(mx_role("SCHEDULER"), mx_role("SERVER"), mx_role("WORKER", env=env)))
    assert [each for each in mxnet(jobs(result)["worker"])["env"] if each["name"] == name] == env
    assert codes(result) == ["SP479"]


@pytest.mark.parametrize("name", ["PS_VERBOSE", "DMLC_INTERFACE", "DMLC_NODE_HOST"])
def test_other_variables_of_mxnet_are_the_users(name: str) -> None:
    env = [{"name": name, "value": "mine"}]
    assert codes(lowered(mx_job(mx_role("SCHEDULER"), mx_role("SERVER"), mx_role("WORKER", env=env)))) == []


def test_a_local_job_gets_no_variables() -> None:
    env = [{"name": "DMLC_ROLE", "value": "worker"}]
    result = lowered(mx_job(mx_role(env=env), jobMode="local"))
    assert mxnet(jobs(result)["worker"])["env"] == env
    assert codes(result) == []


@pytest.mark.parametrize("given", [None, 9000])
def test_the_port_of_the_scheduler(given: int | None) -> None:
    scheduler = {**mx_role("SCHEDULER"), **({"PsRootPort": given} if given else {})}
    result = lowered(mx_job(scheduler, mx_role("SERVER"), mx_role("WORKER")))
    port = given or 9091
    assert mxnet(jobs(result)["scheduler"])["ports"] == [
        {"name": "ps-root-port", "containerPort": port, "protocol": "TCP"}
    ]
    assert [each["port"] for each in body(result, "Service")["spec"]["ports"]] == [port]
    assert "ports" not in mxnet(jobs(result)["worker"])


def test_a_port_that_the_template_has_is_not_declared_again() -> None:
    own = [{"containerPort": 9091, "name": "mine"}, {"containerPort": 80}]
    result = lowered(mx_job(mx_role("SCHEDULER", ports=own), mx_role("SERVER"), mx_role("WORKER")))
    assert mxnet(jobs(result)["scheduler"])["ports"] == own


def test_exit_codes_of_the_program_are_final() -> None:
    """In a pod whose main container is await, mxnet is restarted after any exit code."""
    core = jobs(lowered(mx_job()))
    assert judged(core["scheduler"]) == judged(core["worker"]) == [("mxnet", PERMANENT)]
    assert [container for container, _ in judged(core["server"])] == ["await"]
    inside = jobs(lowered(mx_job(), **JOBSET))
    assert all(judged(job) == [("mxnet", PERMANENT)] for job in inside.values())


@pytest.mark.parametrize("engine", ["core", "jobset"])
def test_other_failures_are_tried_again_in_a_local_job(engine: str) -> None:
    found = jobs(lowered(mx_job(mx_role(), jobMode="local"), engines={"jobs": engine}))
    assert {role: job["backoffLimit"] for role, job in found.items()} == {"worker": 6}


@pytest.mark.parametrize("engine", ["core", "jobset"])
def test_no_failure_is_tried_again_in_a_distributed_job(engine: str) -> None:
    """MXNet readmits no process, so another pod would wait for ever, and the others for it.

    Agents end with the pods of servers on `core`; these are replaced, so that the agent in the new pod ends the group.
    """
    worker = {**mx_role("WORKER"), "replicas": 3}
    found = jobs(lowered(mx_job(mx_role("SCHEDULER"), mx_role("SERVER"), worker), engines={"jobs": engine}))
    servers = 6 if engine == "core" else 0
    assert {role: job["backoffLimit"] for role, job in found.items()} == {
        "scheduler": 0,
        "server": servers,
        "worker": 0,
    }
    assert all(job["template"]["spec"]["restartPolicy"] == "Never" for job in found.values())


@pytest.mark.parametrize("success", ["scheduler", "worker"])
def test_the_platform_sets_the_role_whose_success_counts(success: str) -> None:
    result = lowered(mx_job(), mxnet={"success": success}, **JOBSET)
    assert body(result, "JobSet")["spec"]["successPolicy"]["targetReplicatedJobs"] == [success]


def test_a_local_job_is_done_when_its_worker_is() -> None:
    result = lowered(mx_job(mx_role(), jobMode="local"), **JOBSET)
    assert body(result, "JobSet")["spec"]["successPolicy"]["targetReplicatedJobs"] == ["worker"]


@pytest.mark.parametrize(
    ("policy", "found"), [("Never", []), ("OnFailure", ["SP478"]), ("Always", ["SP438"]), (None, [])]
)
def test_pods_are_never_restarted_in_place(policy: str | None, found: list[str]) -> None:
    result = lowered(mx_job(mx_role(spec={"restartPolicy": policy}), jobMode="local"))
    assert jobs(result)["worker"]["template"]["spec"]["restartPolicy"] == "Never"
    assert codes(result) == found


@pytest.mark.parametrize(
    ("mode", "entries", "found"),
    [
        ("local", [mx_role()], []),
        ("local", [mx_role("WORKER")], []),
        ("local", [{**mx_role(), "replicas": 2}], ["SP205"]),
        ("local", [{**mx_role(), "replicas": 0}], ["SP205"]),
        ("local", [mx_role(), mx_role()], ["SP475"]),
        ("local", [mx_role("SERVER")], ["SP476"]),
        ("local", [], ["SP449"]),
        ("dist", [], ["SP449"]),
        ("dist", [mx_role("WORKER")], ["SP476"] * 2),
        ("dist", [mx_role("worker")], ["SP204", *["SP476"] * 3]),
        ("both", [mx_role()], ["SP204"]),
        (None, [mx_role()], ["SP204"]),
    ],
)
def test_roles_fit_the_mode(mode: str | None, entries: list[Any], found: list[str]) -> None:
    result = lowered(mx_job(jobMode=mode, replicaSpecs=entries))
    assert sorted(codes(result)) == sorted(found)


def test_the_container_that_trains_need_not_be_the_first() -> None:
    role = mx_role()
    role["template"]["spec"]["containers"].insert(0, {"name": "other", "image": "other:1"})
    result = lowered(mx_job(mx_role("SCHEDULER"), mx_role("SERVER"), role))
    other, mine = jobs(result)["worker"]["template"]["spec"]["containers"]
    assert "env" not in other
    assert [each["name"] for each in mine["env"]][-1] == "DMLC_USE_KUBERNETES"


def test_legacy_pod_labels_are_kept() -> None:
    for role, job in jobs(lowered(mx_job())).items():
        found = job["template"]["metadata"]["labels"]
        assert (found["mxnet.mlkube.io"], found["job_type"]) == ("", role.upper())


@pytest.mark.parametrize("engine", ["core", "jobset"])
@pytest.mark.parametrize("given", [None, "1kkf"])
def test_the_label_of_the_run_is_the_users_or_the_hash(engine: str, given: str | None) -> None:
    found = jobs(lowered(mx_job(**({"RuntimeId": given} if given else {})), engines={"jobs": engine}))
    for job in found.values():
        labels = job["template"]["metadata"]["labels"]
        assert labels["runtime_id"] == (given or labels["stowplan.dev/run-hash"])


def test_a_runtime_id_must_be_the_value_of_a_label() -> None:
    assert codes(lowered(mx_job(RuntimeId="not a label"))) == ["SP210"]


def test_only_roles_of_one_pod_have_its_number_as_a_label() -> None:
    """All pods of a role have one template; Kubernetes gives each pod a label with its completion index."""
    worker = {**mx_role("WORKER"), "replicas": 2}
    found = jobs(lowered(mx_job(mx_role("SCHEDULER"), mx_role("SERVER"), worker)))
    numbers = {role: job["template"]["metadata"]["labels"].get("task_index") for role, job in found.items()}
    assert numbers == {"scheduler": "0", "server": "0", "worker": None}


def test_the_label_app_is_the_users_if_they_give_one() -> None:
    plain = jobs(lowered(mx_job(mx_role(), jobMode="local")))["worker"]
    assert plain["template"]["metadata"]["labels"]["app"] == "mxnet-job"
    role = mx_role()
    role["template"]["metadata"] = {"labels": {"app": "cifar"}}
    own = jobs(lowered(mx_job(role, jobMode="local")))["worker"]
    assert own["template"]["metadata"]["labels"]["app"] == "cifar"


@pytest.mark.parametrize("engine", ["core", "jobset"])
@pytest.mark.parametrize("role", ["SCHEDULER", "SERVER", "WORKER"])
def test_an_edit_of_one_role_renames_all(engine: str, role: str) -> None:
    roles = {name: mx_role(name) for name in ("SCHEDULER", "SERVER", "WORKER")}
    results = [
        lowered(mx_job(*entries.values()), engines={"jobs": engine})
        for entries in (roles, {**roles, role: mx_role(role, image="mxnet:2")})
    ]
    before, after = ({each.name for each in result.unit.manifests if each.run} for result in results)
    assert before
    assert not before & after
