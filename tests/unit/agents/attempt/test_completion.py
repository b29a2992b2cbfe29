"""The marker files that a transfer leaves behind."""

from pathlib import Path

from stowplan.agents.attempt.completion import KEPT_RUNS, Completion
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.agents.marker import marker_path


def end(claim: Path, run: str, code: ExitCode = ExitCode.DONE) -> None:
    Completion(claim, claim / "state", run).end(code, {})


def runs(claim: Path) -> list[str]:
    return sorted(path.stem for path in (claim / marker_path("x")).parent.iterdir())


def test_a_schedule_leaves_the_markers_of_its_last_runs(tmp_path: Path) -> None:
    for run in ("data-sync-abcdefgh", "other-refresh-10", "data-refresh-warmup-0-11"):
        end(tmp_path, run)
    others = runs(tmp_path)
    for minute in range(90, 90 + KEPT_RUNS + 20):
        end(tmp_path, f"data-refresh-{minute}", ExitCode.CONFLICT if minute % 3 else ExitCode.DONE)
    kept = {f"data-refresh-{minute}" for minute in range(110, 110 + KEPT_RUNS)}
    assert set(runs(tmp_path)) == {*others, *kept}
