"""Tasks of the cache agent as separate processes: `started` starts one as in its pod, `run` forks it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import obstore

from tests.agents import forks
from tests.agents.cache.volume import Mount, Volume
from tests.agents.ended import Ended
from tests.agents.transfer.server import ACCESS_KEY, SECRET_KEY, Storage

ENVS_CANARY = "envs-CANARY-Qz1-0123456789"
"""A value in the volume Secret's `envs`."""


@dataclass(frozen=True)
class Dataset:
    """A volume, and a bucket to fill it from."""

    volume: Volume
    folder: Path
    storage: Storage
    user: int | None = None
    """User id of the tasks, if not the own one. They may read what this user may, to find Python and the client."""
    endpoint: str = ""
    """Of a proxy, if not of the storage itself."""
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def source(self) -> str:
        host = (self.endpoint or self.storage.endpoint).partition("://")[2]
        return f"minio://{host}/{self.storage.bucket}/"

    def put(self, objects: dict[str, bytes]) -> None:
        """More objects for the source."""
        for key, data in objects.items():
            obstore.put(self.storage.store, key, data)

    def sync(self, run: str | None = "sync-abc", **fields: Any) -> Ended:
        return self.run("sync", self.sync_fields(**fields), run)

    def sync_fields(self, **fields: Any) -> dict[str, Any]:
        own = {"source": self.source, "destination": "/", "flags": {"check-new": True}, "completes": True}
        return {**own, **fields}

    def warmup(self, mount: Mount, run: str | None = "warm-abc", partition: int = 0, **fields: Any) -> Ended:
        return self.run("warmup", warmup_fields(mount, **fields), run, partition)

    def rmr(self, mount: Mount, *paths: str, run: str | None = "rmr-abc", **fields: Any) -> Ended:
        return self.run("rmr", {"mountPath": str(mount.path), "paths": list(paths), **fields}, run)

    def clear(self, mount: Mount, run: str | None = "clear-abc", partition: int = 0, **fields: Any) -> Ended:
        return self.run("clear", {"mountPath": str(mount.path), "cachePaths": [], **fields}, run, partition)

    def run(self, task: str, fields: dict[str, Any], run: str | None, partition: int = 0) -> Ended:
        if self.user is None:
            return forks.ended("cache", self.folder, self._arguments(task, fields, run, partition), self.variables(run))
        with self.started(task, fields, run, partition) as process:
            output, _ = process.communicate(timeout=180)
            return Ended(process.returncode, output)

    @contextmanager
    def started(
        self, task: str, fields: dict[str, Any], run: str | None, partition: int = 0, *more: str
    ) -> "Iterator[subprocess.Popen[str]]":
        """A running agent; it is killed in the end."""
        command = [sys.executable, "-m", "stowplan.agents.cache", *self._arguments(task, fields, run, partition)]
        process = subprocess.Popen(
            [*self._as_user(), *command, *more],
            env=self.variables(run),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=self.folder,
        )
        with process:
            try:
                yield process
            finally:
                process.kill()

    def _arguments(self, task: str, fields: dict[str, Any], run: str | None, partition: int) -> list[str]:
        target = {"kind": "SampleJob", "namespace": "ml", "name": task}
        config = {"task": task, "target": target, "reportPhase": True, "dataset": "flowers", **fields}
        path = self.folder / f"{task}-{partition}-{run}.json"
        path.write_text(json.dumps(config), encoding="utf-8")
        return [task, f"--config={path}", f"--partition={partition}"]

    def _as_user(self) -> list[str]:
        if self.user is None:
            return []
        ids = (f"--reuid={self.user}", f"--regid={self.user}", "--clear-groups")
        return ["setpriv", *ids, "--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]

    def variables(self, run: str | None) -> dict[str, str]:
        """What the pod of a task has, a sync's Secrets included."""
        names = {
            "name": "NAME",
            "metaurl": "METAURL",
            "storage": "STORAGE",
            "bucket": "BUCKET",
            "access-key": "ACCESS_KEY",
            "secret-key": "SECRET_KEY",
        }
        secret = {f"STOWPLAN_VOLUME_{names[key]}": value for key, value in self.volume.secret.items()}
        return {
            "PATH": f"{self.volume.program.parent}:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "TMPDIR": str(self.folder),
            **secret,
            "STOWPLAN_VOLUME_ENVS": json.dumps({"JFS_RSA_PASSPHRASE": ENVS_CANARY}),
            "STOWPLAN_SOURCE_ACCESS_KEY": f"{ACCESS_KEY}\n",
            "STOWPLAN_SOURCE_SECRET_KEY": f"{SECRET_KEY}\n",
            "STOWPLAN_POD": "pod-0",
            **({"STOWPLAN_RUN": run} if run else {}),
            **self.environment,
        }


def warmup_fields(mount: Mount, **fields: Any) -> dict[str, Any]:
    own = {"mountPath": str(mount.path), "paths": [], "strategy": "sequence", "partitions": 1, "threshold": 100}
    return {**own, **fields}


def files(folder: Path) -> dict[str, bytes]:
    """All files of a mounted dataset with their content, without what is Stowplan's and JuiceFS's own."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        special = (".stowplan", ".trash", ".stats", ".config", ".control", ".accesslog")
        if name.partition("/")[0] not in special and path.is_file():
            found[name] = path.read_bytes()
    return found
