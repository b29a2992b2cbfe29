"""A program that connects to its peers like MXNet's parameter server (ps-lite); all exit with 0 if all connected.

Servers and workers register at the scheduler. It waits for the configured number, assigns ranks, and lets no program
leave before all are done. Workers push to and pull from every server. The first argument is `dist` or `local`, the
second the timeout of a process in seconds.
"""

import os
import socket
import sys
from contextlib import ExitStack
from typing import Any

from tests.launcher.wire import Wire, check, fail

ENV = os.environ
_FIRST = {"server": 8, "worker": 9}
"""The first number of each role; they go up in twos."""


def schedule(wire: Wire) -> None:
    """Listens at DMLC_PS_ROOT_URI, as releases do that do not know DMLC_USE_KUBERNETES: ZeroMQ binds no DNS names."""
    own = socket.gethostbyname(ENV["HOSTNAME"])
    root = ENV["DMLC_PS_ROOT_URI"]
    try:
        socket.inet_aton(root)
    except OSError:
        fail(f"bind failed: {root} is no address")
    check(root == own, f"the scheduler is {root}, not this pod")
    wanted = {"server": int(ENV["DMLC_NUM_SERVER"]), "worker": int(ENV["DMLC_NUM_WORKER"])}
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server((own, int(ENV["DMLC_PS_ROOT_PORT"]))))
        nodes: list[tuple[dict[str, Any], socket.socket]] = []
        while len(nodes) < sum(wanted.values()):
            seen = [node["role"] for node, _ in nodes]
            peer = stack.enter_context(wire.accept(listener, f"of {wanted} there came {seen}"))
            nodes.append((wire.receive(peer), peer))
        nodes.sort(key=lambda node: str(node[0]["at"]))
        at = {role: [node["at"] for node, _ in nodes if node["role"] == role] for role in wanted}
        check({role: len(found) for role, found in at.items()} == wanted, f"{at} came, not {wanted}")
        for node, peer in nodes:
            rank = at[node["role"]].index(node["at"])
            wire.send(peer, {"id": _FIRST[node["role"]] + 2 * rank, "rank": rank, "servers": at["server"]})
        check(all(wire.receive(peer) == "done" for _, peer in nodes), "one left without a word")
        for _, peer in nodes:
            wire.send(peer, "goodbye")


def serve(wire: Wire) -> None:
    """Answers every worker with the sum of what all pushed."""
    workers = int(ENV["DMLC_NUM_WORKER"])
    with ExitStack() as stack:
        listener = stack.enter_context(_listener())
        scheduler = stack.enter_context(_registered(wire, "server", listener))
        wire.receive(scheduler)
        peers = [stack.enter_context(wire.accept(listener, f"served less than {workers}")) for _ in range(workers)]
        total = sum(wire.receive(peer) for peer in peers)
        for peer in peers:
            wire.send(peer, total)
        _leave(wire, scheduler)


def work(wire: Wire) -> None:
    with ExitStack() as stack:
        listener = stack.enter_context(_listener())
        scheduler = stack.enter_context(_registered(wire, "worker", listener))
        told = wire.receive(scheduler)
        check(len(told["servers"]) == int(ENV["DMLC_NUM_SERVER"]), f"the servers are {told['servers']}")
        peers = [stack.enter_context(wire.connect(server)) for server in told["servers"]]
        for peer in peers:
            wire.send(peer, told["rank"])
        expected = sum(range(int(ENV["DMLC_NUM_WORKER"])))
        sums = [wire.receive(peer) for peer in peers]
        check(sums == [expected] * len(peers), f"servers answer {sums}, not {expected}")
        _leave(wire, scheduler)


def local(wire: Wire) -> None:
    known = sorted(name for name in ENV if name.startswith("DMLC_"))
    check(not known, f"has {known}, so MXNet would look for others")


def distributed(wire: Wire) -> None:
    """What the role says; ps-lite knows no other."""
    match ENV["DMLC_ROLE"]:
        case "scheduler":
            schedule(wire)
        case "server":
            serve(wire)
        case "worker":
            work(wire)
        case other:
            fail(f"unknown role {other}")


def _listener() -> socket.socket:
    return socket.create_server((socket.gethostbyname(ENV["HOSTNAME"]), 0))


def _registered(wire: Wire, role: str, listener: socket.socket) -> socket.socket:
    scheduler = wire.connect(f"{ENV['DMLC_PS_ROOT_URI']}:{ENV['DMLC_PS_ROOT_PORT']}", unknown_too=True)
    host, port = listener.getsockname()
    wire.send(scheduler, {"role": role, "at": f"{host}:{port}"})
    return scheduler


def _leave(wire: Wire, scheduler: socket.socket) -> None:
    wire.send(scheduler, "done")
    check(wire.receive(scheduler) == "goodbye", "the scheduler left")


if __name__ == "__main__":
    {"dist": distributed, "local": local}[sys.argv[1]](Wire(float(sys.argv[2])))
