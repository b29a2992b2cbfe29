"""A lowered TrainingJob: its variables, commands, runs and external references."""

import json
from typing import Any

import pytest

from stowplan.library.dialects.shared.context import Lowered
from stowplan.library.dialects.training_job.etcd import endpoints
from stowplan.library.manifest import ExternalReference, Json
from stowplan.library.values import labels
from stowplan.library.values.names import HASH_LENGTH, LABEL_LIMIT
from tests.unit.specs import codes, lowered, of_kind, training_job

KUEUE: dict[str, Any] = {"engines": {"jobs": "jobset", "gang": "kueue", "queue": "training"}}
TOLERANT: dict[str, Any] = {"fault_tolerant": True, "is_nccl": True}
GPU = "nvidia.com/gpu"


def templates(result: Lowered) -> dict[str, Json]:
    """Pod templates by role."""
    jobs = [each.body["spec"] for each in of_kind(result, "Job")]
    sets = of_kind(result, "JobSet")
    jobs += [job["template"]["spec"] for each in sets for job in each.body["spec"]["replicatedJobs"]]
    return {job["template"]["metadata"]["labels"][labels.ROLE]: job["template"] for job in jobs}


def container(result: Lowered, role: str = "trainer") -> Json:
    """The container of a role, which is a sidecar in a helper's pod."""
    spec = templates(result)[role]["spec"]
    every = [*spec.get("initContainers", ()), *spec["containers"]]
    found: Json = next(each for each in every if each["name"] == role)
    return found


def variables(result: Lowered, role: str = "trainer") -> dict[str, str]:
    return {each["name"]: each.get("value", "") for each in container(result, role)["env"]}


def every(host: str) -> list[str]:
    """Return the names of two pods, each built from its own index."""
    assert "$(PADDLE_INIT_TRAINER_ID)" in host
    return [host.replace("$(PADDLE_INIT_TRAINER_ID)", str(index)) for index in range(2)]


def trainers(result: Lowered) -> str:
    """Name of the trainers' Job."""
    (name,) = [each.name for each in of_kind(result, "Job") if "-trainer-" in each.name]
    return name


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("python train.py", ["python", "train.py"]),
        ("  python   train.py ", ["python", "train.py"]),
        ("python train.py --name 'french onion'", ["python", "train.py", "--name", "french onion"]),
        ('python train.py --name "a \\"b\\""', ["python", "train.py", "--name", 'a "b"']),
        ("python a\\ b.py", ["python", "a b.py"]),
        ("python train.py \\\n  --lr 1\n", ["python", "train.py", "--lr", "1"]),
        ("python train.py ''", ["python", "train.py", ""]),
        ("python train.py # 5", ["python", "train.py", "#", "5"]),
        ("sh -c 'cd /a && b'", ["sh", "-c", "cd /a && b"]),
        ("", None),
        ("  ", None),
        (None, None),
    ],
)
@pytest.mark.parametrize("role", ["trainer", "pserver"])
def test_an_entrypoint_is_split_as_by_a_shell(role: str, given: str | None, words: list[str] | None) -> None:
    spec: dict[str, Any] = {"trainer": {"min-instance": 1}, "pserver": {"min-instance": 1}}
    result = lowered(training_job(**{**spec, role: {"min-instance": 1, "entrypoint": given}}))
    assert container(result, role).get("command") == words


@pytest.mark.parametrize(
    ("entrypoint", "workspace", "directory"),
    [("a", "/work", "/work"), ("a", "work", None), ("a", "", None), (None, "/work", None)],
)
def test_an_entrypoint_is_run_in_the_workspace(entrypoint: str | None, workspace: str, directory: str | None) -> None:
    """An image's own command finds the workspace in a variable."""
    result = lowered(training_job(local_job=True, trainer={"entrypoint": entrypoint, "workspace": workspace}))
    assert container(result).get("workingDir") == directory
    assert variables(result)["TRAINER_PACKAGE"] == workspace


