"""Real images and containers, in a separate storage in the cache of these tests."""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.binaries import cache_folder
from tests.repositories import REPOSITORY

CONTAINERFILE = REPOSITORY / "library" / "images" / "Containerfile"
PACKAGES = ("ca-certificates", "python-is-python3", "python3", "usr-is-merged")
"""What the base has beside the essential packages."""
UNUSED = ("usrmerge", "perl", "'^libperl5'", "'^perl-modules-'")
"""What moved /usr once, and what that needed. Slim images have none of it."""
UNWANTED = ("doc", "locale", "man")
LIMITS = ("--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024")
"""What a machine that is a container itself can give."""
BUILD_OPTIONS = ("--quiet", "--layers", "--isolation=chroot", "--network=host", *LIMITS)
PIP_OPTIONS = ("extra-index-url", "index-url", "proxy", "timeout", "trusted-host")
AUTHORITIES = "authorities"
GO = "/usr/local/go"
"""Where images have Go."""


class MissingError(Exception):
    """Why this machine can run no containers."""


@dataclass(frozen=True)
class Layer:
    """What one step of a build added: members of its archive."""

    members: tuple[tarfile.TarInfo, ...]

    @property
    def size(self) -> int:
        """Bytes of its files, unpacked."""
        return sum(each.size for each in self.members if each.isfile())


@dataclass(frozen=True)
class Podman:
    """The program, with storage in a folder that outlives the tests, as the builds of Go do."""

    folder: Path

    def run(self, *arguments: str | Path, accepted: Collection[int] = (0,)) -> "subprocess.CompletedProcess[str]":
        """One command; it must end with an accepted code."""
        command = self.command(*arguments)
        done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        assert done.returncode in accepted, f"{command} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
        return done

    def command(self, *arguments: str | Path) -> list[str]:
        """The words of a command."""
        runtime = [f"--runtime={name}" for name in ("runc", "crun") if shutil.which(name)][:1]
        command = ["podman", *self.storage(), *runtime]
        return [*command, "--cgroup-manager=cgroupfs", "--events-backend=none", *map(str, arguments)]

    def storage(self) -> list[str]:
        """Options that name the storage, which Buildah has too."""
        return [f"--root={self.folder / 'storage'}", f"--runroot={self.folder / 'run'}"]

    def has(self, image: str) -> bool:
        return self.run("image", "exists", image, accepted=(0, 1)).returncode == 0

    def build(self, containerfile: Path, context: Path, tag: str, *options: str | Path) -> None:
        """Builds an image; steps that were built before are not built again."""
        where = ("--file", containerfile, "--tag", tag, context)
        self.run("build", *BUILD_OPTIONS, *options, *where)

    def layers(self, image: str, base: str, folder: Path) -> list[Layer]:
        """What an image has on top of its base, oldest first; `folder` takes the archive."""
        count = len(json.loads(self.run("image", "inspect", base).stdout)[0]["RootFS"]["Layers"])
        archive = folder / "image.tar"
        self.run("save", "--quiet", "--format=docker-archive", f"--output={archive}", image)
        with tarfile.open(archive) as members:
            (manifest,) = json.load(_member(members, "manifest.json"))
            layers = []
            for name in manifest["Layers"][count:]:
                with tarfile.open(fileobj=_member(members, name)) as layer:
                    layers.append(Layer(tuple(layer.getmembers())))
        archive.unlink()
        return layers


def _member(archive: tarfile.TarFile, name: str) -> "tarfile.ExFileObject":
    file = archive.extractfile(name)
    assert isinstance(file, tarfile.ExFileObject)
    return file


@contextmanager
def engine() -> Iterator[Podman]:
    """Podman for one process at a time; MissingError where there can be none."""
    missing = [name for name in ("podman", "mmdebstrap") if shutil.which(name) is None]
    if missing:
        raise MissingError(f"no {' and no '.join(missing)} here, to make images with (both are Debian packages)")
    if os.getuid() != 0:
        raise MissingError("only root can make images from a base that is made here")
    folder = cache_folder().with_name("images")
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        podman = Podman(folder)
        yield podman
        # What code of some days ago was built to.
        podman.run("image", "prune", "--force", "--filter=until=72h")


def base(podman: Podman) -> str:
    """The image that ours stand on: Python and apt of the Debian that runs here; MissingError if it cannot be made.

    It is made here since no registry can be relied on.
    """
    suite = _suite()
    key = hashlib.sha256(repr((suite, PACKAGES, UNUSED, UNWANTED)).encode()).hexdigest()[:12]
    name = f"localhost/stowplan-base:{suite}-{key}"
    if not podman.has(name):
        archive = podman.folder / f"base-{key}.tar"
        _bootstrap(suite, archive)
        podman.run("import", "--quiet", archive, name)
        archive.unlink()
    return name


