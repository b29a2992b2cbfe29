"""A lowered PaddleJob: its roles, its runs and its diagnostics."""

from typing import Any

import pytest

from stowplan.library.builders.gate import COMPONENT, is_gate
from stowplan.library.dialects.registry import lower
from stowplan.library.dialects.shared.context import Context, Lowered
from stowplan.library.manifest import ExternalReference, Json
from stowplan.library.values import labels
from stowplan.library.values.names import HASH_LENGTH, MOST_PODS
from stowplan.schema.kinds.paddle_job import PaddleJob
from stowplan.schema.meta import RUN_ANNOTATION, SpecId
from tests.unit.specs import (
    URI,
    VERSION,
    body,
    codes,
    context,
    lowered,
    of_kind,
    paddle_job,
    platform,
    role,
    sample_set,
)

ENGINES = ["core", "jobset"]
PS = {"ps": role(1), "worker": role(2)}
ELASTIC = {"paddle": {"elasticServers": ["etcd.ml:2379"]}}


def named(result: Lowered) -> set[tuple[str, str]]:
    """Return kind and name of all objects of the run, but for its gate, which has another hash."""
    made = [each for each in result.unit.manifests if each.run]
    return {(each.kind, each.name) for each in made if not each.stem.endswith(f"-{COMPONENT}")}


def suffix(result: Lowered) -> str:
    """Return the hash at the end of a run's names."""
    (found,) = {name[-HASH_LENGTH:] for _, name in named(result)}
    return found


def templates(result: Lowered) -> list[Json]:
    jobs = [each.body["spec"] for each in of_kind(result, "Job") if not is_gate(each.body)]
    sets = [
        job["template"]["spec"] for each in of_kind(result, "JobSet") for job in each.body["spec"]["replicatedJobs"]
    ]
    return [job["template"] for job in (*jobs, *sets)]


def variables(template: Json) -> dict[str, str]:
    spec = template["spec"]
    every = [*spec.get("initContainers", ()), *spec["containers"]]
    return {each["name"]: each.get("value", "") for container in every for each in container.get("env", ())}


def hosts(result: Lowered) -> set[str]:
    """Return all host names in the pods' variables."""
    texts = (variables(each).get(name, "") for each in templates(result) for name in LISTS)
    return {host.partition(":")[0] for text in texts for host in text.split(",") if host}


LISTS = ("PADDLE_TRAINERS", "PADDLE_TRAINER_ENDPOINTS", "PADDLE_PSERVERS_IP_PORT_LIST")


@pytest.mark.parametrize("jobs", ENGINES)
@pytest.mark.parametrize("edited", ["ps", "worker"])
def test_an_edit_of_one_role_renames_all(jobs: str, edited: str) -> None:
    engines = {"jobs": jobs}
    before = lowered(paddle_job(**PS), engines=engines)
    after = lowered(paddle_job(**{**PS, edited: role(PS[edited]["replicas"], image="paddle:2")}), engines=engines)
    assert not named(before) & named(after)
    stems = [{(kind, name[:-HASH_LENGTH]) for kind, name in named(each)} for each in (before, after)]
    assert stems[0] == stems[1]


@pytest.mark.parametrize("jobs", ENGINES)
def test_pods_of_two_runs_never_meet(jobs: str) -> None:
    """The hosts of the new pods' variables are not those of the old pods, and no Service selects both."""
    results = [lowered(paddle_job(annotations={RUN_ANNOTATION: run}, **PS), engines={"jobs": jobs}) for run in "12"]
    old, new = results
    assert hosts(old)
    assert not hosts(old) & hosts(new)
    assert not {each["spec"]["subdomain"] for each in templates(old)} & {
        each["spec"]["subdomain"] for each in templates(new)
    }
    for one, other in ((old, new), (new, old)):
        for service in of_kind(one, "Service"):
            selector = service.body["spec"]["selector"].items()
            assert all(selector <= each["metadata"]["labels"].items() for each in templates(one))
            assert not any(selector <= each["metadata"]["labels"].items() for each in templates(other))