@pytest.mark.parametrize(
    ("resources", "count", "uses_gpu"),
    [
        (None, "0", "0"),
        ({"requests": {"cpu": "200m"}}, "1", "0"),
        ({"requests": {"cpu": "2"}}, "2", "0"),
        ({"requests": {"cpu": "2001m"}}, "3", "0"),
        ({"requests": {"cpu": 1.5}}, "2", "0"),
        ({"limits": {"cpu": 4}}, "4", "0"),
        ({"limits": {"cpu": 4}, "requests": {"cpu": 2}}, "2", "0"),
        ({"limits": {"memory": "1Gi"}}, "0", "0"),
        ({"limits": {GPU: 2}}, "2", "1"),
        ({"limits": {GPU: "2", "cpu": 8}, "requests": {GPU: 2}}, "2", "1"),
        ({"limits": {GPU: 0, "cpu": 8}}, "8", "0"),
    ],
)
def test_trainers_get_the_number_of_their_devices_or_cpus(resources: Any, count: str, uses_gpu: str) -> None:
    """Rounded up; a limit alone counts as a request, as it does in Kubernetes."""
    reported = variables(lowered(training_job(local_job=True, trainer={"resources": resources})))
    assert (reported["PADDLE_INIT_TRAINER_COUNT"], reported["PADDLE_INIT_USE_GPU"]) == (count, uses_gpu)


def test_variables_of_the_user_take_the_place_of_the_jobs() -> None:
    envs = {"TRAINERS": "9", "POD_IP": "::1", "MINE": "a"}
    env = container(lowered(training_job(local_job=True, trainer={"envs": envs})))["env"]
    assert [each for each in env if each["name"] in envs] == [
        {"name": name, "value": envs[name]} for name in ("MINE", "POD_IP", "TRAINERS")
    ]


@pytest.mark.parametrize("jobs", ["core", "jobset"])
def test_a_server_finds_itself_among_the_servers(jobs: str) -> None:
    """Programs for Fluid joined `POD_IP` and the port, and searched the servers for the result."""
    result = lowered(training_job(pserver={"min-instance": 2}), engines={"jobs": jobs})
    env = container(result, "pserver")["env"]
    names = [each["name"] for each in env]
    assert names.index("PADDLE_INIT_TRAINER_ID") < names.index("POD_IP")
    own = variables(result, "pserver")
    assert own["PADDLE_INIT_PSERVERS"].split(",") == own["PADDLE_PSERVER_IPS"].split(",") == every(own["POD_IP"])
    assert variables(result)["PADDLE_INIT_PSERVERS"] == own["PADDLE_INIT_PSERVERS"]
    assert (own["TRAINING_ROLE"], own["PADDLE_TRAINING_ROLE"]) == ("PSERVER", "PSERVER")


@pytest.mark.parametrize("jobs", ["core", "jobset"])
def test_a_trainer_finds_itself_among_the_trainers(jobs: str) -> None:
    """Fluid found its own endpoint among those of all trainers."""
    own = variables(lowered(training_job(is_nccl=True), engines={"jobs": jobs}))
    assert own["PADDLE_TRAINER_IPS"].split(",") == every(own["POD_IP"])
    assert (own["TRAINING_ROLE"], own["PADDLE_TRAINING_ROLE"]) == ("TRAINER", "TRAINER")


@pytest.mark.parametrize(
    ("given", "text", "host"),
    [
        ("etcd", "http://etcd:2379", "etcd"),
        ("etcd.ml:80", "http://etcd.ml:80", "etcd.ml"),
        ("https://etcd/", "https://etcd:2379", "etcd"),
        ("http://a:1, b", "http://a:1,http://b:2379", "a"),
    ],
)
def test_addresses_of_an_etcd(given: str, text: str, host: str) -> None:
    found = endpoints(given)
    assert found
    assert (found.text, found.host) == (text, host)
    result = lowered(training_job(**TOLERANT, master={"etcd-endpoint": given}))
    assert container(result, "master")["command"][-1] == f"-endpoints={text}"
    assert variables(result)["ETCD_IP"] == host


@pytest.mark.parametrize("given", ["http://etcd/v3", "etcd:port", "etcd:", "a b", "unix:///a", "a,", "-etcd"])
def test_invalid_addresses_of_an_etcd(given: str) -> None:
    assert endpoints(given) is None
    assert codes(lowered(training_job(**TOLERANT, master={"etcd-endpoint": given}))) == ["SP206"]


def test_an_elastic_job_gets_only_its_bounds() -> None:
    elastic: dict[str, Any] = {"fault_tolerant": True, "pserver": {"min-instance": 1}}
    result = lowered(training_job(**elastic, trainer={"min-instance": 2, "max-instance": 6}), **KUEUE)
    sized = {"TRAINERS", "PADDLE_TRAINER_IPS", "PADDLE_INIT_NUM_GRADIENT_SERVERS"}
    for role in ("master", "pserver", "trainer"):
        reported = variables(result, role)
        assert not sized & reported.keys()
        assert (reported["TRAINERS_MIN"], reported["TRAINERS_MAX"]) == ("2", "6")


