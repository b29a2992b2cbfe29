"""The images of the agents, built as users build them, in containerd of each node under the names that pods have."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.agents.image_builder import image_builder
from tests.node import configuration, network
from tests.node.place import Place
from tests.pins import registry
from tests.repositories import REPOSITORY

PYTHON = "registry.example.com/ml/python:3"
"""No agent's: the base of all images, which has a Python of Debian."""

_BASE = "base"


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
            builder.podman.run("tag", builder.runtime if agent == _BASE else builder.image(agent, sources), name)
        save = ("save", "--quiet", "--multi-image-archive", "--format=docker-archive", f"--output={archive}")
        builder.podman.run(*save, *wanted.values())
    place.load(archive)
    archive.unlink()


@contextmanager
def pulled(place: Place, folder: Path) -> Iterator[str]:
    """The image with Python in a registry, which all nodes reach until the block ends; gives its name there."""
    folder.mkdir()
    with registry.serving(registry.needed(), folder, address=network.HOST) as host:
        name = f"{host}/ml/python:3"
        with image_builder(folder) as builder:
            builder.podman.run("push", "--quiet", "--tls-verify=false", builder.runtime, f"docker://{name}")
        for node in place.nodes:
            told = node.seen(f"{configuration.REGISTRIES}/{host}")
            told.mkdir(parents=True)
            (told / "hosts.toml").write_text(f'server = "http://{host}"\n', encoding="utf-8")
        yield name