@pytest.mark.parametrize("jobs", ENGINES)
def test_every_pod_finds_itself_in_the_lists(jobs: str) -> None:
    """The launcher looks for POD_IP in PADDLE_TRAINERS, a server for POD_IP:PADDLE_PORT in its list."""
    result = lowered(paddle_job(ps=role(3), worker=role(12)), engines={"jobs": jobs})
    server, worker = (variables(each) for each in templates(result))
    servers, workers = server["PADDLE_PSERVERS_IP_PORT_LIST"].split(","), worker["PADDLE_TRAINERS"].split(",")
    own = [server["POD_IP"].replace("$(PADDLE_TRAINER_ID)", str(i)) + ":" + server["PADDLE_PORT"] for i in range(3)]
    assert own == servers
    assert [worker["POD_IP"].replace("$(PADDLE_TRAINER_ID)", str(i)) for i in range(12)] == workers
    assert worker["PADDLE_TRAINERS_NUM"] == "12"


@pytest.mark.parametrize("jobs", ENGINES)
@pytest.mark.parametrize("gang", ["none", "volcano", "coscheduling"])
@pytest.mark.parametrize(
    "edit",
    [
        {"cleanPodPolicy": "Always"},
        {"schedulingPolicy": {"minAvailable": 2}},
        {"schedulingPolicy": {"minResources": {"cpu": "1"}}},
        {"ps": {**role(1), "requests": 1}},
    ],
    ids=lambda edit: next(iter(edit)),
)
def test_edits_that_no_pod_depends_on_keep_the_run(jobs: str, gang: str, edit: dict[str, Any]) -> None:
    engines = {"jobs": jobs, "gang": gang}
    assert named(lowered(paddle_job(**PS), engines=engines)) == named(
        lowered(paddle_job(**{**PS, **edit}), engines=engines)
    )


@pytest.mark.parametrize("jobs", ENGINES)
def test_labels_and_other_annotations_of_the_spec_keep_the_run(jobs: str) -> None:
    other = paddle_job(annotations={"example.com/owner": "ads"}, **PS)
    assert named(lowered(paddle_job(**PS), engines={"jobs": jobs})) == named(lowered(other, engines={"jobs": jobs}))


@pytest.mark.parametrize("jobs", ENGINES)
def test_the_run_annotation_renames(jobs: str) -> None:
    bumped = paddle_job(annotations={RUN_ANNOTATION: "2"}, **PS)
    assert not named(lowered(paddle_job(**PS), engines={"jobs": jobs})) & named(lowered(bumped, engines={"jobs": jobs}))


@pytest.mark.parametrize("jobs", ENGINES)
@pytest.mark.parametrize("name", ["train", "a-name-of-a-job-that-is-longer-than-what-a-host-name-may-take"])
def test_an_elastic_job_of_another_size_is_the_same_job(jobs: str, name: str) -> None:
    """Also with a cut name, and with a dataset: one more pod must not restart the job."""
    mount: dict[str, Any] = {"sampleSetRef": {"name": "data", "mountPath": "/data"}, "elastic": 1}
    small, large = (
        lowered(paddle_job(name, worker=role(size), **mount), engines={"jobs": jobs}, **ELASTIC) for size in (1, 5000)
    )
    assert named(small) == named(large)
    before, after = (body(each, "Job")["spec"] for each in (small, large))
    assert {key for key in before if before[key] != after[key]} == {"backoffLimit", "completions", "parallelism"}
    assert (after["completions"], after["parallelism"]) == (5000, 5000)


def test_the_size_of_an_elastic_job_is_in_a_config_map() -> None:
    result = lowered(paddle_job(worker=role(6), elastic=1, schedulingPolicy={"minAvailable": 2}), **ELASTIC)
    assert body(result, "ConfigMap")["data"] == {"np": "2:6"}
    assert not body(result, "ConfigMap").get("immutable")
    assert "6" not in {variables(each).get("PADDLE_TRAINERS_NUM") for each in templates(result)}