@pytest.mark.parametrize(("least", "most"), [(2, 7), (3, 6)])
def test_another_size_of_an_elastic_job_is_another_run(least: int, most: int) -> None:
    """Kueue refuses to change the size of a running Job, and Argo CD leaves it alone."""
    elastic: dict[str, Any] = {"fault_tolerant": True, "pserver": {"min-instance": 1}}
    one = lowered(training_job(**elastic, trainer={"min-instance": 2, "max-instance": 6}), **KUEUE)
    other = lowered(training_job(**elastic, trainer={"min-instance": least, "max-instance": most}), **KUEUE)
    assert trainers(one)[:-HASH_LENGTH] == trainers(other)[:-HASH_LENGTH]
    assert trainers(one) != trainers(other)


def test_the_largest_size_is_no_part_of_a_run_of_fixed_size() -> None:
    jobs = [lowered(training_job(**TOLERANT, trainer={"min-instance": 2, "max-instance": most})) for most in (5, 6)]
    assert trainers(jobs[0]) == trainers(jobs[1])
    assert all(codes(each) == ["SP471"] for each in jobs)


@pytest.mark.parametrize(
    "edit",
    [
        {"trainer": {"min-instance": 3}},
        {"image": "paddle:2"},
        {"pserver": {"min-instance": 1, "envs": {"A": "b"}}},
        {"pserver": {"min-instance": 2}},
        {"passes": 2},
        {"run": "2"},
    ],
)
@pytest.mark.parametrize("jobs", ["core", "jobset"])
def test_an_edit_of_one_role_renames_all(jobs: str, edit: Any) -> None:
    base: dict[str, Any] = {"pserver": {"min-instance": 1}}
    before = lowered(training_job(**base), engines={"jobs": jobs})
    after = lowered(training_job(**{**base, **edit}), engines={"jobs": jobs})
    names = [{(each.kind, each.name) for each in result.unit.manifests if each.run} for result in (before, after)]
    assert names[0]
    assert not names[0] & names[1]


def test_a_deadline_changes_in_place() -> None:
    results = [lowered(training_job(is_nccl=True, annotations={"walltime": seconds})) for seconds in (0, 60, 120)]
    assert len({trainers(each) for each in results}) == 1
    (jobs,) = zip(*(of_kind(each, "Job") for each in results), strict=True)
    assert [each.body["spec"].get("activeDeadlineSeconds") for each in jobs] == [None, 60, 120]


@pytest.mark.parametrize(("tolerant", "field"), [(True, "backoffLimitPerIndex"), (False, "backoffLimit")])
def test_one_trainer_fails_all_unless_the_job_is_tolerant(*, tolerant: bool, field: str) -> None:
    (job,) = [
        each.body["spec"]
        for each in of_kind(lowered(training_job(is_nccl=True, fault_tolerant=tolerant)), "Job")
        if "-trainer-" in each.name
    ]
    assert {key: job[key] for key in job if key.startswith("backoff")} == {field: 6 if tolerant else 0}
    assert "maxFailedIndexes" not in job


@pytest.mark.parametrize(
    ("engines", "wishes", "expected"),
    [
        ({}, {"priority": "high"}, set()),
        ({"gang": "volcano"}, {"priority": "high"}, {"high"}),
        ({"gang": "coscheduling"}, {"priority": "high"}, {"high"}),
        ({"gang": "kueue", "queue": "q"}, {"priority": "high"}, {"high"}),
        ({"gang": "kueue", "queue": "q"}, {"priority": "HIGH_1"}, set()),
        ({"gang": "volcano"}, {"priority": "high", "scheduler": "mine"}, set()),
        ({"gang": "kueue", "queue": "q"}, {"priority": "high", "scheduler": "mine"}, {"high"}),
        ({"gang": "volcano"}, {}, set()),
    ],
)
def test_a_priority_is_that_of_a_priority_class_where_somebody_looks_at_it(
    engines: Any, wishes: Any, expected: set[str]
) -> None:
    """It is a label of the pods in any case."""
    result = lowered(training_job(is_nccl=True, annotations=wishes), engines=engines)
    assert {each.name for each in result.unit.externals if each.kind == "PriorityClass"} == expected
    assert codes(result) == ["SP480"] * len(expected)
    metadata = templates(result)["trainer"]["metadata"]
    assert metadata["labels"].get("priority") == wishes.get("priority")
    assert metadata.get("annotations", {}).get("priority") == wishes.get("priority")


