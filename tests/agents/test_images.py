"""What the images hold is enough for their agents: pinned requirements and the wheel without its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "library" / "images"
UV = Path(sys.executable).with_name("uv")
AGENTS = {
    "control": ["stowplan.agents.await_group", "stowplan.agents.wait_dataset"],
    "transfer": ["stowplan.agents.transfer"],
}
"""Programs by image."""


def requirements(group: str) -> Path:
    return IMAGES / f"requirements-{group}.txt"


def run(*command: str | Path) -> str:
    """The output of a program that ends well."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV"))}
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
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
    run(*install, "--require-hashes", "--requirements", requirements(request.param))
    run(*install, "--no-deps", wheel)
    return request.param, python


def test_agents_start_with_what_their_image_holds(image: tuple[str, Path]) -> None:
    name, python = image
    for agent in AGENTS[name]:
        assert f"python -m {agent}" in run(python, "-m", agent, "--help")


def test_every_module_of_an_agent_is_there(image: tuple[str, Path]) -> None:
    """Also what is imported late or in parts of the cluster client that no agent of this image uses yet."""
    name, python = image
    packages = ["stowplan.agents.cluster", *AGENTS[name]]
    program = "\n".join(
        (
            "import importlib, pkgutil, sys",
            "for package in sys.argv[1:]:",
            "    for module in pkgutil.iter_modules(importlib.import_module(package).__path__, package + '.'):",
            "        importlib.import_module(module.name)",
            "print(*sys.modules)",
        )
    )
    modules = set(run(python, "-c", program, *packages).split())
    assert {f"{packages[0]}.client", *(f"{agent}.command" for agent in AGENTS[name])} <= modules
    assert not {each for each in modules if each.startswith(("stowplan.compiler", "stowplan.library"))}


@pytest.mark.parametrize("group", ["wheel", *AGENTS])
def test_requirements_are_those_of_the_lock_file(group: str) -> None:
    """`make requirements` renews them."""
    locked = run(
        UV, "export", "--quiet", "--offline", "--frozen", "--no-header", "--only-group", group,
        "--format", "requirements.txt",
    )  # fmt: skip
    assert requirements(group).read_text(encoding="utf-8") == locked


def test_every_image_is_a_target() -> None:
    text = (IMAGES / "Containerfile").read_text(encoding="utf-8")
    stages = {line.split(" AS ")[1] for line in text.splitlines() if line.startswith("FROM ")}
    assert set(AGENTS) <= stages


def test_context_of_the_build_has_what_the_stages_copy() -> None:
    text = (IMAGES / "Containerfile").read_text(encoding="utf-8")
    copied = [word for line in text.splitlines() if line.startswith("COPY ") and "--from" not in line
              for word in line.split()[1:-1]]  # fmt: skip
    sent = [line[1:] for line in (IMAGES / "Containerfile.dockerignore").read_text().splitlines() if line[0] == "!"]
    assert [each for each in copied if not (ROOT / each).exists()] == []
    assert [each for each in copied if Path(each).parts[0] not in sent] == []


def test_a_wrong_configuration_ends_with_2_and_a_sentence(tmp_path: Path) -> None:
    """As a pod that lacks its ConfigMap: the log's last line says what is wrong."""
    command = [sys.executable, "-m", "stowplan.agents.await_group", f"--config={tmp_path / 'none.json'}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert json.loads(done.stderr)["level"] == "error"
    assert "none.json" in json.loads(done.stderr)["message"]
