"""Builds our images, within the limits of `tests.nightly.images.podman`."""

import shlex
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.absent import skip
from tests.cluster.binaries import Missing, obtain
from tests.cluster.tools import JUICEFS, JUICEFS_TAGS
from tests.nightly.images.podman import (
    BUILD_OPTIONS,
    CONTAINERFILE,
    MissingError,
    Podman,
    base,
    client_image,
    engine,
    go_options,
    package_index,
    with_go,
    with_pip,
)
from tests.repositories import REPOSITORY


@dataclass(frozen=True)
class Builder:
    """Builds our images."""

    podman: Podman
    runtime: str
    """The image that they stand on; it has no pip."""
    options: tuple[str, ...]
    folder: Path
    built: set[str] = field(default_factory=set)

    def image(self, target: str, sources: Path = REPOSITORY) -> str:
        """Builds an image from these sources, once; gives its name."""
        name = f"localhost/stowplan-{target}:{'test' if sources == REPOSITORY else sources.name}"
        if name not in self.built:
            options = [*self.options, f"--target={target}"]
            if target == "cache":
                options.append(f"--build-arg=JUICEFS={client_image(self.podman, self.client, self.folder)}")
            self.podman.build(sources / CONTAINERFILE.relative_to(REPOSITORY), sources, name, *options)
            self.built.add(name)
        return name

    def image_from_sources(self, target: str, *options: str) -> str:
        """Builds an image with the client that the Containerfile builds from its sources; gives its name.

        It is built by the flags of `client`, so all that Go compiled for that is taken as it is.
        """
        assert self.client.exists()
        name = f"localhost/stowplan-{target}:source"
        go = (
            "--build-arg=JUICEFS=juicefs-from-source",
            f"--build-arg=GO={with_go(self.podman, self.runtime, self.folder)}",
            *go_options(self.folder),
        )
        options = (*self.options, *go, f"--build-arg=JUICEFS_TAGS={JUICEFS_TAGS}", f"--target={target}", *options)
        self.podman.build(CONTAINERFILE, REPOSITORY, name, *options)
        return name

    def make(self, *variables: str, engine: Sequence[str] = ()) -> str:
        """`make images` with the bases of these tests, by Podman or another engine; gives what it says."""
        given = [each.removeprefix("--build-arg=") for each in self.options if each.startswith("--build-arg=")]
        others = [each for each in self.options if not each.startswith("--build-arg=")]
        options = f"OPTIONS={shlex.join([*BUILD_OPTIONS, *others])}"
        words = shlex.join(engine or self.podman.command())
        command = ["make", "--no-print-directory", "images", f"ENGINE={words}", options, *given, *variables]
        done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout

    @property
    def client(self) -> Path:
        """The client of JuiceFS that goes into the image."""
        found = obtain(JUICEFS)
        if isinstance(found, Missing):
            skip(str(found))
        return found.paths["juicefs"]


@contextmanager
def image_builder(folder: Path) -> Iterator[Builder]:
    """A builder, for one process at a time; the tests are skipped where there can be none, and fail in CI."""
    try:
        with engine() as podman:
            runtime = base(podman)
            bases = (f"--build-arg=BASE={with_pip(podman, runtime, folder)}", f"--build-arg=RUNTIME={runtime}")
            yield Builder(podman, runtime, (*bases, *package_index(folder)), folder)
    except MissingError as missing:
        message = f"images cannot be built here: {missing}"
        skip(message)
