"""The transfer agent as a separate process, as in its pod or on a laptop.

`started` starts it; `ended` forks it, for tests of what it does.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.agents import forks
from tests.agents.ended import Ended
from tests.agents.transfer.server import ACCESS_KEY, SECRET_KEY, Storage

STATE = {"directory": ".stowplan/datacubes/cube", "lock": ".stowplan/locks/data"}


def mounted(folder: Path, values: Mapping[str, str]) -> str:
    """The argument of an agent for files with secret values, as the kubelet mounts a Secret: by links."""
    content = folder / "secrets/..data"
    content.mkdir(parents=True, exist_ok=True)
    for name, value in values.items():
        (content / name).write_text(value, encoding="utf-8")
        link = content.parent / name
        link.unlink(missing_ok=True)
        link.symlink_to(f"..data/{name}")
    return f"--secrets={content.parent}"


@contextmanager
def started(
    folder: Path,
    config: dict[str, Any],
    environment: Mapping[str, str],
    more: Sequence[str] = (),
    before: Sequence[str] = (),
) -> Iterator["subprocess.Popen[str]"]:
    """A running agent with this folder as its own; it is killed in the end."""
    arguments, variables = prepared(folder, config, environment, more)
    process = subprocess.Popen(
        [*before, sys.executable, "-m", "stowplan.agents.transfer", *arguments],
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=folder,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def ended(folder: Path, config: dict[str, Any], environment: Mapping[str, str], more: Sequence[str] = ()) -> Ended:
    """What an agent with this folder as its own has left behind."""
    return forks.ended("transfer", folder, *prepared(folder, config, environment, more))


def prepared(
    folder: Path, config: dict[str, Any], environment: Mapping[str, str], more: Sequence[str] = ()
) -> tuple[list[str], dict[str, str]]:
    """Arguments and environment of an agent with this folder as its own."""
    path = folder / "config.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    variables = {"PATH": os.environ["PATH"], "HOME": str(folder), **environment}
    return [f"--config={path}", "--allow-loopback", *more], variables


class Transfer:
    """A folder that stands for the claim, and a remote side."""

    folder: Path
    options: dict[str, Any]
    """Fields of the configuration beside its two sides."""

    def variables(self) -> dict[str, str]:
        """What the remote side needs in the environment."""
        raise NotImplementedError

    @property
    def claim(self) -> Path:
        path = self.folder / "claim"
        path.mkdir(exist_ok=True)
        return path

    @property
    def data(self) -> Path:
        return self.claim / "data"

    @property
    def state(self) -> Path:
        return self.claim / STATE["directory"]

    def local(self, path: str = "data") -> dict[str, Any]:
        """The side of the claim."""
        return {"type": "pvc", "claim": "claim", "mountPath": str(self.claim), "path": path}

    def run(self, source: dict[str, Any], sink: dict[str, Any], run: str | None = None) -> Ended:
        return ended(self.folder, self.config(source, sink), self._variables(run))

    @contextmanager
    def started(
        self,
        source: dict[str, Any],
        sink: dict[str, Any],
        run: str | None = None,
        environment: Mapping[str, str] | None = None,
        more: Sequence[str] = (),
        *,
        before: Sequence[str] = (),
    ) -> Iterator["subprocess.Popen[str]"]:
        """A running agent; it is killed in the end. `before` are words before its command."""
        variables = {**self._variables(run), **(environment or {})}
        with started(self.folder, self.config(source, sink), variables, more, before) as process:
            yield process

    def _variables(self, run: str | None) -> dict[str, str]:
        return {**self.variables(), **({"STOWPLAN_RUN": run} if run else {})}

    def config(self, source: dict[str, Any], sink: dict[str, Any]) -> dict[str, Any]:
        return {
            "task": "transfer",
            "target": {"kind": "DataCube", "namespace": "ml", "name": "cube"},
            "reportPhase": True,
            "source": source,
            "sink": sink,
            "memoryMiB": 256,
            "partSizeMiB": 5,
            "parallelism": 4,
            "requestRetries": 2,
            "state": STATE,
            **self.options,
        }


@dataclass(frozen=True)
class Cube(Transfer):
    """With a bucket."""

    folder: Path
    storage: Storage
    endpoint: str = ""
    """Of a proxy, if not of the storage itself."""
    options: dict[str, Any] = field(default_factory=dict)

    def variables(self) -> dict[str, str]:
        return {
            "S3_ENDPOINT": f"{self.endpoint or self.storage.endpoint}\n",
            "S3_ACCESS_KEY_ID": ACCESS_KEY,
            "S3_SECRET_ACCESS_KEY": f"{SECRET_KEY}\n",
        }

    def remote(self, key: str = "", **fields: Any) -> dict[str, Any]:
        """The S3 side."""
        return {
            "type": "s3",
            "uri": f"s3://{self.storage.bucket}/{key}",
            "endpointEnv": "S3_ENDPOINT",
            "accessKeyIdEnv": "S3_ACCESS_KEY_ID",
            "secretAccessKeyEnv": "S3_SECRET_ACCESS_KEY",
            **fields,
        }

    def download(self, key: str = "", run: str | None = None, path: str = "data", **fields: Any) -> Ended:
        """Runs the agent from the bucket to the claim."""
        return self.run(self.remote(key, **fields), self.local(path), run)

    def upload(self, key: str = "", run: str | None = None, path: str = "data", **fields: Any) -> Ended:
        """Runs the agent from the claim to the bucket."""
        return self.run(self.local(path), self.remote(key, **fields), run)


def files(folder: Path) -> dict[str, bytes]:
    """All files below a folder with their content."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
