"""Each image is built, and run as in compiled pods."""

import json
import os
import re
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.metadata import version
from itertools import takewhile
from pathlib import Path
from typing import Any, get_args

import pytest

from stowplan.library.builders.pods import agent_pod
from stowplan.library.ir.data import Site
from stowplan.schema.agents.marker import COMPLETE_FILE, warmup_path
from stowplan.schema.platform.platform import Platform
from tests.absent import skip
from tests.agents.cache.redis_server import program as redis_program
from tests.agents.cache.redis_server import running
from tests.agents.cache.task_agent import Dataset
from tests.agents.cache.volume import Store, Volume
from tests.agents.transfer.agent import files
from tests.agents.transfer.git.author import author
from tests.agents.transfer.git.server import TOKEN
from tests.agents.transfer.git.server import serving as git_server
from tests.agents.transfer.server import ACCESS_KEY, SECRET_KEY, Storage, needed, new_bucket, serving
from tests.cluster.client import wait_for
from tests.cluster.tools import JUICEFS
from tests.nightly.images.image_builder import Builder, image_builder
from tests.nightly.images.podman import LIMITS, client_image
from tests.nightly.images.pods import OUT, AgentContainer, agent_containers, bytes_of

IMAGES = ("cache", "control", "git", "transfer")
OWNER = "65532:65532"
LABEL = "org.opencontainers.image."
TOOLS = {"cc", "c++", "gcc", "g++", "cpp", "ld", "as", "make", "cargo", "go", "rustc", "pip", "pip3", "uv"}
MODULES = ("pip", "setuptools", "wheel", "hatchling", "ensurepip", "stowplan.compiler", "stowplan.library")
MEMORY = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]
"""Where a container finds its limit, with the second and the first kind of control groups."""
LOOK = f"""
import importlib.util, json, os, pathlib, shutil
def found(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False
def writable(path):
    try:
        with open(os.path.join(path, "probe"), "x"):
            return True
    except OSError:
        return False
status = dict(line.split(":\\t", 1) for line in pathlib.Path("/proc/self/status").read_text().splitlines())
folders = ["/", "/etc/stowplan", "/opt/stowplan", "/run", "/usr/local/bin", "/var/tmp"]
print(json.dumps({{
    "ids": [os.getuid(), os.getgid()],
    "capabilities": [int(status[name], 16) for name in ("CapPrm", "CapEff", "CapBnd", "CapAmb")],
    "noNewPrivileges": status["NoNewPrivs"],
    "seccomp": status["Seccomp"],
    "memory": next(int(path.read_text()) for path in map(pathlib.Path, {MEMORY!r}) if path.exists()),
    "writable": [each for each in folders if writable(each)],
    "scratch": writable("/tmp"),
    "modules": [each for each in {MODULES!r} if found(each)],
    "tools": [each for each in {sorted(TOOLS)!r} if shutil.which(each)],
}}))
"""
"""What a container sees of its own limits."""

LARGE = b"w" * 10_000
TRUSTING = ("-c", "safe.directory=*")
"""Options of Git for folders of other users."""

Run = Callable[..., Any]


@pytest.fixture(scope="module")
def builder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Builder]:
    """Builds images; the tests are skipped where that is not possible."""
    with image_builder(tmp_path_factory.mktemp("images")) as made:
        yield made


@pytest.fixture(scope="module")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """URL of a running server."""
    with serving(needed(), tmp_path_factory.mktemp("s3")) as url:
        yield url


@pytest.fixture
def run(builder: Builder, tmp_path: Path) -> Run:
    """Runs a container of ours as its pod does, and gives its exit code and what it wrote.

    `folders` stand for the volumes of the pod with these names, `config` for its configuration. One with a `name` is
    left to run.
    """

    def running(
        container: AgentContainer,
        *command: str,
        config: str | None = None,
        folders: dict[str, Path] | None = None,
        variables: dict[str, str] | None = None,
        name: str | None = None,
    ) -> Any:
        volumes = {each["name"]: _folder(tmp_path / each["name"]) for each in container.spec["volumes"]}
        volumes |= folders or {}
        if container.config_volume:
            text = container.config() if config is None else config
            (volumes[container.config_volume] / "config.json").write_text(text, encoding="utf-8")
        options = container.arguments(volumes, variables or {})
        options += ["--detach", f"--name={name}"] if name else []
        image = builder.image(container.image)
        words = command or tuple(container.command)
        if not command and "stowplan.agents.transfer" in words:
            # The stores of these tests are processes of this machine.
            words += ("--allow-loopback",)
        return builder.podman.run(
            "run", "--rm", *options, "--entrypoint", words[0], image, *words[1:], accepted=range(256)
        )

    return running


def _folder(path: Path) -> Path:
    path.mkdir(exist_ok=True)
    return path


