"""The images of the agents, built as users build them, in containerd of each node under the names that pods have."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.nightly.images.image_builder import image_builder
from tests.nightly.node import configuration, network
from tests.nightly.node.place import Place
from tests.pins import registry
from tests.repositories import REPOSITORY

PYTHON = "registry.example.com/ml/python:3"
"""No agent's: the base of all images, which has a Python of Debian."""

_BASE, _TRAINER = "base", "trainer"
TRAINER = {_TRAINER: "registry.example.com/ml/mnist:1.0"}
"""A user's image, for `load`: the programs of `tests/nightly/node/training`."""

_PROGRAMS = Path(__file__).parent / "training"


def platform(name: str, **fields: Any) -> dict[str, Any]:
    """A platform file with an Argo CD project of this name, and the registry that the images seem to come from."""
    registry = {"registry": "registry.example.com/ml", "tag": "0.1.0"}
    named = {"apiVersion": "stowplan.dev/v1alpha1", "kind": "Platform", "images": registry, "argocd": {"name": name}}
    return {**named, **fields}


def names(platform: Mapping[str, Any], agents: Sequence[str] = ("cache", "control")) -> dict[str, str]:
    """What manifests call the images, by agent."""
    registry, tag = platform["images"]["registry"], platform["images"]["tag"]
    return {agent: f"{registry}/stowplan-{agent}:{tag}" for agent in agents} | {_BASE: PYTHON}


def load(place: Place, wanted: Mapping[str, str], folder: Path, sources: Path = REPOSITORY) -> None:
    """Build the images from these sources, unless they are as they were, and give them to all nodes."""
    folder.mkdir()
    archive = folder / "images.tar"
    with image_builder(folder) as builder:
        for agent, name in wanted.items():
            if agent == _TRAINER:
                builder.podman.build(
                    _PROGRAMS / "Containerfile", _PROGRAMS, name, f"--build-arg=RUNTIME={builder.runtime}"
                )
            else:
                made = builder.runtime if agent == _BASE else builder.image(agent, sources)
                builder.podman.run("tag", made, name)
        save = ("save", "--quiet", "--multi-image-archive", "--format=docker-archive", f"--output={archive}")
        builder.podman.run(*save, *wanted.values())
    place.load(archive)
    archive.unlink()


@contextmanager
def pulled(place: Place, folder: Path) -> Iterator[str]:
    """The image with Python in a registry, which all nodes reach until the block ends; gives its name there."""
    folder.mkdir()
    with registry.serving(registry.needed(), folder, address=network.host()) as host:
        name = f"{host}/ml/python:3"
        with image_builder(folder) as builder:
            builder.podman.run("push", "--quiet", "--tls-verify=false", builder.runtime, f"docker://{name}")
        for node in place.nodes:
            told = node.seen(f"{configuration.REGISTRIES}/{host}")
            told.mkdir(parents=True)
            # Without a table of hosts containerd 1.6 passes over the file.
            (told / "hosts.toml").write_text(f'[host."http://{host}"]\n', encoding="utf-8")
        yield name
