"""The await agent as a separate process, with the files and variables of its pod."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.agents.accounts import account_directory

POD_IP = "127.0.0.2"
RUN = "group-ps-abcdefgh"


@dataclass(frozen=True)
class AwaitProcess:
    """A running agent and where its files are."""

    process: "subprocess.Popen[str]"
    folder: Path

    def events(self) -> list[dict[str, Any]]:
        """What it said so far, each line as its object."""
        text = (self.folder / "log").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def said(self, message: str, count: int = 1) -> Callable[[], bool]:
        """Whether it said this so many times, as a question for `wait_for`; it must not have ended before."""

        def asked() -> bool:
            found = sum(message in event["message"] for event in self.events()) >= count
            assert found or self.process.poll() is None, f"ended with {self.process.returncode}: {self.events()}"
            return found

        return asked

    def exit_code(self, timeout: float = 60) -> int:
        """Waits for the end."""
        return self.process.wait(timeout)

    def write_token(self, token: str) -> None:
        """As the kubelet renews it: the new file takes the place of the old one in one step."""
        new = self.folder / "account" / "token.new"
        new.write_text(token, encoding="utf-8")
        new.rename(self.folder / "account" / "token")


@contextmanager
def await_agent(
    folder: Path,
    server: str,
    config: dict[str, Any],
    *,
    token: str,
    authorities: Path | None = None,
    pod: str = "group-ps-abcdefgh-0-xyz",
) -> Iterator[AwaitProcess]:
    """Starts the agent, and ends it whatever happens."""
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    account = account_directory(folder / "account", token=token, authorities=authorities)
    address = urlsplit(server)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "KUBERNETES_SERVICE_HOST": str(address.hostname),
        "KUBERNETES_SERVICE_PORT": str(address.port),
        "STOWPLAN_RUN": RUN,
        "STOWPLAN_POD": pod,
        "STOWPLAN_POD_IP": POD_IP,
    }
    command = [sys.executable, "-m", "stowplan.agents.await_group"]
    command += [f"--config={folder / 'config.json'}", f"--service-account={account}"]
    with (folder / "log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(command, env=environment, stderr=log, stdout=log, text=True)
        try:
            yield AwaitProcess(process, folder)
        finally:
            process.kill()
            process.wait()


def consistently(holds: Callable[[], bool], seconds: float) -> bool:
    """Whether something holds all the time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not holds():
            return False
        time.sleep(0.1)
    return True
