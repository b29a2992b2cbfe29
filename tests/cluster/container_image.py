"""Container images that need no registry: one layer with one static program."""

import hashlib
import io
import json
import tarfile
from collections.abc import Sequence
from pathlib import Path

NAME = "stowplan.test/busybox:1"
COMMANDS = ("cat", "grep", "httpd", "sh", "sleep", "tail", "touch", "true")
"""What is in `/bin` of the image with BusyBox."""


def write(busybox: Path, target: Path) -> None:
    """Write the image with BusyBox."""
    write_program(busybox, target, NAME, ["/bin/sleep", "3600"], COMMANDS)


def write_program(
    program: Path, target: Path, name: str, entrypoint: Sequence[str], commands: Sequence[str] = ()
) -> None:
    """Write an image as `docker save` does, which `ctr images import` takes.

    The program is in `/bin`, and by these names too.
    """
    links = [_link(f"bin/{command}", program.name) for command in commands]
    layer = _tar([_file(f"bin/{program.name}", program.read_bytes()), *links])
    config = {
        "architecture": "amd64",
        "os": "linux",
        "config": {"Entrypoint": list(entrypoint), "Env": ["PATH=/bin"]},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
    }
    manifest = [{"Config": "config.json", "RepoTags": [name], "Layers": ["layer.tar"]}]
    members = {"layer.tar": layer, "config.json": _json(config), "manifest.json": _json(manifest)}
    target.write_bytes(_tar([_file(name, data) for name, data in members.items()]))


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


def _file(name: str, data: bytes) -> tuple[tarfile.TarInfo, bytes]:
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(data), 0o755
    return member, data


def _link(name: str, target: str) -> tuple[tarfile.TarInfo, bytes]:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = tarfile.SYMTYPE, target
    return member, b""


def _tar(members: list[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    output = io.BytesIO()
    with tarfile.open(fileobj=output, mode="w") as archive:
        for member, data in members:
            archive.addfile(member, io.BytesIO(data))
    return output.getvalue()
