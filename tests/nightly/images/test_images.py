"""The images contain all that their agents need: pinned requirements, and the wheel without its dependencies."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packaging.utils import canonicalize_name

from docs.reference.programs import PROGRAMS
from stowplan.schema.platform.platform import Platform
from tests.cluster.tools import JUICEFS, JUICEFS_TAGS
from tests.nightly.images.pods import agent_containers
from tests.repositories import REPOSITORY

IMAGES = REPOSITORY / "library" / "images"
UV = Path(sys.executable).with_name("uv")
AGENTS = {
    "cache": ["stowplan.agents.cache"],
    "control": [
        "stowplan.agents.await_group",
        "stowplan.agents.gate",
        "stowplan.agents.hold_lineage",
        "stowplan.agents.reporter",
        "stowplan.agents.wait_dataset",
        "stowplan.agents.wait_peers",
        "stowplan.agents.wait_run",
        "stowplan.agents.wait_spec",
    ],
    "git": ["stowplan.agents.transfer"],
    "transfer": ["stowplan.agents.transfer"],
}
"""Programs by image."""
PACKAGES = {
    **AGENTS,
    "control": [f"stowplan.agents.{each}" for each in ("await_group", "gate", "hold_lineage", "reporter", "wait")],
}
"""By image, the packages with the modules of its programs."""
REQUIREMENTS = {
    "cache": "control",
    "compiler": "compiler",
    "control": "control",
    "git": "control",
    "transfer": "transfer",
}
"""By image, what pip installs for it."""
ELSEWHERE = {"git": ["stowplan.agents.transfer.remotes.s3", "stowplan.agents.transfer.remotes.huggingface"]}
"""Parts of these programs that only another image can run."""


def requirements(group: str) -> Path:
    return IMAGES / f"requirements-{group}.txt"


def run(*command: str | Path) -> str:
    """The output of a program that ends well."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV"))}
    done = subprocess.run(command, env=environment, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the sources as they are."""
    folder = tmp_path_factory.mktemp("wheel")
    constraints = requirements("wheel")
    run(UV, "build", "--quiet", "--wheel", "--build-constraints", constraints, "--require-hashes", "--out-dir", folder)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module", params=AGENTS)
def image(request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """The name of an image, and a Python that has what the image has and nothing more."""
    folder = tmp_path_factory.mktemp(request.param)
    python = folder / "bin" / "python"
    run(UV, "venv", "--quiet", "--python", sys.executable, folder)
    install = (UV, "pip", "install", "--quiet", "--python", python)
    run(*install, "--require-hashes", "--requirements", requirements(REQUIREMENTS[request.param]))
    run(*install, "--no-deps", wheel)
    return request.param, python


def test_agents_start_with_what_their_image_holds(image: tuple[str, Path]) -> None:
    name, python = image
    for agent in AGENTS[name]:
        assert f"python -m {agent}" in run(python, "-m", agent, "--help")


def test_every_module_of_an_agent_is_there(image: tuple[str, Path]) -> None:
    """Also what is imported late or in parts of the cluster client that no agent of this image uses yet."""
    name, python = image
    packages = ["stowplan.agents.cluster", *PACKAGES[name]]
    program = "\n".join(
        (
            "import importlib, pkgutil, sys",
            "packages, elsewhere = sys.argv[1].split(), tuple(sys.argv[2].split())",
            "for package in packages:",
            "    for module in pkgutil.walk_packages(importlib.import_module(package).__path__, package + '.'):",
            "        if not module.name.startswith(elsewhere) and not module.name.endswith('__main__'):",
            "            importlib.import_module(module.name)",
            "print(*sys.modules)",
        )
    )
    elsewhere = ELSEWHERE.get(name, [])
    modules = set(run(python, "-c", program, " ".join(packages), " ".join(elsewhere)).split())
    mains = {f"stowplan.agents.{module}" for module in PROGRAMS.values()}
    assert {f"{packages[0]}.client", *(each for each in mains if each.startswith(tuple(packages)))} <= modules
    assert not {each for each in modules if each.startswith(("stowplan.compiler", "stowplan.library"))}


@pytest.mark.parametrize("group", ["wheel", *sorted(set(REQUIREMENTS.values()))])
def test_requirements_are_those_of_the_lock_file(group: str) -> None:
    """`make requirements` renews them."""
    parts = ("--no-dev", "--extra=pin", "--no-emit-project") if group == "compiler" else (f"--only-group={group}",)
    locked = run(
        UV, "export", "--quiet", "--offline", "--frozen", "--no-header", *parts, "--format", "requirements.txt"
    )  # fmt: skip
    assert requirements(group).read_text(encoding="utf-8") == locked


def test_every_image_is_a_target() -> None:
    text = (IMAGES / "Containerfile").read_text(encoding="utf-8")
    stages = {line.split(" AS ")[1] for line in text.splitlines() if line.startswith("FROM ")}
    assert set(REQUIREMENTS) <= stages


def test_pods_name_the_image_that_has_their_program() -> None:
    containers = agent_containers()
    assert {each.image for each in containers} == set(AGENTS)
    assert [each.path for each in containers if each.command[2] not in AGENTS[each.image]] == []


def test_transfers_with_git_repositories_run_in_the_image_that_has_git() -> None:
    transfers = [each for each in agent_containers() if each.command[2] == "stowplan.agents.transfer"]
    configs = [json.loads(each.config()) for each in transfers]
    sides = [sorted({each["source"]["type"], each["sink"]["type"]} - {"pvc"}) for each in configs]
    remotes = [each[0] if each else "pvc" for each in sides]
    images = {"git": "git", "huggingface": "transfer", "pvc": "transfer", "s3": "transfer"}
    assert set(remotes) == set(images)
    assert [each.image for each in transfers] == [images[remote] for remote in remotes]


def test_client_of_juicefs_is_the_one_that_the_compiler_and_the_tests_know() -> None:
    assert JUICEFS.version.startswith(f"v{Platform().juicefs.client_version}.")
    text = (IMAGES / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    (command,) = re.findall(r"\bgo build .*", text)
    words = shlex.split(command.replace("${JUICEFS_TAGS}", JUICEFS_TAGS))
    assert words == ["go", "build", *JUICEFS.flags, "-o", "/usr/local/bin/juicefs", "tool"]
    assert JUICEFS.folder == IMAGES / "juicefs"
    assert re.findall(r"ARG JUICEFS_RELEASE=.*/(.*)", text) == [JUICEFS.version]


@pytest.mark.parametrize(
    ("programs", "engine"),
    [
        (("buildah",), "buildah"),
        (("buildah", "docker"), "docker"),
        (("buildah", "docker", "podman"), "podman"),
    ],
)
def test_make_images_takes_the_engine_that_is_there(programs: tuple[str, ...], engine: str, tmp_path: Path) -> None:
    done = make_images("--just-print", programs=programs, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"{engine} build --file library/images/Containerfile --target $name" in done.stdout


def test_make_images_without_an_engine_says_so(tmp_path: Path) -> None:
    done = make_images(programs=(), folder=tmp_path)
    assert done.returncode == 2
    assert "There is no podman, docker or buildah here." in done.stderr


def test_make_images_takes_variables_from_its_command_line_alone(tmp_path: Path) -> None:
    given = ("BASE=python", "GO=golang", "REGISTRY=registry.example.com/ml", "TAG=1.0")
    done = make_images("--just-print", *given, programs=("podman",), folder=tmp_path)
    arguments = [f"--build-arg={each}" for each in (f"VERSION={version('stowplan')}", "BASE=python", "GO=golang")]
    assert re.findall(r"--build-arg=\S+", done.stdout) == arguments
    assert "image=registry.example.com/ml/stowplan-$name:1.0;" in done.stdout
    variables = {"BASE": "python", "GO": "golang", "TAG": "v2", "VERSION": "v2", "OPTIONS": "--pull"}
    done = make_images("--just-print", programs=("podman",), folder=tmp_path, variables=variables)
    assert re.findall(r"--build-arg=\S+|v2|--pull", done.stdout) == arguments[:1]


def make_images(
    *arguments: str, programs: tuple[str, ...], folder: Path, variables: dict[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """`make images` where these programs are, besides those of make itself."""
    for name in ("sh", "sed"):
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(shutil.which(name) or name)
    for name in programs:
        (folder / name).write_text("#!/bin/sh\nexit 1\n")
        (folder / name).chmod(0o755)
    command = [shutil.which("make") or "make", "--no-print-directory", "images", *arguments]
    environment = {**(variables or {}), "PATH": str(folder)}
    return subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def bills(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `make sbom` writes."""
    folder = tmp_path_factory.mktemp("bills")
    run(sys.executable, IMAGES / "sbom.py", folder)
    return folder


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_bill_of_materials_names_all_that_an_image_holds(name: str, bills: Path) -> None:
    text = (bills / f"stowplan-{name}.cdx.json").read_text(encoding="utf-8")
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    bill = json.loads(text)
    assert bill["metadata"]["component"]["name"] == f"stowplan-{name}"
    held = {str(canonicalize_name(each["name"])): each for each in bill["components"]}
    added = {"cache": {"juicefs"}, "compiler": {"git"}, "git": {"git"}}.get(name, set())
    assert held.keys() == {"stowplan", *added, *pinned(REQUIREMENTS[name])}
    assert {key: held[key]["version"] for key in pinned(REQUIREMENTS[name])} == pinned(REQUIREMENTS[name])
    assert [key for key, each in held.items() if not each.get("licenses")] == []
    assert "timestamp" not in text
    assert "serialNumber" not in text


def pinned(group: str) -> dict[str, str]:
    """Versions by package, of those that Linux needs."""
    lines = requirements(group).read_text(encoding="utf-8").splitlines()
    found = [re.match(r"(\S+)==(\S+)(?: ; (.*))? \\", line) for line in lines]
    return {each[1]: each[2] for each in found if each and not re.search(r"== '(win32|emscripten)'", each[3] or "")}


def test_context_of_the_build_has_what_the_stages_copy() -> None:
    text = (IMAGES / "Containerfile").read_text(encoding="utf-8")
    copied = [word for line in text.splitlines() if line.startswith("COPY ") and "--from" not in line
              for word in line.split()[1:-1]]  # fmt: skip
    sent = [line[1:] for line in (IMAGES / "Containerfile.dockerignore").read_text().splitlines() if line[0] == "!"]
    assert [each for each in copied if not (REPOSITORY / each).exists()] == []
    assert [each for each in copied if Path(each).parts[0] not in sent] == []


def test_a_wrong_configuration_ends_with_2_and_a_sentence(tmp_path: Path) -> None:
    """As a pod that lacks its ConfigMap: the log's last line says what is wrong."""
    command = [sys.executable, "-m", "stowplan.agents.await_group", f"--config={tmp_path / 'none.json'}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert json.loads(done.stderr)["level"] == "error"
    assert "none.json" in json.loads(done.stderr)["message"]
