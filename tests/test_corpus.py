"""Real documents of the replaced systems, which are not part of this repository.

Asserts check their output instead of snapshots, which would be committed.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from stowplan.schema.kinds.table import KINDS
from tests.nightly.node.stories import guide
from tests.pods import values
from tests.repositories import CORPUS, PLACEHOLDER, Result, compiled, corpus

pytestmark = pytest.mark.skipif(not CORPUS, reason="the documents of the old systems are not beside this repository")

WITH_PLACEHOLDERS = [name for name, text in CORPUS.items() if PLACEHOLDER.search(json.dumps(yaml.safe_load(text)))]


OF_PADDLE_OPERATOR = {name: text for name, text in corpus().items() if "batch.paddlepaddle.org/" in text}


ORDER = "Write the annotation `stowplan.dev/run-after: SampleJob/imagenet-{}` here, or the reverse there."


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """All documents of paddle-operator, compiled together: the dataset and the jobs that use it."""
    return compiled(tmp_path_factory.mktemp("corpus"), OF_PADDLE_OPERATOR)


def test_documents_compile(result: Result) -> None:
    assert result.errors == []
    assert len(OF_PADDLE_OPERATOR) >= 10


def test_nothing_is_warned_of_but_a_slip(result: Result) -> None:
    """Nothing else in the quick start is dead or risky; infos say where a default differs.

    The guide runs its tasks one after the other. Committed together they would contradict each other.
    """
    warnings = [found for found in result.diagnostics if found.severity == "warning"]
    pin = "Name a version, or a digest (`@sha256:…`)."
    image = "template.spec.containers[0].image"
    assert [(found.code, found.field_path, found.hint) for found in warnings] == [
        ("SP607", f"spec.worker.{image}", pin),
        ("SP607", f"spec.ps.{image}", pin),
        ("SP430", "spec.cleanPodPolicy", 'Did you mean "Never"?'),
        *(
            ("SP754", "spec.type", f"{ORDER.format(task)} A task that is over can be removed.")
            for task in ("rmr", "clear")
        ),
    ]
    infos = {(found.code, found.field_path) for found in result.diagnostics if found.severity == "info"}
    assert infos == {("SP411", "spec.cache"), ("SP536", "argocd")}


def test_dataset_becomes_a_volume(result: Result) -> None:
    volume = _object(result, "PersistentVolume", "paddle-system.imagenet")["spec"]
    claim = _object(result, "PersistentVolumeClaim", "imagenet")["spec"]
    assert volume["csi"]["nodePublishSecretRef"] == {"name": "imagenet", "namespace": "paddle-system"}
    assert volume["csi"]["volumeHandle"] == claim["volumeName"] == "paddle-system.imagenet"
    assert (volume["claimRef"]["namespace"], volume["claimRef"]["name"]) == ("paddle-system", "imagenet")
    assert volume["mountOptions"] == ["cache-dir=/dev/shm/imagenet", "cache-size=4096", "free-space-ratio=0.1"]


def test_dataset_becomes_a_cache_pod_on_one_node(result: Result) -> None:
    runtime = _object(result, "StatefulSet", "imagenet-runtime")["spec"]
    assert runtime["replicas"] == 1
    assert runtime["serviceName"] == "imagenet-runtime-service"
    (container,) = runtime["template"]["spec"]["containers"]
    assert container["image"] == "registry.example.com/ml/stowplan-cache:1"
    assert container["command"] == ["python", "-m", "stowplan.agents.cache"]
    assert container["args"] == ["runtime"]


@pytest.mark.parametrize(
    ("stem", "args"),
    [
        ("imagenet-sync", ["sync"]),
        ("imagenet-warmup-0", ["warmup", "--partition", "0"]),
        ("imagenet-sync-samplejob", ["sync"]),
        ("imagenet-warmup-samplejob-0", ["warmup", "--partition", "0"]),
        ("imagenet-rmr-samplejob", ["rmr"]),
        ("imagenet-clear-samplejob-0", ["clear", "--partition", "0"]),
    ],
)
def test_tasks_become_jobs(result: Result, stem: str, args: list[str]) -> None:
    assert _pod(result, stem)["containers"][0]["args"] == args


@pytest.mark.parametrize(
    ("stem", "source"),
    [
        ("imagenet-sync", "bos://paddleflow-public.hkg.bcebos.com/imagenet/demo/"),
        ("imagenet-sync-samplejob", "bos://paddleflow-public.hkg.bcebos.com/imagenet/"),
    ],
)
def test_syncs_copy_to_the_root_of_the_volume(result: Result, stem: str, source: str) -> None:
    configuration = _configuration(result, stem)
    assert (configuration["source"], configuration["destination"]) == (source, "/")
    secrets = {
        variable["valueFrom"]["secretKeyRef"]["name"]
        for variable in values(_pod(result, stem))
        if "secretKeyRef" in variable.get("valueFrom", {})
    }
    assert secrets == {"imagenet"}


def test_paths_are_removed_below_the_mount(result: Result) -> None:
    configuration = _configuration(result, "imagenet-rmr-samplejob")
    assert (configuration["mountPath"], configuration["paths"]) == ("/mnt/imagenet", ["n01514859"])


@pytest.fixture(scope="module")
def cubes(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """All DataCubes, compiled together."""
    own = {name: text for name, text in corpus().items() if "tensorstack.dev/" in text}
    return compiled(tmp_path_factory.mktemp("cubes"), own)


def test_cubes_compile_and_only_defaults_are_remarked(cubes: Result) -> None:
    infos = [(found.code, found.field_path) for found in cubes.diagnostics]
    assert sorted(infos) == [
        ("SP411", "spec.executor"),
        ("SP411", "spec.executor"),
        ("SP411", "spec.executor"),
        ("SP411", "spec.source.options"),
        ("SP536", "argocd"),
    ]


@pytest.mark.parametrize(
    ("cube", "ends", "image"),
    [
        ("download-s3", ("s3", "pvc"), "transfer"),
        ("git-download", ("git", "pvc"), "git"),
        ("upload-hf", ("pvc", "huggingface"), "transfer"),
    ],
)
def test_cubes_become_transfers(cubes: Result, cube: str, ends: tuple[str, str], image: str) -> None:
    stem = f"{cube}-batchjob"
    (container,), configuration = _pod(cubes, stem)["containers"], _configuration(cubes, stem)
    assert (configuration["source"]["type"], configuration["sink"]["type"]) == ends
    assert container["image"] == f"registry.example.com/ml/stowplan-{image}:1"
    variables = {each["name"] for each in values(_pod(cubes, stem))}
    reported = [
        value for side in ("source", "sink") for key, value in configuration[side].items() if key.endswith("Env")
    ]
    assert reported
    assert set(reported) <= variables


def test_cubes_take_their_secrets_by_reference(cubes: Result) -> None:
    variables = {each["name"]: each for each in values(_pod(cubes, "download-s3-batchjob"))}
    keys = {"S3_ENDPOINT": "endpoint", "S3_ACCESS_KEY_ID": "accessKeyID", "S3_SECRET_ACCESS_KEY": "secretAccessKey"}
    for name, key in keys.items():
        assert variables[name]["valueFrom"]["secretKeyRef"] == {"name": "s3env-secret-name", "key": key}
    assert _configuration(cubes, "download-s3-batchjob")["source"]["uri"] == "s3://bucket/path/to/the/dir"


def test_cubes_keep_their_place_in_the_claim(cubes: Result) -> None:
    assert _configuration(cubes, "download-s3-batchjob")["sink"]["path"] == "save/path"
    assert _configuration(cubes, "upload-hf-batchjob")["source"]["path"] == "path/to/the/dir"


@pytest.mark.parametrize("name", WITH_PLACEHOLDERS)
def test_each_placeholder_is_reported(name: str, tmp_path: Path) -> None:
    document = yaml.safe_load(CORPUS[name])
    placeholders = PLACEHOLDER.findall(json.dumps(document))
    found = compiled(tmp_path, {"raw.yaml": CORPUS[name]}).errors
    unknown = [] if document["kind"] in KINDS else ["SP207"]
    assert sorted(problem.code for problem in found) == ["SP114"] * len(placeholders) + unknown


PADDLE_JOBS = {"ps-demo", "resnet", "resnet50", "wide-ande-deep", "wide-ande-deep-service"}


def test_training_jobs_become_jobs_of_their_roles(result: Result) -> None:
    with_servers = PADDLE_JOBS - {"resnet", "resnet50"}
    jobs = {stem for kind, stem in _objects(result) if kind == "Job" and "-paddlejob-" in stem}
    assert jobs == {f"{name}-paddlejob-worker" for name in PADDLE_JOBS} | {
        f"{name}-paddlejob-ps" for name in with_servers
    }
    sizes = {stem: _object(result, "Job", stem)["spec"]["completions"] for stem in jobs}
    assert sorted(sizes.values()) == [1, 1, 1, 2, 2, 2, 2, 2]


@pytest.mark.parametrize("name", sorted(PADDLE_JOBS))
def test_every_worker_finds_itself_among_the_workers(result: Result, name: str) -> None:
    """`paddle.distributed.launch` takes the place of POD_IP in PADDLE_TRAINERS for the rank of the pod."""
    job = _object(result, "Job", f"{name}-paddlejob-worker")
    service = _object(result, "Service", f"{name}-paddlejob")["metadata"]["name"]
    own, size = _variables(job), job["spec"]["completions"]
    assert own["PADDLE_TRAINER_ID"] == "metadata.annotations['batch.kubernetes.io/job-completion-index']"
    assert own["PADDLE_TRAINERS"].split(",") == [
        own["POD_IP"].replace("$(PADDLE_TRAINER_ID)", str(index)) for index in range(size)
    ]
    assert own["PADDLE_TRAINERS"].split(",")[0] == f"{job['metadata']['name']}-0.{service}"
    assert (own["PADDLE_TRAINERS_NUM"], own["TRAINING_ROLE"]) == (str(size), "TRAINER")


@pytest.mark.parametrize("name", ["ps-demo", "wide-ande-deep", "wide-ande-deep-service"])
def test_every_server_finds_itself_among_the_servers(result: Result, name: str) -> None:
    """`fleet` takes the place of POD_IP:PADDLE_PORT in the list of the servers for the rank of the pod."""
    job = _object(result, "Job", f"{name}-paddlejob-ps")
    own, size = _variables(job), job["spec"]["completions"]
    place = f"{own['POD_IP']}:{own['PADDLE_PORT']}"
    assert own["PADDLE_PSERVERS_IP_PORT_LIST"].split(",") == [
        place.replace("$(PADDLE_TRAINER_ID)", str(index)) for index in range(size)
    ]
    worker = _variables(_object(result, "Job", f"{name}-paddlejob-worker"))
    assert worker["PADDLE_PSERVERS_IP_PORT_LIST"] == own["PADDLE_PSERVERS_IP_PORT_LIST"]


def test_gloo_meets_at_the_first_server_where_it_was_asked_for(result: Result) -> None:
    own = _variables(_object(result, "Job", "wide-ande-deep-paddlejob-worker"))
    first = own["PADDLE_PSERVERS_IP_PORT_LIST"].partition(":")[0]
    assert (own["PADDLE_WITH_GLOO"], own["PADDLE_GLOO_RENDEZVOUS"]) == ("1", "3")
    assert own["PADDLE_GLOO_HTTP_ENDPOINT"] == f"{first}:{int(own['PADDLE_PORT']) + 18}"
    assert "PADDLE_WITH_GLOO" not in _variables(_object(result, "Job", "wide-ande-deep-service-paddlejob-worker"))


@pytest.mark.parametrize(
    ("stem", "path"),
    [
        ("ps-demo-paddlejob-ps", "/mnt/imagenet"),
        ("ps-demo-paddlejob-worker", "/mnt/imagenet"),
        ("resnet50-paddlejob-worker", "/data"),
    ],
)
def test_jobs_mount_the_dataset_near_its_caches(result: Result, stem: str, path: str) -> None:
    pod = _object(result, "Job", stem)["spec"]["template"]["spec"]
    volumes = {each["name"]: each for each in pod["volumes"]}
    assert volumes["imagenet"]["persistentVolumeClaim"] == {"claimName": "imagenet"}
    assert {"mountPath": path, "name": "imagenet"} in _trainer(pod)["volumeMounts"]
    (term,) = pod["affinity"]["podAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
    runtime = _object(result, "StatefulSet", "imagenet-runtime")["spec"]["template"]["metadata"]["labels"]
    assert term["podAffinityTerm"]["labelSelector"]["matchLabels"].items() <= runtime.items()


def test_what_a_template_says_is_kept(result: Result) -> None:
    pod = _object(result, "Job", "resnet-paddlejob-worker")["spec"]["template"]["spec"]
    given = yaml.safe_load(CORPUS["paddlejob-resnet-c623a1b9"])["spec"]["worker"]["template"]["spec"]
    (container,), (before,) = pod["containers"], given["containers"]
    assert {key: value for key, value in container.items() if key != "env"} == before
    assert pod["volumes"] == given["volumes"]


def _trainer(pod: dict[str, Any]) -> dict[str, Any]:
    """The container that trains or serves: of a helper, the sidecar."""
    sidecars = [each for each in pod.get("initContainers", ()) if each.get("restartPolicy") == "Always"]
    container = (sidecars or pod["containers"])[0]
    assert isinstance(container, dict)
    return container


def _variables(job: dict[str, Any]) -> dict[str, str]:
    env = _trainer(job["spec"]["template"]["spec"])["env"]
    return {each["name"]: each.get("value") or each["valueFrom"]["fieldRef"]["fieldPath"] for each in env}


def _objects(result: Result) -> dict[tuple[str, str], dict[str, Any]]:
    return {(output.manifest.kind, output.manifest.stem): output.manifest.body for output in result.outputs}


def _object(result: Result, kind: str, stem: str) -> dict[str, Any]:
    return _objects(result)[kind, stem]


def _pod(result: Result, stem: str) -> dict[str, Any]:
    spec = _object(result, "Job", stem)["spec"]["template"]["spec"]
    assert isinstance(spec, dict)
    return spec


def _configuration(result: Result, stem: str) -> dict[str, Any]:
    """What the agent of a Job reads."""
    volumes = _pod(result, stem)["volumes"]
    name = next(volume["configMap"]["name"] for volume in volumes if "configMap" in volume)
    maps = (body for (kind, _), body in _objects(result).items() if kind == "ConfigMap")
    text = next(body["data"]["config.json"] for body in maps if body["metadata"]["name"] == name)
    configuration = json.loads(text)
    assert isinstance(configuration, dict)
    return configuration


def test_example_of_the_quick_start_is_that_of_the_guide() -> None:
    """But for the tasks that are committed before it is their time."""
    documents = [yaml.safe_load(text) for text in CORPUS.values()]
    those = {
        each["metadata"]["name"]: each for each in documents if each["metadata"].get("namespace") == guide.NAMESPACE
    }
    for name, document in guide.example_specs().items():
        document["spec"].pop("terminate", None)
        assert document["spec"] == those[name]["spec"]
    assert guide.training() == those["ps-demo"]
    assert guide.reading()["spec"]["ps"] == those["ps-demo"]["spec"]["ps"]