@pytest.mark.parametrize(
    ("engines", "spec", "group"),
    [
        ({}, {}, "mine"),
        ({"gang": "volcano"}, {}, None),
        ({"gang": "volcano"}, {"schedulerName": "volcano"}, "mine"),
        ({"gang": "kueue", "queue": "q"}, {}, "mine"),
    ],
)
def test_a_pod_group_of_the_user_counts_unless_one_is_compiled(engines: Any, spec: Any, group: str | None) -> None:
    result = lowered(training_job(is_nccl=True, podGroupName="mine", **spec), engines=engines)
    named = ExternalReference("PodGroup", "ml", "mine")
    assert (named in result.unit.externals) is (group is not None)
    notes = templates(result)["trainer"]["metadata"]["annotations"]
    assert (notes["scheduling.k8s.io/group-name"] == "mine") is (group is not None)
    assert codes(result) == ([] if group else ["SP406"])


def test_the_annotations_scheduler_comes_before_the_specs() -> None:
    wishes = {"scheduler": "first"}
    result = lowered(training_job(schedulerName="second", annotations=wishes, **TOLERANT))
    assert {each["spec"]["schedulerName"] for each in templates(result).values()} == {"first"}


def test_a_long_name_fits_into_a_label() -> None:
    result = lowered(training_job("recommend-" * 7 + "nightly", is_nccl=True))
    assert len(templates(result)["trainer"]["metadata"]["labels"]["paddle-job"]) == LABEL_LIMIT


@pytest.mark.parametrize(("envs", "ports"), [({}, [7164]), ({"PADDLE_INIT_PORT": "7000"}, [])])
def test_await_does_not_watch_ports_that_servers_do_not_open(envs: Any, ports: list[int]) -> None:
    result = lowered(training_job(pserver={"min-instance": 1, "envs": envs}))
    (config,) = of_kind(result, "ConfigMap")
    assert json.loads(config.body["data"]["config.json"])["ports"] == ports


def test_ports_on_the_network_of_a_node_are_declared_once() -> None:
    result = lowered(training_job(host_network=True, **TOLERANT), engines={"jobs": "jobset"})
    spec = templates(result)["master"]["spec"]
    declared = [each["containerPort"] for field in ("initContainers", "containers") for each in ports(spec[field])]
    assert declared == [2379, 8080]
    assert (spec["hostNetwork"], spec["dnsPolicy"]) == (True, "ClusterFirstWithHostNet")


def ports(containers: list[Json]) -> list[Json]:
    return [port for each in containers for port in each.get("ports", ())]


@pytest.mark.parametrize(
    ("image", "command", "found"),
    [
        ("", ["paddle_k8s", "start_pserver"], "SP482"),
        ("paddlepaddle/paddlecloud-job:0.11.0", ["paddle_k8s", "start_pserver"], "SP482"),
        ("mirror:5000/paddlepaddle/paddlecloud-job:1", ["paddle_k8s", "start_pserver"], "SP482"),
        ("registry.example.com/paddlecloud-job:1", None, "SP483"),
    ],
)
def test_the_old_image_starts_servers_but_no_trainers(image: str, command: list[str] | None, found: str) -> None:
    silent: dict[str, Any] = {"min-instance": 1, "entrypoint": None}
    servers = lowered(training_job(image=image, pserver=silent))
    assert container(servers, "pserver").get("command") == command
    assert found in codes(lowered(training_job(image=image, trainer=silent, local_job=True)))


@pytest.mark.parametrize(
    ("master", "etcd"),
    [({}, "http://$(ETCD_IP):2379"), ({"etcd-endpoint": "a,b"}, "http://a:2379,http://b:2379")],
)
def test_servers_of_the_old_image_register_at_the_etcd(master: Any, etcd: str) -> None:
    """As the launcher's `start_new_pserver` does, but without a question to the API server of Kubernetes."""
    silent: dict[str, Any] = {"min-instance": 1, "entrypoint": None}
    result = lowered(training_job(image="", fault_tolerant=True, pserver=silent, master=master))
    command = container(result, "pserver")["command"]
    assert command == [
        "/usr/bin/pserver",
        "-port=$(PADDLE_INIT_PORT)",
        "-num-pservers=$(PSERVERS)",
        f"-etcd-endpoint={etcd}",
    ]
    assert {"PADDLE_INIT_PORT", "PSERVERS", "ETCD_IP"} <= variables(result, "pserver").keys()


@pytest.mark.parametrize(("spec", "wishes", "dropped"), [("a", "b", True), ("a", "a", False), ("a", None, False)])
def test_a_scheduler_that_is_not_used_is_reported(spec: str, wishes: str | None, *, dropped: bool) -> None:
    result = lowered(training_job(is_nccl=True, schedulerName=spec, annotations={"scheduler": wishes}))
    assert codes(result) == (["SP406"] if dropped else [])
