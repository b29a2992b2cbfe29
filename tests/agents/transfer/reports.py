"""Reports of a transfer besides its log: the applied status, and the termination message for the kubelet."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.agents.accounts import account_directory
from tests.cluster.certificates import Authority
from tests.http_server import QuietHandler, serving

ACCOUNT_TOKEN = "account-CANARY-0123456789"

_PLACE = """\
from pathlib import Path
from stowplan.agents.attempt import termination_log
termination_log.leave.__defaults__ = (Path({place!r}),)
"""
"""What Python runs at its start: `/dev` belongs to all tests of this machine."""


@dataclass
class Reports:
    """A listener in the place of an API server, and a file in that of `/dev/termination-log`."""

    folder: Path
    port: int = 0
    patches: list[str] = field(default_factory=list)
    """All that was applied, as it came."""

    @property
    def words(self) -> str:
        """The last words."""
        return (self.folder / "termination-log").read_text(encoding="utf-8")

    @property
    def status(self) -> dict[str, Any]:
        """What was applied last."""
        found: dict[str, Any] = json.loads(self.patches[-1])["status"]
        return found

    @property
    def environment(self) -> dict[str, str]:
        """Variables by which the agent tells us."""
        return {
            "KUBERNETES_SERVICE_HOST": "127.0.0.1",
            "KUBERNETES_SERVICE_PORT": str(self.port),
            "STOWPLAN_POD": "pod",
            "PYTHONPATH": str(self.folder / "start"),
        }

    @property
    def argument(self) -> str:
        return f"--service-account={self.folder / 'account'}"


class _Handler(QuietHandler):
    protocol_version = "HTTP/1.1"
    reports: Reports

    def do_GET(self) -> None:
        self._answer()

    def do_PATCH(self) -> None:
        self.reports.patches.append(self.rfile.read(int(self.headers["content-length"])).decode())
        self._answer()

    def _answer(self) -> None:
        found = {"apiVersion": "tensorstack.dev/v1beta1", "kind": "DataCube", "metadata": {"name": "cube"}}
        data = json.dumps(found).encode()
        self.send_response_only(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def listening(folder: Path) -> Iterator[Reports]:
    """A listener for one test, whose new folder holds all that it needs."""
    authority = Authority.create(folder)
    reports = Reports(folder)
    account_directory(folder / "account", token=ACCOUNT_TOKEN, authorities=authority.certificate)
    (folder / "termination-log").touch()
    (folder / "start").mkdir()
    place = _PLACE.format(place=str(folder / "termination-log"))
    (folder / "start" / "sitecustomize.py").write_text(place, encoding="utf-8")
    pair = authority.issue("api")
    with serving(type("Handler", (_Handler,), {"reports": reports}), pair) as url:
        reports.port = int(url.rpartition(":")[2])
        yield reports
