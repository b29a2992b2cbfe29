"""A claim whose server is gone: the kernel blocks every caller, with or without a signal."""

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.agents.ended import Ended
from tests.agents.hanging import hanging
from tests.agents.transfer.agent import Cube
from tests.agents.transfer.reports import Reports
from tests.agents.transfer.server import Storage
from tests.agents.waiting import GRACE_SECONDS


def downloads(cube: Cube) -> tuple[dict[str, Any], dict[str, Any]]:
    return cube.remote(), cube.local()


def uploads(cube: Cube) -> tuple[dict[str, Any], dict[str, Any]]:
    return cube.local(), cube.remote()


@pytest.mark.parametrize("sides", [downloads, uploads])
@pytest.mark.parametrize("place", ["claim", "claim/data"])
def test_sigterm_while_the_claim_hangs(
    cube: Cube,
    storage: Storage,
    reports: Reports,
    place: str,
    sides: Callable[[Cube], tuple[dict[str, Any], dict[str, Any]]],
) -> None:
    """At the first look at it, and in the midst of the work, with the lock of the destination."""
    storage.put({"a": b"a"})
    source, sink = sides(cube)
    where = Path(cube.folder / place)
    where.mkdir(exist_ok=True)
    with (
        hanging(where) as claim,
        cube.started(source, sink, "cube-1", reports.environment, [reports.argument]) as process,
    ):
        assert claim.asked.wait(60), "it never looked at the claim"
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=GRACE_SECONDS)
    ended = Ended(process.returncode, output)
    assert (ended.code, ended.last["reason"]) == (143, "Terminated"), ended.output
    assert json.loads(reports.words)["reason"] == "Terminated"
    assert reports.status["attempt"]["exitCode"] == 143
