"""The steps of the workflow that makes a release, which push images to a registry and join them."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.absent import skip
from tests.pins.registry import PASSWORD, USER, needed, serving
from tests.release.workflow import IMAGES, VERSION, must, step


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A registry that asks for a password, as Podman reaches it."""
    if shutil.which("podman") is None or os.getuid() != 0:
        skip("Podman and root are needed to make images")
    with serving(needed(), tmp_path_factory.mktemp("registry"), private=True) as host:
        yield host


def test_images_of_both_processors_are_joined_under_the_tag_of_the_version(
    checkout: Path, tmp_path: Path, registry: str
) -> None:
    storage = tmp_path / "storage.conf"
    storage.write_text(f'[storage]\ndriver = "vfs"\ngraphroot = "{tmp_path}/storage"\nrunroot = "{tmp_path}/run"\n')
    registries = tmp_path / "registries.conf"
    registries.write_text(f'[[registry]]\nlocation = "{registry}"\ninsecure = true\n')
    variables = {
        "REGISTRY": f"{registry}/stowplan",
        "CONTAINERS_STORAGE_CONF": str(storage),
        "CONTAINERS_REGISTRIES_CONF": str(registries),
        "USERNAME": USER,
        "PASSWORD": PASSWORD,
        "GITHUB_OUTPUT": str(tmp_path / "output"),
    }
    context = tmp_path / "context"
    context.mkdir()
    (context / "Containerfile").write_text("FROM scratch\nCOPY program /\n")
    log_in = step("images", "Log in to the registry")
    assert log_in == step("join", "Log in to the registry")
    assert "Login Succeeded!" in must(log_in, checkout, **variables)
    for architecture in ("amd64", "arm64"):
        (context / "program").write_text(architecture)
        for image in IMAGES:
            name = f"{registry}/stowplan/stowplan-{image}:{VERSION}-{architecture}"
            build = f"podman build --quiet --platform linux/{architecture} --isolation chroot --tag {name} {context}"
            must(build, checkout, **variables)
        must(step("images", "Push"), checkout, **variables, ARCHITECTURE=architecture)
    for name in IMAGES:
        image = f"{registry}/stowplan/stowplan-{name}"
        must(step("join", "Join the images of both processors"), checkout, **variables, IMAGE=image, NAME=name)
        digest = (checkout / f"build/digests/{name}").read_text().strip()
        of_digest, of_tag = (
            json.loads(must(f"podman manifest inspect {image}{each}", checkout, **variables))
            for each in (f"@{digest}", f":{VERSION}")
        )
        assert of_digest == of_tag
        assert sorted(each["platform"]["architecture"] for each in of_tag["manifests"]) == ["amd64", "arm64"]
        assert f"digest={digest}\n" in (tmp_path / "output").read_text()
