#!/usr/bin/python3
"""Does what torchrun does without options for a job of a fixed size.

By the variables `PET_*`, the nodes meet at the first one. Then each starts its processes with the variables of PyTorch.
When a process fails, all nodes end with 1. They end with 0 together. It leaves out elastic jobs, restarts and logs.
"""

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence

PAUSE = 0.2
DONE = b"d"


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    node, nodes = int(os.environ["PET_NODE_RANK"]), int(os.environ["PET_NNODES"])
    address = (os.environ["PET_MASTER_ADDR"], int(os.environ["PET_MASTER_PORT"]))
    peers = _first(address[1], nodes) if node == 0 else [_other(address)]
    processes = _start(node, nodes)
    try:
        return _end_of(processes, peers)
    finally:
        for each in processes:
            each.kill()


def _first(port: int, nodes: int) -> list[socket.socket]:
    """Meet the others, and let them begin when all are there."""
    with socket.create_server(("", port)) as server:
        peers = [server.accept()[0] for _ in range(nodes - 1)]
    for each in peers:
        each.sendall(DONE)
    return peers


def _other(address: tuple[str, int]) -> socket.socket:
    """Meet the first, which may start late."""
    while True:
        with contextlib.suppress(OSError):
            peer = socket.create_connection(address)
            peer.recv(1)
            return peer
        time.sleep(PAUSE)


def _start(node: int, nodes: int) -> "list[subprocess.Popen[bytes]]":
    count = int(os.environ["PET_NPROC_PER_NODE"])
    common = {"WORLD_SIZE": str(nodes * count), "LOCAL_WORLD_SIZE": str(count)}
    ranks = [{"RANK": str(node * count + local), "LOCAL_RANK": str(local)} for local in range(count)]
    return [subprocess.Popen([sys.executable, *sys.argv[1:]], env=os.environ | common | own) for own in ranks]


def _end_of(processes: "Sequence[subprocess.Popen[bytes]]", peers: Sequence[socket.socket]) -> int:
    """The exit code of this node: 0 when all nodes are done."""
    waiting, told = set(peers), False
    while waiting or not told:
        codes = [each.poll() for each in processes]
        if any(codes):
            return 1
        done = codes == [0] * len(codes)
        # The first node tells the others last.
        if done and not told and (os.environ["PET_NODE_RANK"] != "0" or not waiting):
            told = True
            for each in peers:
                each.sendall(DONE)
        for each in select.select(list(waiting), [], [], PAUSE)[0]:
            if each.recv(1) != DONE:
                return 1
            waiting.remove(each)
    return 0


if __name__ == "__main__":
    sys.exit(main())
