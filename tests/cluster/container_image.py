"""A container image that needs no registry: one layer with a static BusyBox."""

import hashlib
import io
import json
import tarfile
from pathlib import Path

NAME = "stowplan.test/busybox:1"
COMMANDS = ("cat", "grep", "sh", "sleep", "touch", "true")
"""What is in `/bin`."""


def write(busybox: Path, target: Path) -> None:
    """Write the image as `docker save` does, which `ctr images import` takes."""
    layer = _tar([_file("bin/busybox", busybox.read_bytes()), *(_link(f"bin/{name}") for name in COMMANDS)])
    config = {
        "architecture": "amd64",
        "os": "linux",
        "config": {"Entrypoint": ["/bin/sleep", "3600"], "Env": ["PATH=/bin"]},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
    }
    manifest = [{"Config": "config.json", "RepoTags": [NAME], "Layers": ["layer.tar"]}]
    members = {"layer.tar": layer, "config.json": _json(config), "manifest.json": _json(manifest)}
    target.write_bytes(_tar([_file(name, data) for name, data in members.items()]))


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


def _file(name: str, data: bytes) -> tuple[tarfile.TarInfo, bytes]:
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(data), 0o755
    return member, data


def _link(name: str) -> tuple[tarfile.TarInfo, bytes]:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = tarfile.SYMTYPE, "busybox"
    return member, b""


def _tar(members: list[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    output = io.BytesIO()
    with tarfile.open(fileobj=output, mode="w") as archive:
        for member, data in members:
            archive.addfile(member, io.BytesIO(data))
    return output.getvalue()
