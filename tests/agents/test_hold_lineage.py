"""The sidecar that holds a lineage of checkpoints, as separate processes on a real file system."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from stowplan.agents.wait.lineage import holder
from stowplan.schema.agents.lineage import LineageMarker
from tests.agents.waiting import until
from tests.launcher.machine import namespace_command

MODULE = "stowplan.agents.hold_lineage"
LINEAGE = "ml/llama-sft"
STATE = f".stowplan/lineages/{LINEAGE}/.state"
ELSEWHERE = """
import os, sys
from stowplan.agents.attempt.dataset_lock import lock, owner
from stowplan.agents.wait.lineage import command, holder
lock.BEAT_SECONDS, holder.SILENCE_SECONDS = 0.5, float(sys.argv.pop(1))
owner.boot = lambda: f"machine {os.getpid()}"
sys.exit(command.main())
"""
"""The program on a machine of its own, where nobody can see its process end, with another measure of silence."""

EAGER = """
import os, sys
from stowplan.agents.attempt.dataset_lock import lock, owner
from stowplan.agents.wait.lineage import command
lock.LOOK_SECONDS = 0
owner.boot = lambda: f"machine {os.getpid()}"
sys.exit(command.main())
"""
"""The program on a machine of its own, without pauses, so that it misses no moment in which nobody has the lineage."""

OTHER_USER = """
import os, sys
from stowplan.agents.wait.lineage import command
hold = command.hold
command.hold = lambda *given: (os.getuid() or os.setuid(65532), hold(*given))
sys.exit(command.main())
"""
"""The program as a user other than root, who may not be able to read Python's own files."""


def arguments(claim: Path, *more: str) -> list[str]:
    return ["--path", str(claim), "--lineage", LINEAGE, "--job", "llama-sft-training", *more]


def environment(run: str, rank: int = 0) -> dict[str, str]:
    return {**os.environ, "STOWPLAN_RUN": run, "STOWPLAN_NODE_RANK": str(rank)}


class Sidecar:
    """One sidecar, with its claim mounted at a path."""

    def __init__(self, claim: Path, run: str, *more: str, rank: int = 0, silence: float | None = None) -> None:
        self.claim, self.environment = claim, environment(run, rank)
        program = ["-m", MODULE] if silence is None else ["-c", ELSEWHERE, str(silence)]
        command = [sys.executable, *program, *arguments(claim, *more)]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=self.environment)

    def probe(self) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", f"{MODULE}.probe", str(self.claim), LINEAGE, "llama-sft-training"]
        return subprocess.run(command, capture_output=True, text=True, env=self.environment, check=False)

    def has_started(self) -> bool:
        return self.probe().returncode == 0

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        self.said = self.process.communicate(timeout=60)[1]
        return self.process.returncode


def flags(claim: Path) -> set[str]:
    """The runs that have a flag in the state of the lineage."""
    names = (each.name for each in (claim / STATE / "lock").iterdir())
    return {name.split(".")[0].rpartition("-")[0] for name in names} - {""}


def marker(claim: Path) -> LineageMarker:
    return LineageMarker.model_validate_json((claim / STATE / "run.json").read_text())


def test_a_run_gets_a_free_lineage_and_releases_it(tmp_path: Path) -> None:
    data = tmp_path / "c4"
    (data / ".stowplan").mkdir(parents=True)
    (data / ".stowplan/complete.json").write_text(json.dumps({"format": 1, "run": "c4-sync-x", "revision": "9f3c"}))
    more = ["--spec", "abcd", "--image", "sft:1", "--dataset", f"c4={data}", "--dataset", f"new={tmp_path / 'none'}"]
    claim = tmp_path / "claim"
    claim.mkdir()
    first = Sidecar(claim, "aaaa", *more)
    until(first.has_started)
    found = marker(claim)
    assert (found.lineage, found.run, found.spec, found.image) == (LINEAGE, "llama-sft-training-aaaa", "abcd", "sft:1")
    datasets = [(each.name, each.run, each.revision) for each in found.datasets]
    assert datasets == [("c4", "c4-sync-x", "9f3c"), ("new", None, None)]
    assert (claim / LINEAGE).stat().st_mode & 0o777 == 0o777
    assert first.end() == 0
    assert flags(claim) == set()
    assert marker(claim) == found


def test_the_next_run_waits_for_one_that_lives_until_it_releases(tmp_path: Path) -> None:
    first = Sidecar(tmp_path, "aaaa", "--image", "sft:1", silence=600)
    until((tmp_path / STATE / "run.json").exists)
    second = Sidecar(tmp_path, "bbbb", "--image", "sft:2", silence=600)
    until(lambda: len(flags(tmp_path)) == 1 and "waits for run llama-sft-training-aaaa" in second.probe().stderr)
    time.sleep(3)
    assert second.probe().returncode == 1
    assert first.end() == 0
    until(lambda: marker(tmp_path).run == "llama-sft-training-bbbb")
    assert second.end() == 0
    assert [json.loads(line).get("of") for line in second.said.splitlines() if '"before"' in line] == ["sft:1"]


