"""The image of the compiler compiles an example without a network, as CI of users runs it."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.nightly.images.image_builder import Builder, image_builder
from tests.nightly.images.podman import LIMITS
from tests.repositories import EXAMPLES, REPOSITORY
from tests.unit.outputs import files

OUT = REPOSITORY / "out" / "imagenet"
OWNER = 1001
"""Who has the checkout on a machine of CI; no user of the image."""
OFFLINE = (*LIMITS, "--network=none", "--read-only", "--cap-drop=all", "--security-opt=no-new-privileges")


@pytest.fixture(scope="module")
def builder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Builder]:
    with image_builder(tmp_path_factory.mktemp("images")) as made:
        yield made


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """An example without its output."""
    return shutil.copytree(EXAMPLES["imagenet"], tmp_path / "repo")


def run(builder: Builder, *words: str, accepted: tuple[int, ...] = (0,)) -> "subprocess.CompletedProcess[str]":
    return builder.podman.run("run", "--rm", *OFFLINE, *words, accepted=accepted)


def test_docker_run_compiles_the_repository_of_its_user(builder: Builder, repo: Path) -> None:
    image = builder.image("compiler")
    for path in (repo, *repo.rglob("*")):
        os.chown(path, OWNER, OWNER)
    command = (f"--user={OWNER}:{OWNER}", f"--volume={repo}:/repo", image)
    run(builder, *command, "synth", "/repo")
    assert files(repo / "out") == files(OUT)
    assert {each.stat().st_uid for each in repo.rglob("*")} == {OWNER}
    run(builder, *command, "synth", "/repo", "--check")
    spec = repo / "specs" / "imagenet.yaml"
    spec.write_text(spec.read_text().replace("partitions", "partition"))
    assert "specs/imagenet.yaml" in run(builder, *command, "validate", accepted=(1,)).stdout


def test_script_of_ci_compares_with_a_base_in_a_checkout_of_somebody_else(builder: Builder, repo: Path) -> None:
    """As GitLab runs the image: its own user, which only reads the files of root, in a shell."""
    shutil.copytree(OUT, repo / "out")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "Begin"]):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=repo, check=True)
    script = "stowplan synth --check --base HEAD && stowplan report --base HEAD -o /tmp/report.html && id -u"
    command = (f"--volume={repo}:/builds/ml:ro", "--workdir=/builds/ml", "--entrypoint=", builder.image("compiler"))
    done = run(builder, *command, "sh", "-c", script)
    assert done.stdout.splitlines()[-1] == "65532"


def test_image_has_the_extra_with_which_pins_are_checked(builder: Builder) -> None:
    """There is no network to ask the Hub, and that is what it says."""
    done = run(
        builder, f"--volume={EXAMPLES['pins']}:/repo:ro", builder.image("compiler"), "pin", "--check", accepted=(1,)
    )
    assert "The Hub cannot be asked for" in done.stdout
    assert "is not installed" not in done.stdout + done.stderr
