"""Fetches the client of JuiceFS from a release: `python juicefs_release.py RELEASE SHA256 FILE`.

RELEASE is the URL of the folder of one version, which ends in it, such as `.../download/v1.3.1`. What it has for the
processor that runs this must have the checksum SHA256; if that is empty, the one that `checksums.txt` of the release
has. The program in it becomes FILE. Authorities of one's own are in `/run/secrets/authorities`, as for pip and Go.
"""

import hashlib
import io
import platform
import ssl
import sys
import tarfile
import urllib.request
from http.client import HTTPException
from pathlib import Path

ARCHITECTURES = {"aarch64": "arm64", "x86_64": "amd64"}
"""Names of processors in files of a release, by those of the kernel."""
AUTHORITIES = Path("/run/secrets/authorities")
PROGRAM = "juicefs"


class ReleaseError(Exception):
    """Why there is no client."""


def archive_name(release: str, machine: str) -> str:
    """The file of a release for a processor."""
    if machine not in ARCHITECTURES:
        raise ReleaseError(f"JuiceFS releases no client for {machine}.")
    version = release.rstrip("/").rpartition("/")[2].removeprefix("v")
    return f"juicefs-{version}-linux-{ARCHITECTURES[machine]}.tar.gz"


def checksum(checksums: str, name: str) -> str:
    """The checksum of a file in the lines of `sha256sum`."""
    found = [words[0] for words in map(str.split, checksums.splitlines()) if words[1:] == [name]]
    if len(found) != 1:
        raise ReleaseError(f"checksums.txt has {len(found)} lines about {name}, and must have one.")
    return found[0]


def fetch(url: str) -> bytes:
    """What a server has at a URL."""
    if not url.startswith(("https://", "http://")):
        raise ReleaseError(f"{url} is no URL of a web server.")
    context = ssl.create_default_context()
    if AUTHORITIES.exists():
        context.load_verify_locations(AUTHORITIES)
    try:
        with urllib.request.urlopen(url, timeout=60, context=context) as answer:  # noqa: S310
            content: bytes = answer.read()
    except (OSError, HTTPException) as error:
        raise ReleaseError(f"{url}: {error}") from None
    return content


def program(archive: bytes, name: str) -> bytes:
    """The client in an archive."""
    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as members:
            file = members.extractfile(PROGRAM)
            content = file.read() if file else b""
    except (tarfile.TarError, KeyError, OSError, EOFError) as error:
        raise ReleaseError(f"{name} cannot be read: {error}") from None
    if not content:
        raise ReleaseError(f"{name} has no program {PROGRAM}.")
    return content


def client(release: str, sha256: str) -> bytes:
    """The client of a release, for the processor that runs this."""
    name = archive_name(release, platform.machine())
    folder = release.rstrip("/")
    wanted = sha256 or checksum(fetch(f"{folder}/checksums.txt").decode(errors="replace"), name)
    archive = fetch(f"{folder}/{name}")
    found = hashlib.sha256(archive).hexdigest()
    if found != wanted.lower():
        raise ReleaseError(f"{name} has the checksum {found}, and must have {wanted}.")
    return program(archive, name)


def main() -> int:
    """Write the client, or say in one line why not."""
    release, sha256, file = sys.argv[1:]
    try:
        content = client(release, sha256)
    except ReleaseError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    Path(file).write_bytes(content)
    Path(file).chmod(0o755)
    return 0


if __name__ == "__main__":
    sys.exit(main())