@pytest.mark.skipif(namespace_command() is None, reason="no PID namespaces here: neither root nor user namespaces")
def test_a_run_on_the_same_node_is_waited_for_although_nobody_else_sees_its_processes(tmp_path: Path) -> None:
    command = [*(namespace_command() or ()), sys.executable, "-m", MODULE, *arguments(tmp_path)]
    first = subprocess.Popen(command, stderr=subprocess.DEVNULL, env=environment("aaaa"))
    until((tmp_path / STATE / "run.json").exists)
    second = Sidecar(tmp_path, "bbbb")
    assert second.process.stderr
    said = json.loads(second.process.stderr.readline())
    first.kill()
    first.wait()
    assert second.end() == 0
    assert "waiting for its end" in said["message"]
    assert marker(tmp_path).run == "llama-sft-training-aaaa"


def test_a_killed_run_is_waited_for_until_its_lock_is_old(tmp_path: Path) -> None:
    first = Sidecar(tmp_path, "aaaa", silence=600)
    until((tmp_path / STATE / "run.json").exists)
    first.end(signal.SIGKILL)
    killed = time.monotonic()
    second = Sidecar(tmp_path, "bbbb", silence=6)
    until(lambda: marker(tmp_path).run == "llama-sft-training-bbbb")
    assert time.monotonic() - killed >= 5
    assert flags(tmp_path) == {"llama-sft-training-bbbb"}
    assert second.end() == 0


def test_nobody_waits_for_a_run_that_died_long_ago(tmp_path: Path) -> None:
    first = Sidecar(tmp_path, "aaaa", silence=600)
    until((tmp_path / STATE / "run.json").exists)
    first.end(signal.SIGKILL)
    for flag in (tmp_path / STATE / "lock").glob("llama*"):
        old = time.time() - holder.SILENCE_SECONDS - 1
        os.utime(flag, (old, old))
    second = Sidecar(tmp_path, "bbbb")
    until(lambda: marker(tmp_path).run == "llama-sft-training-bbbb")
    assert second.end() == 0


def test_the_next_attempt_of_a_killed_run_goes_on_at_once(tmp_path: Path) -> None:
    first = Sidecar(tmp_path, "aaaa", silence=600)
    until((tmp_path / STATE / "run.json").exists)
    first.end(signal.SIGKILL)
    again = Sidecar(tmp_path, "aaaa")
    assert not again.has_started() or (tmp_path / STATE / "run.json").exists()
    until(again.has_started)
    assert again.end() == 0
    assert flags(tmp_path) == set()


def test_a_killed_sidecar_that_starts_again_keeps_the_lineage(tmp_path: Path) -> None:
    """Its trainer goes on meanwhile, so the next run must wait. That run has the smaller name, which wins a contest."""
    first = Sidecar(tmp_path, "aaaa")
    until((tmp_path / STATE / "run.json").exists)
    command = [sys.executable, "-c", EAGER, *arguments(tmp_path)]
    other = subprocess.Popen(command, stderr=subprocess.DEVNULL, env=environment("0000"))
    try:
        until(lambda: "llama-sft-training-0000" in flags(tmp_path))
        for _ in range(3):
            first.end(signal.SIGKILL)
            first = Sidecar(tmp_path, "aaaa")
            until(first.has_started)
            assert marker(tmp_path).run == "llama-sft-training-aaaa"
        assert first.end() == 0
        until(lambda: marker(tmp_path).run == "llama-sft-training-0000")
    finally:
        first.process.kill()
        other.terminate()
        assert other.wait() == 0


def test_other_pods_of_the_run_wait_for_the_first(tmp_path: Path) -> None:
    other = Sidecar(tmp_path, "aaaa", rank=1)
    assert "waits for run llama-sft-training-aaaa to take it" in other.probe().stderr
    first = Sidecar(tmp_path, "aaaa", silence=600)
    until(other.has_started)
    assert not Sidecar.has_started(first), "its process is on another machine than the probe"
    assert (other.end(), first.end()) == (0, 0)


def test_a_claim_of_another_user_is_a_permanent_failure(tmp_path: Path) -> None:
    command = [sys.executable, "-c", OTHER_USER, *arguments(Path("/etc"))]
    done = subprocess.run(command, capture_output=True, text=True, env=environment("aaaa"), check=False)
    last = json.loads(done.stderr.splitlines()[-1])
    assert (done.returncode, last["reason"]) == (5, "NoAccess")
    assert "cannot be held in its claim, as user " in last["message"]
    assert "`fsGroup`" in last["message"]


@pytest.mark.parametrize("words", [[], ["--path", "/x", "--lineage", "../etc", "--job", "a"]])
def test_wrong_usage(words: list[str]) -> None:
    done = subprocess.run([sys.executable, "-m", MODULE, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert f"usage: python -m {MODULE}" in done.stderr
    assert "Traceback" not in done.stderr
