"""The measured programs: Stowplan's agent, and others for the same task."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.agents.transfer.server import ACCESS_KEY, SECRET_KEY
from tests.cluster.binaries import Missing, obtain
from tests.cluster.tools import Tool

RCLONE = Tool("rclone", "github.com/rclone/rclone", ("rclone",))
S5CMD = Tool("s5cmd", "github.com/peak/s5cmd/v2", ("s5cmd",))
AWS_CLI = "awscli[crt]==1.46.3"

OWN, OWN_VERIFIED = "stowplan", "stowplan, verifyParts"

NOTES = {
    OWN: "If-Match on each request; the cheapest checksum that the store has; fsync from 1 MiB on, sync of all",
    OWN_VERIFIED: "the same, and the MD5 of each part of an upload in parts where the store has no checksum",
    "rclone": "MD5 of objects in one piece, no fsync",
    "s5cmd": "no digests, no fsync",
    "aws": "checksums where the store has one that it knows, no fsync",
    "aws (CRT)": "the same, by the C runtime",
}


@dataclass(frozen=True)
class Side:
    """What is copied: everything below a prefix, to or from a folder of a claim."""

    endpoint: str
    bucket: str
    prefix: str
    folder: Path
    """Holds `claim`, whose `data` is the other side, and what the programs keep."""
    upload: bool = False

    @property
    def data(self) -> str:
        return f"{self.folder}/claim/data/"

    def ordered(self, remote: str) -> list[str]:
        """Source and sink."""
        return [self.data, remote] if self.upload else [remote, self.data]


def programs(names: list[str]) -> dict[str, Path]:
    """Where the peers are; one that cannot be had is left out, and said so."""
    found: dict[str, Path] = {}
    for name in names:
        place = _aws() if name.startswith("aws") else _built(RCLONE if name == "rclone" else S5CMD)
        if isinstance(place, Path):
            found[name] = place
        else:
            sys.stderr.write(f"{name} is left out: {place}\n")
    return found


def _built(tool: Tool) -> Path | str:
    found = obtain(tool)
    return str(found) if isinstance(found, Missing) else found.paths[tool.programs[0]]


def _aws() -> Path | str:
    """In an environment of its own, beside the programs of the tests."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    place = cache / "stowplan" / "bench" / AWS_CLI.replace("[crt]==", "-")
    if not (place / "bin" / "aws").exists():
        try:
            subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
            subprocess.run([str(place / "bin" / "pip"), "install", "--quiet", AWS_CLI], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            return str(error)
    return place / "bin" / "aws"


def environment(side: Side) -> dict[str, str]:
    """What all programs find in their environment."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(side.folder),
        "AWS_ACCESS_KEY_ID": ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
        "AWS_REGION": "us-east-1",
        "AWS_CONFIG_FILE": str(side.folder / "aws.conf"),
        "AWS_EC2_METADATA_DISABLED": "true",
        "S3_ENDPOINT": side.endpoint,
        "RCLONE_CONFIG_X_TYPE": "s3",
        "RCLONE_CONFIG_X_PROVIDER": "Other",
        "RCLONE_CONFIG_X_ENV_AUTH": "true",
        "RCLONE_CONFIG_X_ENDPOINT": side.endpoint,
        "RCLONE_CONFIG": str(side.folder / "rclone.conf"),
    }


def command(name: str, side: Side, places: Mapping[str, Path]) -> list[str]:
    """The command of one program."""
    program, bucket = str(places.get(name, "")), f"{side.bucket}/{side.prefix}/"
    match name:
        case "rclone":
            flags = ["--transfers=16", "--multi-thread-streams=8", "--s3-no-check-bucket"]
            return [program, "copy", *flags, *side.ordered(f"x:{bucket}")]
        case "s5cmd":
            ends = side.ordered(f"s3://{bucket}" if side.upload else f"s3://{bucket}*")
            return [program, f"--endpoint-url={side.endpoint}", "--log=error", "cp", *ends]
        case "aws" | "aws (CRT)":
            client = "crt" if name.endswith("(CRT)") else "classic"
            text = f"[default]\ns3 =\n  preferred_transfer_client = {client}\n  max_concurrent_requests = 16\n"
            (side.folder / "aws.conf").write_text(text, encoding="utf-8")
            flags = ["--recursive", "--only-show-errors", f"--endpoint-url={side.endpoint}"]
            return [program, "s3", "cp", *flags, *side.ordered(f"s3://{bucket}")]
        case _:
            return own(side, verify=name == OWN_VERIFIED)


def own(side: Side, *, verify: bool = False) -> list[str]:
    """The command of ours, with its configuration."""
    remote = {
        "type": "s3",
        "uri": f"s3://{side.bucket}/{side.prefix}/",
        "endpointEnv": "S3_ENDPOINT",
        "accessKeyIdEnv": "AWS_ACCESS_KEY_ID",
        "secretAccessKeyEnv": "AWS_SECRET_ACCESS_KEY",
        "verifyParts": verify,
    }
    local = {"type": "pvc", "claim": "c", "mountPath": str(side.folder / "claim"), "path": "data"}
    config = {
        "target": {"kind": "DataCube", "namespace": "n", "name": "c"},
        "reportPhase": False,
        "source": local if side.upload else remote,
        "sink": remote if side.upload else local,
        "memoryMiB": 512,
        "state": None if side.upload else {"directory": ".stowplan/c", "lock": ".stowplan/lock"},
    }
    path = side.folder / "config.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    return [sys.executable, "-m", "stowplan.agents.transfer", f"--config={path}", "--allow-loopback"]


def idle(name: str, side: Side, places: Mapping[str, Path]) -> list[str]:
    """The command by which a program does nothing, which takes its start alone."""
    if name in (OWN, OWN_VERIFIED):
        return [*own(side), "--help"]
    return [str(places[name]), "--version" if name.startswith("aws") else "version"]