@pytest.mark.parametrize("jobs", ENGINES)
@pytest.mark.parametrize(("sizes", "decides"), [((1, 2, 1), "worker"), ((1, 0, 2), "heter"), ((2, 0, 0), "ps")])
def test_who_decides(jobs: str, sizes: tuple[int, int, int], decides: str) -> None:
    given = dict(zip(("ps", "worker", "heter"), map(role, sizes), strict=True))
    result = lowered(paddle_job(**given), engines={"jobs": jobs})
    if jobs == "jobset":
        assert body(result, "JobSet")["spec"]["successPolicy"]["targetReplicatedJobs"] == [decides]
    else:
        main = {
            each["metadata"]["labels"][labels.ROLE]: each["spec"]["containers"][0]["name"] for each in templates(result)
        }
        assert {name for name, container in main.items() if container != "await"} == {decides}


@pytest.mark.parametrize(
    ("spec", "restart"),
    [
        ({"worker": role()}, "Never"),
        ({"worker": role(), "intranet": "Service"}, "OnFailure"),
        ({"worker": role(spec={"restartPolicy": "Never"}), "intranet": "Service"}, "Never"),
        ({"worker": role(spec={"restartPolicy": "OnFailure"})}, "OnFailure"),
        ({"worker": role(spec={"restartPolicy": "Always"})}, "OnFailure"),
        ({"worker": role(spec={"restartPolicy": "Never"}), "elastic": 0}, "OnFailure"),
    ],
)
def test_restarts(spec: dict[str, Any], restart: str) -> None:
    job = body(lowered(paddle_job(**spec), **ELASTIC), "Job")["spec"]
    assert job["template"]["spec"]["restartPolicy"] == restart
    assert ("podFailurePolicy" in job) == (restart == "Never")
    assert (job["backoffLimit"] == 0) == (restart == "Never")


@pytest.mark.parametrize("jobs", ENGINES)
def test_names_leave_space_for_the_largest_index(jobs: str) -> None:
    result = lowered(paddle_job("x" * 63, worker=role(100)), engines={"jobs": jobs})
    assert max(len(host.partition(".")[0]) for host in hosts(result)) <= 63 - len(str(MOST_PODS - 1)) + len("99")


def test_a_name_of_253_characters() -> None:
    result = lowered(paddle_job(".".join(["x" * 62] * 4), worker=role(), elastic=1), **ELASTIC)
    assert "SP505" in codes(result)
    assert max(len(each.name) for each in result.unit.manifests) <= 253
    assert {len(each.name) for each in of_kind(result, "Job")} <= set(range(64))