def _suite() -> str:
    lines = Path("/etc/os-release").read_text(encoding="utf-8").splitlines()
    (suite,) = [line.partition("=")[2] for line in lines if line.startswith("VERSION_CODENAME=")]
    return suite


def _bootstrap(suite: str, archive: Path) -> None:
    command = ["nice", "mmdebstrap", "--quiet", "--variant=apt", f"--include={','.join(PACKAGES)}"]
    command += ['--aptopt=APT::Install-Recommends "false"']
    command += [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in UNWANTED]
    command += [f'--customize-hook=chroot "$1" apt-get remove --purge --yes --auto-remove {" ".join(UNUSED)}']
    done = subprocess.run([*command, suite, str(archive)], capture_output=True, text=True, check=False)
    if done.returncode:
        archive.unlink(missing_ok=True)
        raise MissingError(f"mmdebstrap could not make a base of Debian packages: {done.stderr.strip()[-500:]}")


def with_pip(podman: Podman, runtime: str, folder: Path) -> str:
    """The base with pip, which is for building alone."""
    (folder / "Containerfile").write_text(
        f"FROM {runtime}\nRUN apt-get update && apt-get install --yes --no-install-recommends python3-pip\n"
    )
    name = runtime.replace("-base:", "-base-pip:")
    podman.build(folder / "Containerfile", folder, name)
    return name


def with_go(podman: Podman, runtime: str, folder: Path) -> str:
    """The base with a C compiler and a place for the Go of this machine, which `go_options` mounts."""
    (folder / "Containerfile").write_text(
        f"FROM {runtime}\nENV PATH={GO}/bin:$PATH\n"
        "RUN apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev\n"
    )
    name = runtime.replace("-base:", "-base-go:")
    podman.build(folder / "Containerfile", folder, name)
    return name


def go_options(folder: Path) -> list[str]:
    """Options of a build with the Go of this machine and what it built before.

    Modules come from a proxy of one's own, which has those that this machine has; others come from the machine's proxy.
    """
    names = ("GOROOT", "GOCACHE", "GOMODCACHE", "GOPROXY")
    done = subprocess.run(["go", "env", *names], capture_output=True, text=True, check=True, cwd=folder)
    root, cache, modules, proxy = done.stdout.splitlines()
    settings = {"GOCACHE": "/go-cache", "GOMODCACHE": "/go-modules", "GOPROXY": f"file:///go-proxy,{proxy}"}
    lines = [f"{name}={value}\n" for name, value in settings.items()]
    (folder / "go.env").write_text("".join(lines), encoding="utf-8")
    (folder / "go-modules").mkdir(exist_ok=True)
    return [
        f"--secret=id=go.env,src={folder / 'go.env'}",
        f"--volume={root}:{GO}:ro",
        f"--volume={cache}:/go-cache",
        f"--volume={folder / 'go-modules'}:/go-modules",
        f"--volume={Path(modules) / 'cache' / 'download'}:/go-proxy:ro",
    ]


def client_image(podman: Podman, juicefs: Path, folder: Path) -> str:
    """An image with nothing but the client that these tests build, in the place where the vendor's have it."""
    shutil.copy(juicefs, folder / "juicefs")
    (folder / "Containerfile").write_text("FROM scratch\nCOPY juicefs /usr/local/bin/juicefs\n")
    name = "localhost/stowplan-juicefs:test"
    podman.build(folder / "Containerfile", folder, name)
    return name


def package_index(folder: Path) -> list[str]:
    """Options of a build that reach the package index as pip of this machine does, with the same authorities."""
    command = [sys.executable, "-m", "pip", "config", "list"]
    listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    pairs = [line.partition("=") for line in listed.splitlines()]
    # Variables come first in the list, and before files in what counts.
    found = {name.rpartition(".")[2]: value.strip("'") for name, _, value in reversed(pairs)}
    lines = [f"{name} = {value}" for name, value in found.items() if name in PIP_OPTIONS]
    options = []
    if authorities := found.get("cert") or os.environ.get("SSL_CERT_FILE"):
        lines.append(f"cert = /run/secrets/{AUTHORITIES}")
        options.append(f"--secret=id={AUTHORITIES},src={authorities}")
    (folder / "pip.conf").write_text("\n".join(["[global]", *lines, ""]), encoding="utf-8")
    return [*options, f"--secret=id=pip.conf,src={folder / 'pip.conf'}"]
