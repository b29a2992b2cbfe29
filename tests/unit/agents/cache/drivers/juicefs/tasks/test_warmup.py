"""When a warmup writes the marker by which waiting jobs know that the dataset is warm."""

from pathlib import Path
from typing import NoReturn

import pytest

from stowplan.agents.attempt import run_marker, safe_files
from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.redaction import Redactor
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.cache.drivers.juicefs.control import Control
from stowplan.agents.cache.drivers.juicefs.tasks.warmup import WarmupTask
from stowplan.agents.cache.drivers.work import TaskOutcome, TaskWork
from stowplan.agents.runtime.log import Log
from stowplan.schema.agents.agent_config import StatusTarget
from stowplan.schema.agents.cache_config import WarmupConfig
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.agents.marker import marker_path, warmup_path


def test_no_marker_says_that_a_cache_is_warm_before_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither while the mount loads files, so that a kill leaves none, nor after an attempt that may be repeated."""
    marker = tmp_path / warmup_path(0)

    def fill(*_: object) -> NoReturn:
        assert not marker.exists()
        raise AttemptError(ExitCode.TRANSIENT, "MountGone", "The mount went away")

    monkeypatch.setattr(Control, "probe", lambda _: None)
    monkeypatch.setattr(Control, "fill", fill)
    safe_files.write(tmp_path, marker_path("sync-abc"), run_marker.written("sync-abc", ExitCode.DONE))
    config = WarmupConfig(
        target=StatusTarget(kind="SampleJob", namespace="ml", name="job"),
        reportPhase=False,
        dataset="flowers",
        mountPath=str(tmp_path),
        paths=[],
        strategy="sequence",
        partitions=1,
        threshold=100,
        after="sync",
    )
    (tmp_path / "image").touch()
    work = TaskWork(TaskOutcome("warm-abc", "pod", task="warmup"), Stop(), Log(), Redactor(()))
    with pytest.raises(AttemptError, match="went away"):
        WarmupTask(config, work).run()
    assert not marker.exists()
