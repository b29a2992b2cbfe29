"""The client of JuiceFS from a release, which a server of these tests has: the vendor's is never asked."""

import hashlib
import io
import platform
import re
import runpy
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from functools import partialmethod
from http.server import SimpleHTTPRequestHandler
from pathlib import Path

import pytest

from tests.cluster.tools import JUICEFS
from tests.http_server import serving
from tests.nightly.images.image_builder import Builder, image_builder
from tests.nightly.images.podman import BUILD_OPTIONS, CONTAINERFILE, LIMITS
from tests.repositories import REPOSITORY

SCRIPT = REPOSITORY / "library" / "images" / "juicefs_release.py"
VERSION = JUICEFS.version.removeprefix("v")
NAMES = {
    machine: f"juicefs-{VERSION}-linux-{name}.tar.gz" for machine, name in (("aarch64", "arm64"), ("x86_64", "amd64"))
}
"""As the vendor calls the files of a release, by processor."""
NAME = NAMES[platform.machine()]
RIGHT = "{sha256}  {name}\n"
SOURCES = pytest.mark.parametrize("checksums", [RIGHT, ""], ids=["its-own-checksum", "a-given-checksum"])
"""What the release itself says of the file; nothing where the checksum is given."""


class Mirror:
    """A server of releases."""

    def __init__(self, folder: Path, url: str) -> None:
        self._folder, self._url = folder, url

    def release(self, program: bytes, checksums: str = RIGHT, *, member: str = "juicefs") -> tuple[str, str]:
        """A new release with this program; gives its URL, and the checksum of its file."""
        folder = self._folder / str(len(list(self._folder.iterdir()))) / JUICEFS.version
        folder.mkdir(parents=True)
        with tarfile.open(folder / NAME, "w:gz") as archive:
            about = tarfile.TarInfo(member)
            about.size = len(program)
            archive.addfile(about, io.BytesIO(program))
        sha256 = hashlib.sha256((folder / NAME).read_bytes()).hexdigest()
        lines = f"{'0' * 64}  juicefs-{VERSION}-darwin-arm64.tar.gz\n{checksums.format(sha256=sha256, name=NAME)}"
        (folder / "checksums.txt").write_text(lines)
        return f"{self._url}/{folder.relative_to(self._folder)}", sha256


@pytest.fixture(scope="module")
def mirror(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mirror]:
    folder = tmp_path_factory.mktemp("releases")

    class Handler(SimpleHTTPRequestHandler):
        __init__ = partialmethod(SimpleHTTPRequestHandler.__init__, directory=str(folder))

        def log_message(self, *_: object) -> None:
            pass

    with serving(Handler) as url:
        yield Mirror(folder, url)


def fetch(folder: Path, release: str, sha256: str = "") -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(SCRIPT), release, sha256, str(folder / "juicefs")]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@SOURCES
def test_a_release_with_the_right_checksum_gives_its_program(checksums: str, mirror: Mirror, tmp_path: Path) -> None:
    url, sha256 = mirror.release(b"#!/bin/sh\necho it runs\n", checksums)
    done = fetch(tmp_path, url, "" if checksums else sha256)
    assert (done.returncode, done.stderr) == (0, "")
    assert subprocess.run([tmp_path / "juicefs"], capture_output=True, check=True).stdout == b"it runs\n"


@pytest.mark.parametrize(
    ("checksums", "said"),
    [
        ("0" * 64 + "  {name}\n", f"{NAME} has the checksum .*, and must have 0{{64}}."),
        ("", f"checksums.txt has 0 lines about {NAME}, and must have one."),
        (RIGHT * 2, f"checksums.txt has 2 lines about {NAME}, and must have one."),
        ("{sha256}\n", f"checksums.txt has 0 lines about {NAME}, and must have one."),
    ],
    ids=["another", "none", "two", "without-a-name"],
)
def test_a_release_without_the_right_checksum_gives_nothing(
    checksums: str, said: str, mirror: Mirror, tmp_path: Path
) -> None:
    refused(fetch(tmp_path, mirror.release(b"client", checksums)[0]), said, tmp_path)


def test_a_given_checksum_counts_and_not_that_of_the_release(mirror: Mirror, tmp_path: Path) -> None:
    refused(fetch(tmp_path, mirror.release(b"client")[0], "1" * 64), "must have 1{64}.", tmp_path)


def test_what_is_no_release_is_said_in_one_line(mirror: Mirror, tmp_path: Path) -> None:
    url, _ = mirror.release(b"client", member="README.md")
    refused(fetch(tmp_path, url), f"{NAME} cannot be read: .*juicefs", tmp_path)
    refused(fetch(tmp_path, mirror.release(b"")[0]), f"{NAME} has no program juicefs.", tmp_path)
    refused(fetch(tmp_path, f"{url}0"), "checksums.txt: HTTP Error 404", tmp_path)
    refused(fetch(tmp_path, "file:///etc"), "file:///etc/checksums.txt is no URL of a web server.", tmp_path)


def refused(done: "subprocess.CompletedProcess[str]", said: str, folder: Path) -> None:
    assert (done.returncode, done.stderr.count("\n"), (folder / "juicefs").exists()) == (1, 1, False), done.stderr
    assert re.search(said, done.stderr)


def test_each_processor_has_its_file() -> None:
    script = runpy.run_path(str(SCRIPT))
    for slash in ("", "/"):
        url = f"https://mirror.example.com/juicefs/{JUICEFS.version}{slash}"
        assert {machine: script["archive_name"](url, machine) for machine in NAMES} == NAMES
    with pytest.raises(script["ReleaseError"], match="no client for riscv64"):
        script["archive_name"]("https://mirror.example.com/v1", "riscv64")


@pytest.fixture(scope="module")
def builder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Builder]:
    with image_builder(tmp_path_factory.mktemp("images")) as made:
        yield made


def build(builder: Builder, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Builds the image `cache` as by default, but from a release of these tests."""
    options = [*builder.options, *(f"--build-arg={each}" for each in arguments)]
    where = ("--target=cache", f"--file={CONTAINERFILE}", "--tag=localhost/stowplan-cache:release", REPOSITORY)
    return builder.podman.run("build", *BUILD_OPTIONS, *options, *where, accepted=range(256))


@SOURCES
def test_image_has_the_client_of_the_release(checksums: str, builder: Builder, mirror: Mirror) -> None:
    url, sha256 = mirror.release(builder.client.read_bytes(), checksums)
    done = build(builder, f"JUICEFS_RELEASE={url}", *([] if checksums else [f"JUICEFS_SHA256={sha256}"]))
    assert done.returncode == 0, done.stderr
    program = ("localhost/stowplan-cache:release", "juicefs", "version")
    said = builder.podman.run("run", "--rm", *LIMITS, "--network=none", "--read-only", *program).stdout
    assert re.match(rf"juicefs version {re.escape(VERSION)}\b", said)


@pytest.mark.parametrize(
    ("checksums", "said"),
    [("0" * 64 + "  {name}\n", "and must have 0{64}."), ("", "checksums.txt has 0 lines about")],
    ids=["another", "none"],
)
def test_image_is_not_built_without_the_right_checksum(
    checksums: str, said: str, builder: Builder, mirror: Mirror
) -> None:
    done = build(builder, f"JUICEFS_RELEASE={mirror.release(b'client', checksums)[0]}")
    assert done.returncode != 0
    assert re.search(said, done.stderr)