def some(image: str) -> AgentContainer:
    """A container of the image in the examples."""
    return next(each for each in agent_containers() if each.image == image)


@pytest.mark.parametrize("target", [*IMAGES, "compiler"])
def test_layers(target: str, builder: Builder, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They hold what the image needs, owned by root, and nothing that gives rights or builds."""
    layers = builder.podman.layers(builder.image(target), builder.runtime, tmp_path)
    for layer in layers:
        top = sorted({"/".join(each.name.split("/")[:2]) for each in layer.members if each.isfile()})
        with capsys.disabled():
            sys.stdout.write(f"{target:<9}{layer.size / 1e6:7.1f} MB  {', '.join(top)}\n")
    members = [each for layer in layers for each in layer.members]
    assert {each.uid for each in members} == {0}
    assert [each.name for each in members if each.mode & (stat.S_ISUID | stat.S_ISGID) and each.isfile()] == []
    assert [each.name for each in members if each.mode & stat.S_IWOTH and each.isfile()] == []
    names = {each.name for each in members if each.isfile() or each.issym()}
    assert {name for name in names if Path(name).name in TOOLS and "/bin/" in f"/{name}"} == set()
    programs = {name for name in names if name.startswith("opt/stowplan/bin/")}
    assert {Path(name).name for name in programs} == (
        {"stowplan", "stowplan-transfer"} if target == "compiler" else set()
    )
    assert {name for name in names if re.match(r"opt/stowplan/(pip|setuptools|wheel|hatchling)\b", name)} == set()
    if target not in ("compiler", "git"):
        own = ("opt/stowplan/", "usr/local/bin/juicefs") if target == "cache" else "opt/stowplan/"
        assert {name for name in names if not name.startswith(own)} == set()
    if target == "transfer":
        assert sum(layer.size for layer in layers) < 60e6


@pytest.mark.parametrize("target", IMAGES)
def test_image_names_its_user_and_its_program(target: str, builder: Builder) -> None:
    name = builder.image(target)
    (found,) = json.loads(builder.podman.run("image", "inspect", name).stdout)
    assert found["Config"]["User"] == OWNER
    assert found["Config"]["WorkingDir"] == "/tmp"
    assert "Entrypoint" not in found["Config"]
    done = builder.podman.run("run", "--rm", *LIMITS, "--network=none", "--read-only", name)
    assert "usage: python -m" in done.stdout


@pytest.mark.parametrize("target", IMAGES)
def test_container_has_the_rights_of_its_pod_and_no_more(target: str, run: Run) -> None:
    container = some(target)
    assert json.loads(run(container, "python", "-c", LOOK).stdout) == {
        "ids": [65532, 65532],
        "capabilities": [0, 0, 0, 0],
        "noNewPrivileges": "1",
        "seccomp": "2",
        "memory": bytes_of(container.container["resources"]["limits"]["memory"]),
        "writable": [],
        "scratch": True,
        "modules": [],
        "tools": [],
    }


def programs() -> dict[str, AgentContainer]:
    """One container of each program of each image that the examples have, by its command line without options."""
    return {" ".join((each.image, *takewhile(_is_word, each.command[2:]))): each for each in agent_containers()}


def _is_word(argument: str) -> bool:
    return not argument.startswith("-")


PROGRAMS = programs()


@pytest.mark.parametrize("container", PROGRAMS.values(), ids=PROGRAMS)
def test_image_has_the_program_that_a_pod_names(container: AgentContainer, run: Run) -> None:
    done = run(container, *container.command, "--help")
    assert done.returncode == 0, done.stderr
    assert f"usage: python -m {container.command[2]}" in done.stdout


@pytest.mark.parametrize("target", ["control", "transfer"])
def test_wrong_configuration_ends_with_2_and_a_sentence(target: str, run: Run) -> None:
    done = run(some(target), config='{"task": ')
    assert done.returncode == 2
    assert "/etc/stowplan/config.json" in json.loads(done.stderr.splitlines()[-1])["message"]


def test_await_says_what_it_lacks_outside_of_a_cluster(run: Run) -> None:
    done = run(next(each for each in agent_containers(OUT / "mxnet") if each.image == "control"))
    assert done.returncode == 2
    assert "KUBERNETES_SERVICE_HOST" in json.loads(done.stderr.splitlines()[-1])["message"]


def test_wait_ends_with_the_dataset(run: Run, tmp_path: Path) -> None:
    container = next(each for each in agent_containers() if "stowplan.agents.wait_dataset" in each.command)
    (mount,) = [each for each in container.container["volumeMounts"] if each["mountPath"] in container.command]
    marker = tmp_path / mount["name"] / COMPLETE_FILE
    marker.parent.mkdir(parents=True)
    marker.write_text(json.dumps({"format": 1, "run": "sync"}))
    warmed = tmp_path / mount["name"] / warmup_path(0)
    warmed.parent.mkdir()
    end = {"run": "warmup", "result": "succeeded", "exitCode": 0, "partition": 0, "partitions": 1, "sync": "sync"}
    warmed.write_text(json.dumps({"format": 1, **end}))
    done = run(container)
    assert done.returncode == 0, done.stderr


def cubes(kind: str) -> list[AgentContainer]:
    """Transfers of the examples whose remote side is of this type."""
    found = [each for each in agent_containers(OUT / "datacube") if each.command[2] == "stowplan.agents.transfer"]
    return [each for each in found if kind in {side["type"] for side in sides(each).values()}]


def sides(container: AgentContainer) -> dict[str, dict[str, Any]]:
    config = json.loads(container.config())
    return {name: config[name] for name in ("source", "sink")}


def claim(folder: Path, container: AgentContainer) -> Path:
    """A claim as the kubelet gives it to a pod with this `fsGroup`; without one, as somebody else left it."""
    path = folder / "claim"
    path.mkdir()
    group = container.spec["securityContext"].get("fsGroup")
    if group is not None:
        os.chown(path, 0, group)
        path.chmod(0o2775)
    return path


@pytest.mark.parametrize("container", cubes("s3"), ids=lambda each: each.path.parent.name)
def test_copies_objects(container: AgentContainer, run: Run, s3_server: str, tmp_path: Path) -> None:
    source, sink = sides(container).values()
    folder = claim(tmp_path, container)
    upload = source["type"] == "pvc"
    local, remote = (source, sink) if upload else (sink, source)
    bucket, _, prefix = remote["uri"].removeprefix("s3://").partition("/")
    prefix = f"{prefix.strip('/')}/" if prefix else ""
    storage = Storage(s3_server, bucket)
    with storage.client() as client:
        client.call("PUT", accepted=(409,))
    data = folder / local["path"]
    if upload:
        data.mkdir(parents=True)
        (data / "a").write_bytes(b"image")
    else:
        storage.put({f"{prefix}a": b"image"})
    keys = {"S3_ENDPOINT": s3_server, "S3_ACCESS_KEY_ID": ACCESS_KEY, "S3_SECRET_ACCESS_KEY": SECRET_KEY}
    done = run(container, folders={"dataset": folder}, variables=keys)
    assert done.returncode == 0, done.stderr
    assert files(data) == {"a": b"image"}
    assert storage.read()[f"{prefix}a"] == b"image"


def test_clones_and_pushes(run: Run, tmp_path: Path) -> None:
    """With Git LFS, and in a claim where somebody else owns what the agent pushes."""
    upload, download = cubes("git")
    assert [sides(each)["source"]["type"] for each in (upload, download)] == ["pvc", "git"]
    folder = claim(tmp_path, download)
    clone = folder / "code" / "model"
    with git_server(tmp_path / "forge") as forge:
        forge.users |= {"oauth2": TOKEN}
        writer = author(tmp_path / "author", forge)
        pointers = writer.lfs({"weights": LARGE})
        writer.commit({**pointers, ".gitattributes": b"weights filter=lfs diff=lfs merge=lfs -text\n"})
        writer.git("tag", "v1.4")
        writer.git("push", "--quiet", "origin", "--tags")
        variables = {"URL": f"{forge.url}/model.git", "TOKEN": TOKEN}
        done = run(download, folders={"dataset": folder}, variables=variables)
        assert done.returncode == 0, done.stderr
        assert (clone / "weights").read_bytes() == LARGE
        trainer = replace(writer, folder=clone)
        trainer.git(*TRUSTING, "switch", "--quiet", "--create", "trained")
        trainer.git(*TRUSTING, "commit", "--quiet", "--allow-empty", "-m", "Train")
        done = run(upload, folders={"dataset": folder}, variables=variables)
        assert done.returncode == 0, done.stderr
        pushed = writer.git("--git-dir", str(writer.bare), "rev-parse", "trained")
        assert pushed == trainer.git(*TRUSTING, "rev-parse", "HEAD")


def test_probes_of_a_runtime_without_a_mount(run: Run, builder: Builder) -> None:
    """As the kubelet runs them, beside the program: it is alive, and its pod is not ready."""
    container = next(each for each in agent_containers() if each.command[3:] == ["runtime"])
    name = f"stowplan-runtime-{os.getpid()}"
    started = run(container, name=name)
    assert started.returncode == 0, started.stderr

    def probe(kind: str) -> tuple[int, str]:
        words = container.container[f"{kind}Probe"]["exec"]["command"]
        done = builder.podman.run("exec", name, *words, accepted=(0, 1))
        return done.returncode, done.stderr

    try:
        wait_for(lambda: probe("liveness")[0] == 0, what="a runtime that is alive")
        code, reason = probe("readiness")
        assert (code, "NotMounted" in reason) == (1, True)
    finally:
        builder.podman.run("rm", "--force", "--time=2", name)


def test_fills_a_dataset(run: Run, builder: Builder, s3_server: str, tmp_path: Path) -> None:
    """A real volume in a real store, from another bucket. The second container sees what the first one left there."""
    redis_server = redis_program()
    if redis_server is None:
        skip("no redis-server on this machine")
    container = next(each for each in agent_containers(OUT / "imagenet") if each.command[3:] == ["sync"])
    config = json.loads(container.config())
    blocks = Store("s3", f"{s3_server}/{new_bucket(s3_server).bucket}", ACCESS_KEY, SECRET_KEY)
    with running(tmp_path / "redis", redis_server) as redis:
        volume = Volume(builder.client, tmp_path / "volume", redis.url(1), blocks)
        volume.format()
        dataset = Dataset(volume, tmp_path, new_bucket(s3_server))
        dataset.put({"a": b"1", "folder/b": b"22"})
        variables = {name: value for name, value in dataset.variables(None).items() if name.startswith("STOWPLAN_")}
        config["source"] = dataset.source
        for message in ("2 files are new", "complete before"):
            done = run(container, config=json.dumps(config), variables=variables)
            assert done.returncode == 0, done.stderr
            assert message in json.loads(done.stderr.splitlines()[-1])["message"]


def test_client_of_juicefs_is_of_the_platforms_version(run: Run) -> None:
    done = run(some("cache"), "juicefs", "version")
    assert re.match(rf"juicefs version {re.escape(JUICEFS.version.removeprefix('v'))}\b", done.stdout), done


def test_client_is_built_from_its_sources(builder: Builder) -> None:
    """Linked statically: it runs in an image that has nothing else, and so on every base."""
    builder.image_from_sources("client", "--build-arg=RUNTIME=scratch")
    done = builder.podman.run(
        "run",
        "--rm",
        *LIMITS,
        "--network=none",
        "--read-only",
        builder.image_from_sources("cache"),
        "juicefs",
        "version",
    )
    assert re.match(rf"juicefs version {re.escape(JUICEFS.version.removeprefix('v'))}\b", done.stdout), done


def test_make_builds_all_images_by_the_names_that_pods_have_without_a_registry(builder: Builder) -> None:
    site = Site(Platform(), version("stowplan"))
    names = {agent: f"docker.io/{agent_pod.image(site, agent)}" for agent in get_args(agent_pod.Agent)}
    names |= {"compiler": f"docker.io/local/stowplan-compiler:{version('stowplan')}"}
    juicefs = client_image(builder.podman, builder.client, builder.folder)
    said = builder.make(f"JUICEFS={juicefs}", "SOURCE=https://git.example.com/stowplan", "REVISION=0123abc")
    assert sorted(re.findall("^== (.*)$", said, re.MULTILINE)) == sorted(names.values())
    for image, name in names.items():
        (found,) = json.loads(builder.podman.run("image", "inspect", name).stdout)
        labels = {key.removeprefix(LABEL): each for key, each in found["Labels"].items() if key.startswith(LABEL)}
        assert labels.pop("description")
        assert labels == {
            "licenses": "Apache-2.0",
            "revision": "0123abc",
            "source": "https://git.example.com/stowplan",
            "title": f"stowplan-{image}",
            "version": version("stowplan"),
        }


@pytest.mark.parametrize("engine", ["buildah", "podman"])
def test_make_builds_an_image_by_each_engine(engine: str, builder: Builder) -> None:
    """Docker needs a daemon, which these tests have none of."""
    if shutil.which(engine) is None:
        skip(f"no {engine} here (a Debian package)")
    name = f"localhost/stowplan-control:{engine}"
    builder.podman.run("image", "rm", "--force", "--ignore", name)
    command = [engine, *builder.podman.storage()] if engine == "buildah" else builder.podman.command()
    for revision in ("0123abc", "4567def"):  # the second build takes no label from the cache
        given = ("IMAGES=control", "REGISTRY=localhost", f"TAG={engine}", f"REVISION={revision}")
        said = builder.make(*given, engine=command)
        assert re.findall("^== (.*)$", said, re.MULTILINE) == [name]
        (found,) = json.loads(builder.podman.run("image", "inspect", name).stdout)
        labels = [found["Labels"][f"{LABEL}{each}"] for each in ("title", "version", "revision")]
        assert labels == ["stowplan-control", version("stowplan"), revision]
    done = builder.podman.run("run", "--rm", *LIMITS, "--network=none", "--read-only", name)
    assert "usage: python -m stowplan.agents.await_group" in done.stdout