def test_external_objects_are_listed() -> None:
    spec = {
        "serviceAccountName": "trainer",
        "priorityClassName": "low",
        "imagePullSecrets": [{"name": "registry"}],
        "volumes": [
            {"name": "a", "persistentVolumeClaim": {"claimName": "models"}},
            {"name": "b", "secret": {"secretName": "keys"}},
            {"name": "c", "configMap": {"name": "settings"}},
            {"name": "d", "projected": {"sources": [{"secret": {"name": "more"}}, {"configMap": {"name": "even"}}]}},
        ],
        "initContainers": [{"name": "i", "image": "i:1", "envFrom": [{"secretRef": {"name": "env"}}]}],
    }
    env = [
        {"name": "A", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token"}}},
        {"name": "B", "valueFrom": {"configMapKeyRef": {"name": "limits", "key": "b"}}},
    ]
    result = lowered(paddle_job(worker=role(spec=spec, env=env, envFrom=[{"configMapRef": {"name": "all"}}])))
    assert set(result.unit.externals) == {
        ExternalReference("ServiceAccount", "ml", "trainer"),
        ExternalReference("PriorityClass", "", "low"),
        ExternalReference("PersistentVolumeClaim", "ml", "models"),
        *(ExternalReference("Secret", "ml", name) for name in ("registry", "keys", "more", "env", "hub")),
        *(ExternalReference("ConfigMap", "ml", name) for name in ("settings", "even", "limits", "all")),
    }
    assert list(result.unit.externals) == sorted(result.unit.externals)


def test_an_invalid_dataset_is_no_error_of_the_job() -> None:
    job = paddle_job(annotations={"stowplan.dev/cache-placement": "required"}, worker=role(), **MOUNT)
    result = lower(job, Context(platform(), VERSION, refused=frozenset({SpecId("SampleSet", "ml", "data")})))
    assert codes(result) == []


MOUNT: dict[str, Any] = {"sampleSetRef": {"name": "data", "mountPath": "/data"}}


WAIT: dict[str, Any] = {"sampleSetRef": {**MOUNT["sampleSetRef"], "wait": {"timeoutSeconds": 60}}}
SYNCED: dict[str, Any] = {"source": {"uri": URI}}


@pytest.mark.parametrize("engine", ENGINES)
def test_all_pods_wait_for_the_dataset(engine: str) -> None:
    result = lower(paddle_job(**PS, **WAIT), context(sample_set(**SYNCED), engines={"jobs": engine}))
    found = [each["spec"]["initContainers"][0] for each in templates(result)]
    arguments = ["--dataset", "data", "--path", "/mnt/data", "--until", "synced", "--timeout", "900", "--retry"]
    assert [(each["name"], each["args"]) for each in found] == [("wait-dataset", arguments)] * 2


def test_a_run_does_not_start_again_when_its_dataset_changes() -> None:
    """Only `noSync` decides whether the run waits for a gate, or its pods themselves."""
    job = paddle_job(**PS, **WAIT)
    before = named(lower(job, context(sample_set(**SYNCED))))
    edits = [
        {**SYNCED, "partitions": 3},
        {"source": {"uri": f"{URI}more/"}},
        {**SYNCED, "warmupAfterSync": False},
        {**SYNCED, "secretRef": {"name": "another"}},
    ]
    assert all(named(lower(job, context(sample_set(**edit)))) == before for edit in edits)
    assert named(lower(job, context(sample_set(noSync=True)))) != before
    wait = {"until": "synced", "timeoutSeconds": 60}
    said: dict[str, Any] = {"sampleSetRef": {**MOUNT["sampleSetRef"], "wait": wait}}
    assert named(lower(paddle_job(**PS, **said), context(sample_set(noSync=True)))) != before


@pytest.mark.parametrize(
    ("dataset", "until", "severities"),
    [
        (SYNCED, None, []),
        (SYNCED, "warmed", []),
        ({**SYNCED, "warmupAfterSync": False}, "warmed", ["warning"]),
        ({"noSync": True}, None, []),
        ({"noSync": True}, "mounted", []),
        ({"noSync": True}, "synced", ["info"]),
        ({"noSync": True}, "warmed", ["warning"]),
    ],
)
def test_a_step_that_the_dataset_does_not_take(
    dataset: dict[str, Any], until: str | None, severities: list[str]
) -> None:
    wait = {"until": until} if until else {}
    job = paddle_job(worker=role(), sampleSetRef={**MOUNT["sampleSetRef"], "wait": wait})
    result = lower(job, context(sample_set(**dataset)))
    assert [str(each.severity) for each in result.findings if each.code == "SP454"] == severities
    assert result.unit.manifests


def test_nothing_is_compiled_of_a_job_that_cannot_work() -> None:
    result = lower(paddle_job(worker=role(), **MOUNT), context())
    assert (codes(result), result.unit.manifests, result.unit.externals) == (["SP302"], (), ())


@pytest.mark.parametrize("partitions", [1, 4])
def test_more_pods_than_cache_nodes(partitions: int) -> None:
    job = paddle_job(worker=role(4), **MOUNT)
    required = context(sample_set(partitions=partitions), juicefs={"placement": "required"})
    assert codes(lower(job, required)) == (["SP308"] if partitions < 4 else [])
    assert codes(lower(job, context(sample_set(partitions=partitions)))) == []


@pytest.mark.parametrize(
    ("container", "said"),
    [
        ({"ports": [{"containerPort": 2379}]}, True),
        ({"command": ["serve", "--port=2379"]}, True),
        ({"env": [{"name": "SERVERS", "value": "a:2379,b:2379"}]}, True),
        ({"ports": [{"containerPort": 12379}, {"containerPort": 23790}]}, False),
        ({"image": "paddle@sha256:a2379b"}, False),
    ],
)
def test_the_port_of_old_releases(container: dict[str, Any], *, said: bool) -> None:
    given = {"image": "paddle:1", **container}
    assert ("SP446" in codes(lowered(paddle_job(worker=role(**given))))) == said
    assert "SP446" not in codes(lowered(paddle_job(worker=role(**given)), paddle={"basePort": 2379}))


@pytest.mark.parametrize(
    ("launcher", "variable", "said"),
    [
        ("legacy", "PADDLE_ELASTIC_SERVER", False),
        ("legacy", "PADDLE_MASTER", True),
        ("modern", "PADDLE_MASTER", False),
        ("modern", "PADDLE_ELASTIC_SERVER", True),
    ],
)
def test_an_elastic_job_names_its_etcd_as_its_launcher_reads_it(launcher: str, variable: str, *, said: bool) -> None:
    job = paddle_job(elastic=1, worker=role(env=[{"name": variable, "value": "etcd.ml:2379"}]))
    found = lowered(job, paddle={"elasticLauncher": launcher}).findings
    assert [each.code for each in found if each.severity == "error"] == (["SP434"] if said else [])
    assert ("SP460" in {each.code for each in found}) == (launcher == "legacy")


def test_elastic_jobs_get_the_variables_that_present_releases_read() -> None:
    found = variables(*templates(lowered(paddle_job(elastic=1), **ELASTIC)))
    assert found["PADDLE_MASTER"] == "etcd://Etcd.ml:2379"
    assert not any(name.startswith("PADDLE_ELASTIC_JOB") for name in found)


def test_an_etcd_in_the_variable_of_old_releases_is_recognised() -> None:
    job = paddle_job(elastic=1, worker=role(env=[{"name": "PADDLE_ELASTIC_SERVER", "value": "etcd.ml:2379"}]))
    (found,) = lowered(job).findings
    assert found.code == "SP434"
    assert "`paddle.elasticLauncher: legacy`" in found.hint


@pytest.mark.parametrize("jobs", ENGINES)
def test_a_worker_without_a_launcher_knows_its_own_endpoint(jobs: str) -> None:
    """`paddle.distributed.init_parallel_env` starts only with it, and looks for it among all endpoints."""
    (found,) = map(variables, templates(lowered(paddle_job(worker=role(3)), engines={"jobs": jobs})))
    own = found["PADDLE_CURRENT_ENDPOINT"]
    expected = [own.replace("$(PADDLE_TRAINER_ID)", str(rank)) for rank in range(3)]
    assert found["PADDLE_TRAINER_ENDPOINTS"].split(",") == expected


def test_jobs_with_other_roles_have_no_endpoint_of_one_process() -> None:
    for pod in templates(lowered(paddle_job(**PS))):
        assert "PADDLE_CURRENT_ENDPOINT" not in variables(pod)


@pytest.mark.parametrize(
    ("elastic", "policy", "message"),
    [
        (1, {"minAvailable": 1}, None),
        (1, {"minAvailable": 1, "queue": "q"}, "But for `minAvailable`, the policy has no effect"),
        (None, {"minAvailable": 1}, "The policy has no effect"),
    ],
)
def test_a_policy_without_a_gang_engine(elastic: int | None, policy: dict[str, Any], message: str | None) -> None:
    """Elastic jobs get their smallest size from the policy."""
    found = lowered(paddle_job(elastic=elastic, schedulingPolicy=policy), **ELASTIC).findings
    said = [each.message.partition(":")[0] for each in found if each.code == "SP406"]
    assert said == ([] if message is None else [message])


LAUNCH = ["python", "-m", "paddle.distributed.launch"]


@pytest.mark.parametrize(
    ("given", "places"),
    [
        ({"command": [*LAUNCH, "train.py"]}, [("command", 2)]),
        ({"command": ["python"], "args": [*LAUNCH[1:], "train.py"]}, [("args", 1)]),
        ({"command": ["bash", "-c", "cd /src && python -m paddle.distributed.launch train.py"]}, [("command", 2)]),
        ({"command": ["/opt/conda/bin/fleetrun", "--log_dir=/tmp", "train.py"]}, [("command", 0)]),
        ({"command": [*LAUNCH, "--run_mode", "ps", "train.py"]}, [("command", 2)]),
        ({"command": [*LAUNCH, "--run_mode=ps", "train.py"]}, [("command", 2)]),
        ({"command": LAUNCH, "args": ["--legacy=true", "train.py"]}, [("command", 2)]),
        ({"command": [*LAUNCH, "--servers=a:1", "train.py"]}, [("command", 2)]),
        ({"command": ["fleetrun", "--server_num", "2", "--worker_num", "2", "train.py"]}, [("command", 0)]),
        ({"command": [*LAUNCH, "--servers=a:1", "--trainers=b:1", "train.py"]}, []),
        ({"command": ["fleetrun", "--servers", "a:1", "--workers", "b:1", "train.py"]}, []),
        ({"command": LAUNCH, "args": ["--servers=$(A)", "--trainers=$(B)", "train.py"]}, []),
        ({"command": ["python", "-m", "paddle.distributed.fleet.launch", "--run_mode", "ps", "train.py"]}, []),
        ({"command": ["python", "train.py"]}, []),
        ({}, []),
    ],
)
def test_a_launcher_that_leaves_servers_out(given: dict[str, Any], places: list[tuple[str, int]]) -> None:
    found = lowered(paddle_job(ps=role(1), worker=role(2, **given))).findings
    container = ("spec", "worker", "template", "spec", "containers", 0)
    assert [each.path for each in found if each.code == "SP453"] == [(*container, *place) for place in places]


def test_a_launcher_where_there_are_no_servers() -> None:
    command = [*LAUNCH, "train.py"]
    assert "SP453" not in codes(lowered(paddle_job(worker=role(2, command=command))))
    assert "SP453" not in codes(lowered(paddle_job(ps=role(0), worker=role(2, command=command))))


def blocks(job: PaddleJob, **fields: Any) -> list[int]:
    return [int(variables(each)["PADDLE_PORT"]) for each in templates(lowered(job, **fields))]


def test_ports_of_nodes_follow_from_the_name() -> None:
    ports = {"paddle": {"hostPorts": {"first": 40000, "last": 40099}}}
    found = [blocks(paddle_job(f"job-{i}", intranet="Host", **PS), **ports) for i in range(40)]
    assert found == [blocks(paddle_job(f"job-{i}", intranet="Host", **PS), **ports) for i in range(40)]
    assert {tuple(each) for each in found} == {(40000, 40020), (40040, 40060)}


@pytest.mark.parametrize(("given", "fits"), [("1023", False), ("1024", True), ("65496", True), ("65497", False)])
def test_ports_of_nodes_by_annotation(given: str, *, fits: bool) -> None:
    result = lowered(paddle_job(annotations={"host-port": given}, intranet="Host", **PS))
    assert codes(result) == ([] if fits else ["SP439"])


@pytest.mark.parametrize("given", ["", "-1", "4e4", "\N{FULLWIDTH DIGIT FOUR}0000", "40000 ", "9" * 5000])
def test_invalid_ports(given: str) -> None:
    assert codes(lowered(paddle_job(annotations={"host-port": given}, intranet="Host", **PS))) == ["SP439"]


def test_the_gang_counts_await_and_all_roles() -> None:
    given = {name: role(size, resources={"requests": {"cpu": "1", "memory": "1Gi"}}) for name, size in SIZES.items()}
    found = {
        jobs: body(lowered(paddle_job(**given), engines={"jobs": jobs, "gang": "volcano"}), "PodGroup")["spec"]
        for jobs in ENGINES
    }
    assert {jobs: spec["minMember"] for jobs, spec in found.items()} == {"core": 5, "jobset": 5}
    assert found["jobset"]["minResources"] == {"cpu": "5", "memory": "5Gi"}
    assert found["core"]["minResources"] == {"cpu": "5020m", "memory": "5216Mi"}


SIZES = {"ps": 2, "worker": 3}


def test_the_users_scheduler_and_priority_are_kept() -> None:
    own = {"priorityClassName": "mine"}
    policy = {"priorityClass": "ours"}
    result = lowered(
        paddle_job(ps=role(1, spec=own), worker=role(1), schedulingPolicy=policy), engines={"gang": "coscheduling"}
    )
    assert [each["spec"]["priorityClassName"] for each in templates(result)] == ["mine", "ours"]
    left_alone = lowered(paddle_job(worker=role(spec={"schedulerName": "mine"})), engines={"gang": "volcano"})
    assert [each["spec"]["schedulerName"] for each in templates(left_alone)] == ["mine"]
    assert of_kind(left_alone, "PodGroup") == []
