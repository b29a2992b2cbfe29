"""The transfer agent with a Git repository, as a separate process."""

import atexit
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tests.agents.ended import Ended
from tests.agents.transfer.agent import STATE, ended, mounted, started
from tests.agents.transfer.git.author import variables
from tests.agents.transfer.git.server import TOKEN, USERNAME


@cache
def scratch() -> str:
    """A folder with a short name, for what agents that are killed leave behind."""
    folder = tempfile.mkdtemp(prefix="sg-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@dataclass(frozen=True)
class Cube:
    """A folder that stands for the claim, and the URL of a repository."""

    folder: Path
    url: str
    options: dict[str, Any] = field(default_factory=dict)
    """Fields of the configuration beside its two sides."""

    @property
    def claim(self) -> Path:
        path = self.folder / "claim"
        path.mkdir(exist_ok=True)
        return path

    @property
    def clone(self) -> Path:
        return self.claim / "data" / self.url.rstrip("/").rpartition("/")[2].removesuffix(".git")

    @property
    def state(self) -> Path:
        return self.claim / STATE["directory"]

    @property
    def hidden(self) -> Path:
        """Of a clone that is not complete."""
        return self.state / "clones" / self.clone.name

    def git(self, *words: str, check: bool = True, feed: bytes = b"") -> str:
        """Git in the clone, as a person runs it."""
        done = subprocess.run(
            ["git", "-c", "safe.directory=*", "-c", "filter.lfs.clean=git-lfs clean -- %f", *words],
            cwd=self.clone,
            env=variables(self.folder),
            input=feed,
            capture_output=True,
            check=False,
        )
        assert not check or done.returncode == 0, done.stderr.decode()
        return done.stdout.decode().strip()

    @property
    def head(self) -> str:
        return self.git("rev-parse", "HEAD")

    def download(self, ref: str | None = None, run: str | None = None, **fields: Any) -> Ended:
        """Runs the agent from the repository to the claim."""
        return self.run(upload=False, ref=ref, run=run, **fields)

    def upload(self, run: str | None = None, **fields: Any) -> Ended:
        """Runs the agent from the claim to the repository."""
        return self.run(upload=True, run=run, **fields)

    def run(
        self,
        *,
        upload: bool,
        ref: str | None = None,
        run: str | None = None,
        environment: Mapping[str, str] | None = None,
        more: Sequence[str] = (),
        mount: str = "",
        **fields: Any,
    ) -> Ended:
        config, variables = self._given(upload=upload, ref=ref, run=run, mount=mount, **fields)
        return ended(self.folder, config, {**variables, **(environment or {})}, (self._secrets(), *more))

    @contextmanager
    def started(
        self,
        *,
        upload: bool = False,
        ref: str | None = None,
        run: str | None = None,
        environment: Mapping[str, str] | None = None,
        more: Sequence[str] = (),
        mount: str = "",
        **fields: Any,
    ) -> Iterator["subprocess.Popen[str]"]:
        """A running agent; it is killed in the end. `mount` is another way to write the path of the claim."""
        config, variables = self._given(upload=upload, ref=ref, run=run, mount=mount, **fields)
        all_variables = {**variables, **(environment or {})}
        with started(self.folder, config, all_variables, (self._secrets(), *more)) as process:
            yield process

    def _secrets(self) -> str:
        return mounted(self.folder, {"TOKEN": f"{TOKEN}\n"})

    def _given(
        self, *, upload: bool, ref: str | None, run: str | None, mount: str, **fields: Any
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """Configuration and environment of an agent."""
        remote = {"type": "git", "urlEnv": "URL", "tokenEnv": "TOKEN", "username": USERNAME, **fields}
        remote |= {"refEnv": "REF"} if ref else {}
        local = {"type": "pvc", "claim": "claim", "mountPath": mount or str(self.claim), "path": "data"}
        variables = {
            "TMPDIR": scratch(),
            "URL": f"{self.url}\n",
            **({"REF": ref} if ref else {}),
            **({"STOWPLAN_RUN": run} if run else {}),
        }
        return self.config(*((local, remote) if upload else (remote, local))), variables

    def config(self, source: dict[str, Any], sink: dict[str, Any]) -> dict[str, Any]:
        return {
            "task": "transfer",
            "target": {"kind": "DataCube", "namespace": "ml", "name": "cube"},
            "reportPhase": True,
            "source": source,
            "sink": sink,
            "memoryMiB": 256,
            "parallelism": 4,
            "requestRetries": 1,
            "state": STATE,
            **self.options,
        }


def tree(folder: Path) -> dict[str, bytes]:
    """All files of a repository with their content, and links with where they lead."""
    found = {}
    for path in folder.rglob("*"):
        name = str(path.relative_to(folder))
        if ".git" in path.relative_to(folder).parts:
            continue
        if path.is_symlink():
            found[name] = b"-> " + os.fsencode(path.readlink())
        elif path.is_file():
            found[name] = path.read_bytes()
    return found
