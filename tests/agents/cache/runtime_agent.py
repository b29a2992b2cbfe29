"""The runtime of a cache pod as a separate process, with the files and variables of its pod."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.agents.cache.volume import Mount
from tests.agents.waiting import GRACE_SECONDS

DATASET = "imagenet"
MODULE = "stowplan.agents.cache"


@dataclass(frozen=True)
class Runtime:
    """A running agent and where its files are."""

    process: "subprocess.Popen[bytes]"
    folder: Path
    environment: Mapping[str, str]

    def events(self) -> list[dict[str, Any]]:
        """What it said so far, each line as its object."""
        text = (self.folder / "log").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def said(self, **fields: object) -> Callable[[], bool]:
        """Whether one of its lines has all these fields, as a question for `wait_for`."""

        def asked() -> bool:
            assert self.process.poll() is None, self.events()
            return any(fields.items() <= event.items() for event in self.events())

        return asked

    def probe(self, name: str) -> tuple[int, str]:
        """Exit code and reason of `alive` or `ready`."""
        command = [sys.executable, "-m", MODULE, name]
        done = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, check=False, timeout=60
        )  # fmt: skip
        return done.returncode, done.stderr.strip()

    def end(self) -> int:
        """Asks it to end, as the kubelet does; gives the exit code."""
        self.process.terminate()
        return self.process.wait(GRACE_SECONDS)


def config(mount: Path, **fields: Any) -> dict[str, Any]:
    """A configuration as the compiler writes it."""
    return {
        "task": "runtime",
        "target": {"kind": "SampleSet", "namespace": "ml", "name": DATASET},
        "reportPhase": True,
        "mountPath": str(mount),
        "partitions": 1,
        "cacheSizeMiB": 256,
        "mountOptions": ["cache-size=256"],
        "synced": False,
        "warmed": False,
        "intervalSeconds": 1,
        **fields,
    }


@contextmanager
def runtime(
    folder: Path,
    mount: Mount,
    ordinal: int = 0,
    environment: Mapping[str, str] | None = None,
    account: Path | None = None,
    **fields: Any,
) -> Iterator[Runtime]:
    """Starts the agent of a node, and ends it whatever happens."""
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config(mount.path, **fields)), encoding="utf-8")
    variables = {
        "PATH": f"{mount.volume.program.parent}:{os.environ['PATH']}",
        "HOME": str(folder),
        "STOWPLAN_POD": f"{DATASET}-runtime-{ordinal}",
        "STOWPLAN_NODE": f"node-{ordinal}",
        **(environment or {}),
    }
    command = [sys.executable, "-m", MODULE, "runtime", f"--config={folder / 'config.json'}"]
    command += [f"--service-account={account}"] if account else []
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, env=variables, stdout=log, stderr=log)
    try:
        yield Runtime(process, folder, variables)
    finally:
        process.kill()
        process.wait()
