"""A training program that connects to its peers only by Paddle's variables; it exits with 0 only if all connected.

Its first argument is Paddle's way of starting, its second the timeout in seconds:

- `launch`: `paddle.distributed.launch` up to 2.2 with a cluster's variables;
- `launch-2.3`: the same from 2.3 on, which derives a master and a number of nodes from these variables;
- `alone`: `paddle.distributed.init_parallel_env` in a program that no launcher started;
- `fleet`: the role maker of `fleet` with parameter servers, each version of 2.x;
- `elastic`: the elastic manager of 2.1 and 2.2, which later releases start if they find its variables;
- `elastic-2.3`: the launcher from 2.3 on with an etcd as its master.

The variables and their handling are Paddle's; messages and stores are this project's.
"""

import os
import socket
import sys
from collections.abc import Callable, Mapping

from tests.launcher import store
from tests.launcher.fleet import fleet
from tests.launcher.wire import Wire, check, split

_DEVICES = 8
_ELASTIC_PORT = 6170

ENV = os.environ


def launch(wire: Wire) -> None:
    """The rank is the place of `POD_IP` in `PADDLE_TRAINERS`; processes use the ports from `PADDLE_PORT` on."""
    hosts = ENV["PADDLE_TRAINERS"].split(",")
    check(ENV["POD_IP"] in hosts, f"is not in PADDLE_TRAINERS {hosts}")
    rank = hosts.index(ENV["POD_IP"])
    check(rank == int(ENV["PADDLE_TRAINER_ID"]), f"is rank {rank}, not {ENV['PADDLE_TRAINER_ID']}")
    check(len(hosts) == int(ENV["PADDLE_TRAINERS_NUM"]), "PADDLE_TRAINERS_NUM differs")
    check(int(ENV["TRAINER_PORTS_NUM"]) >= _DEVICES, "has too few ports")
    endpoints = [f"{host}:{ENV['PADDLE_PORT']}" for host in hosts]
    _gather(wire, endpoints, rank)
    given = ENV["PADDLE_TRAINER_ENDPOINTS"].split(",")
    check(given == endpoints, f"PADDLE_TRAINER_ENDPOINTS are {given}")


def launch_with_master(wire: Wire) -> None:
    """The first endpoint is the master, where its host runs a store; every node brings an endpoint of its own."""
    endpoints = ENV["PADDLE_TRAINER_ENDPOINTS"].split(",")
    master, nodes = endpoints[0], len({endpoint.split(":")[0] for endpoint in endpoints})
    host = ENV["POD_IP"] if "." in ENV["POD_IP"] else socket.gethostname()
    rank = int(ENV["PADDLE_TRAINER_ID"])
    if nodes < 2:
        return
    own = f"{host}:{_free_port(host)}"
    if split(master)[0] == host:
        check(rank == 0, f"is the master, but rank {rank}")
        with store.hosting(wire, master, "/info", nodes):
            found = store.meet(wire, master, "/info", rank=rank, size=nodes, word=own)
    else:
        found = store.meet(wire, master, "/info", rank=rank, size=nodes, word=own)
    _gather(wire, found, rank)


def alone(wire: Wire) -> None:
    """The variables that the launcher sets for its processes are those of the pod itself."""
    endpoints, rank = ENV["PADDLE_TRAINER_ENDPOINTS"].split(","), int(ENV["PADDLE_TRAINER_ID"])
    check(int(ENV["PADDLE_TRAINERS_NUM"]) == len(endpoints), "PADDLE_TRAINERS_NUM differs")
    check(ENV["PADDLE_CURRENT_ENDPOINT"] == endpoints[rank], f"is at {ENV['PADDLE_CURRENT_ENDPOINT']}")
    _gather(wire, endpoints, rank)


def elastic(wire: Wire) -> None:
    """Hosts register at one etcd and go on when there are as many as there are to be."""
    etcd = ENV["PADDLE_ELASTIC_SERVER"]
    check(etcd.count(":") == 1, f"PADDLE_ELASTIC_SERVER is {etcd}, but Paddle takes one")
    check("PADDLE_TRAINERS" not in ENV, "has a list of trainers, which Paddle would keep to")
    fewest, _, most = ENV["PADDLE_ELASTIC_NP"].partition(":")
    size = int(most or fewest)
    nodes = f"/paddle/{ENV['PADDLE_ELASTIC_JOB_ID']}/nodes/"
    store.put(wire, etcd, nodes + ENV["POD_IP"], ENV["POD_IP"])
    hosts = store.together(wire, etcd, nodes, size).values()
    ranks = wire.all_gather(
        f"{ENV['POD_IP']}:{_ELASTIC_PORT}",
        [f"{host}:{_ELASTIC_PORT}" for host in hosts],
        int(ENV["PADDLE_TRAINER_ID"]),
    )
    check(sorted(ranks.values()) == list(range(size)), f"ranks are {ranks}")
    store.delete(wire, etcd, nodes + ENV["POD_IP"])


def elastic_with_master(wire: Wire) -> None:
    """Nodes tell the etcd that they live, and go on when there are as many as there may be; it ranks them by name."""
    check("PADDLE_ELASTIC_JOB_ID" not in ENV, "has the variables of the old launcher, which starts then")
    check("PADDLE_TRAINER_ENDPOINTS" not in ENV, "has a list of trainers, which would replace the master")
    check(int(ENV.get("PADDLE_TRAINER_ID", -1)) < 0, "has a rank of its own, and ranks of nodes that go leave gaps")
    check(ENV["PADDLE_MASTER"].startswith("etcd://"), "has no etcd as its master")
    etcd = ENV["PADDLE_MASTER"].strip("etcd://")  # noqa: B005 - it takes letters of the host away too
    fewest, _, most = ENV["PADDLE_NNODES"].partition(":")
    size = int(most or fewest)
    name, scope = ENV["HOSTNAME"], f"/{ENV['PADDLE_JOB_ID']}/info"
    alive = f"/paddle/{ENV['PADDLE_JOB_ID']}/heartbeat/"
    store.put(wire, etcd, alive + name, name)
    ranks = sorted(store.together(wire, etcd, alive, size))
    rank = ranks.index(alive + name)
    found = store.meet(wire, etcd, scope, rank=rank, size=size, word=f"{ENV['POD_IP']}:{_free_port(ENV['POD_IP'])}")
    _gather(wire, found, rank)
    for key in (alive + name, f"{scope}/here/{rank}", f"{scope}/left/{rank}"):
        store.delete(wire, etcd, key)


def _gather(wire: Wire, endpoints: list[str], rank: int) -> None:
    ranks = wire.all_gather(endpoints[rank], endpoints, rank)
    check([ranks[endpoint] for endpoint in endpoints] == list(range(len(endpoints))), f"ranks are {ranks}")


def _free_port(host: str) -> int:
    with socket.create_server((host, 0)) as found:
        port: int = found.getsockname()[1]
        return port


MODES: Mapping[str, Callable[[Wire], None]] = {
    "launch": launch,
    "launch-2.3": launch_with_master,
    "alone": alone,
    "fleet": fleet,
    "elastic": elastic,
    "elastic-2.3": elastic_with_master,
}

if __name__ == "__main__":
    MODES[sys.argv[1]](Wire(float(sys.argv[2])))
