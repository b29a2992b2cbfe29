"""The base of the kill tests."""

import subprocess
import sys

from tests.agents.kills import Kills


def test_agent_that_has_ended_before_it_can_be_struck() -> None:
    kills = Kills(1)
    with subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE, text=True) as process:
        process.wait()
        kills.strike(process)
    assert (kills.done, kills.seconds < Kills(1).seconds) == (0, True)


def test_agent_that_is_struck() -> None:
    kills = Kills(2, seconds=0.1)
    for _ in kills:
        with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, text=True) as process:
            kills.strike(process, lambda: True)
        assert process.returncode == -9
    assert kills.done == 2
