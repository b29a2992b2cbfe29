"""Fixtures of the tests with a starter repository: those of landing and nightly import them."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from stowplan.compiler.generate.starter.ci_files import Ci
from tests.absent import skip
from tests.repositories import REPOSITORY
from tests.starter.ci import Installations, Runner
from tests.starter.repository import StarterRepository, begin
from tests.starter.service import Service, begin_service, serve


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> StarterRepository:
    """Made once; tests have copies."""
    return begin(tmp_path_factory.mktemp("template") / "repo")


@pytest.fixture
def begun(tmp_path: Path, template: StarterRepository) -> StarterRepository:
    """A starter repository whose output is committed."""
    shutil.copytree(template.root, tmp_path / "repo")
    return StarterRepository(tmp_path / "repo")


@pytest.fixture(scope="session")
def installations(tmp_path_factory: pytest.TempPathFactory) -> Installations:
    root = tmp_path_factory.mktemp("installations")
    commands: tuple[tuple[str | Path, ...], ...] = (
        ("install", "hatchling>=1.27", "--target", root / "tools"),
        ("wheel", REPOSITORY, "--no-deps", "--wheel-dir", root / "wheels"),
    )
    for command in commands:
        done = subprocess.run(
            [sys.executable, "-m", "pip", "--quiet", *command], capture_output=True, text=True, check=False
        )
        if done.returncode:
            skip(f"pip cannot build Stowplan here: {done.stderr[-500:]}")
    return Installations(root)


@pytest.fixture
def runner(begun: StarterRepository, installations: Installations) -> Runner:
    (begun.root / "requirements/stowplan.txt").write_text(installations.requirement)
    begun.must("git", "commit", "-qam", "Say where Stowplan comes from")
    begun.must("git", "update-ref", "refs/remotes/origin/main", "HEAD")
    return Runner(begun, installations)


@pytest.fixture(scope="session")
def services(tmp_path_factory: pytest.TempPathFactory, template: StarterRepository) -> Path:
    """Compiled once; tests have copies."""
    root = tmp_path_factory.mktemp("services")
    for ci in Ci:
        begin_service(template, root / ci, ci)
    return root


@pytest.fixture
def service(services: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Service:
    """With CI of the kind that the test's parameter `ci` names."""
    ci = Ci(request.getfixturevalue("ci"))
    return serve(services / ci, tmp_path, ci)


HOOKS = REPOSITORY / ".pre-commit-hooks.yaml"


def installed(text: str) -> str:
    """Hooks that run the installed command."""
    lines = text.replace("language: python", "language: system").splitlines()
    changed = "\n".join(line for line in lines if "additional_dependencies" not in line) + "\n"
    assert changed.count("language: system") == text.count("entry: stowplan")
    return changed


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> StarterRepository:
    """A repository with our hooks, as the one that is named in users' configurations."""
    repo = StarterRepository(tmp_path_factory.mktemp("hooks") / "stowplan")
    repo.root.mkdir()
    (repo.root / HOOKS.name).write_text(installed(HOOKS.read_text()))
    for command in ("git init -q", "git add -A", "git commit -qm hooks"):
        repo.must(*command.split())
    return repo


@pytest.fixture(params=["starter", "hooks"])
def hooked(request: pytest.FixtureRequest, begun: StarterRepository, hooks: StarterRepository) -> StarterRepository:
    """A repository with the hooks installed: those of the starter's configuration, or those of ours."""
    config = begun.root / ".pre-commit-config.yaml"
    if request.param == "starter":
        config.write_text(installed(config.read_text()))
    else:
        revision = hooks.must("git", "rev-parse", "HEAD").strip()
        used = [{"id": each["id"]} for each in YAML(typ="safe").load(HOOKS)]
        YAML().dump({"repos": [{"repo": str(hooks.root), "rev": revision, "hooks": used}]}, config)
    begun.must("pre-commit", "install")
    begun.must("git", "add", "-A")
    begun.must("git", "commit", "--allow-empty", "-qm", "hooks")
    return begun
