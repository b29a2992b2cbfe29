"""The agent that waits for peers as a separate process, with the name service of this machine."""

import json
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

MODULE = "stowplan.agents.wait_peers"
KNOWN = "127.0.0.[0-2]"
"""Addresses are names that every name service knows."""

MISSING = "nobody-[0-0].stowplan.invalid"
END_SECONDS = 30
"""What a process may take that has all it needs; one that hangs fails its test."""


def start(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-m", MODULE, *words], stderr=subprocess.PIPE, text=True)


def last_event(process: subprocess.Popen[str]) -> dict[str, object]:
    _, said = process.communicate(timeout=END_SECONDS)
    found = json.loads(said.splitlines()[-1])
    assert isinstance(found, dict)
    return found


def test_it_ends_at_once_if_all_names_have_addresses() -> None:
    process = start(KNOWN)
    assert last_event(process)["reason"] == "PeersReady"
    assert process.returncode == 0


def test_it_gives_up_and_says_who_is_missing() -> None:
    process = start("--timeout", "2", KNOWN, MISSING)
    last = last_event(process)
    assert (process.returncode, last["reason"]) == (10, "PeersMissing")
    assert "the address of nobody-0.stowplan.invalid" in str(last["message"])


def test_it_waits_until_servers_listen() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    process = start("--timeout", "1", f"127.0.0.[0-1]:{port}")
    time.sleep(2)
    assert process.poll() is None
    with socket.create_server(("", port)), ThreadPoolExecutor() as pool:
        assert pool.submit(last_event, process).result()["reason"] == "PeersReady"
    assert process.returncode == 0


def test_a_signal_ends_it() -> None:
    process = start(MISSING)
    assert process.stderr
    process.stderr.readline()
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=END_SECONDS) == 143
    process.communicate()


@pytest.mark.parametrize("words", [[], ["--timeout", "0", KNOWN], ["worker-0"], ["worker-[0-1]:port"]])
def test_wrong_usage(words: list[str]) -> None:
    done = subprocess.run([sys.executable, "-m", MODULE, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert f"usage: python -m {MODULE}" in done.stderr
    assert "Traceback" not in done.stderr
