"""The programs of a TrainingJob, which connect by the variables that images for Baidu's operator read.

A trainer exits with 0 if all programs have connected. The first argument is the program, the second its timeout in
seconds:

- `pserver`, `trainer`: parameter servers at known ports, as with `start_pserver` and `start_trainer`;
- `new-pserver`, `new-trainer`: they register at the etcd, and a master assigns tasks (`start_new_*`);
- `collective`: only trainers, at the port of the job or at the script's own port (third argument);
- `local`: one trainer alone.

`etcd`, `paddle_k8s` and `master` replace programs of images. Helpers never end by themselves.
"""

import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import NoReturn

from tests.launcher import store
from tests.launcher.wire import Wire, check, split

_TASKS = 12
_MASTER_PORT, _ETCD_PORT = 8080, 2379
_PATIENCE = 30.0

ENV = os.environ


def serve(wire: Wire) -> None:
    """Gets the number of every trainer at each port, and answers with all of them."""
    trainers = int(ENV["PADDLE_INIT_NUM_GRADIENT_SERVERS"])
    with ExitStack() as stack:
        listeners = [stack.enter_context(wire.listen(f"{ENV['POD_IP']}:{port}")) for port in _server_ports()]
        for listener in listeners:
            peers = [stack.enter_context(wire.accept(listener, "not all came")) for _ in range(trainers)]
            numbers = [wire.receive(peer) for peer in peers]
            for peer in peers:
                wire.send(peer, {"server": ENV["POD_NAME"], "trainers": sorted(numbers)})
        _stay()


def train(wire: Wire) -> None:
    number, hosts = _whoami()
    servers = _servers()
    with ExitStack() as stack:
        endpoints = [f"{server}:{port}" for server in servers for port in _server_ports()]
        peers = [stack.enter_context(wire.connect(endpoint)) for endpoint in endpoints]
        for peer in peers:
            wire.send(peer, number)
        answers = [wire.receive(peer) for peer in peers]
    check(len({answer["server"] for answer in answers}) == len(servers), f"not {len(servers)} servers: {answers}")
    expected = list(range(len(hosts)))
    check(all(answer["trainers"] == expected for answer in answers), f"trainers are {answers}, not {expected}")


def serve_tasks(wire: Wire) -> None:
    """Registers at the etcd with its address, and takes what comes, from as many trainers as there are."""
    with wire.listen(f"{ENV['POD_IP']}:{ENV['PADDLE_INIT_PORT']}") as listener:
        store.put(wire, f"{ENV['ETCD_IP']}:{_ETCD_PORT}", f"/ps/{ENV['POD_NAME']}", ENV["POD_IP"])
        for peer in _forever(listener):
            with peer:
                wire.receive(peer)
                wire.send(peer, ENV["POD_NAME"])


def train_tasks(wire: Wire) -> None:
    """Does tasks of the master until there are none, and tells every server of each."""
    _check_size()
    found = store.together(wire, f"{ENV['ETCD_IP']}:{_ETCD_PORT}", "/ps/", int(ENV["PSERVERS"]))
    servers = sorted(_servers())
    check(sorted(found.values()) == servers, f"servers registered as {found}, not {servers}")
    while _task(wire) is not None:
        for address in found.values():
            with wire.connect(f"{address}:{ENV['PADDLE_INIT_PORT']}") as server:
                wire.send(server, "gradient")
                check(wire.receive(server) in [key.rpartition("/")[2] for key in found], "another server answers")


def collective(wire: Wire) -> None:
    port = int(sys.argv[3]) if len(sys.argv) > 3 else int(ENV["PADDLE_INIT_PORT"])
    number, hosts = _whoami()
    check("PADDLE_INIT_PSERVERS" not in ENV, "has servers")
    endpoints = [f"{host}:{port}" for host in hosts]
    ranks = wire.all_gather(endpoints[number], endpoints, number)
    check([ranks[each] for each in endpoints] == list(range(len(hosts))), f"ranks are {ranks}")


def local(wire: Wire) -> None:
    number, hosts = _whoami()
    check((number, len(hosts), ENV["PSERVERS"]) == (0, 1, "0"), f"is not alone: {hosts}")


def etcd(wire: Wire) -> None:
    """Listens where it says that clients find it: on this machine, every address is local."""
    options = dict(word.removeprefix("--").split("=", 1) for word in sys.argv[2:])
    _, _, endpoint = options["advertise-client-urls"].partition("://")
    check(split(endpoint)[1] == split(options["listen-client-urls"].partition("://")[2])[1], "advertises another port")
    with store.serving(split(endpoint)):
        _stay()


def launcher(wire: Wire) -> None:
    """`paddle_k8s start_master` takes the etcd of the own pod."""
    check(sys.argv[2:] == ["start_master"], f"does not know {sys.argv[2:]}")
    _master(wire, _MASTER_PORT, f"{ENV['POD_IP']}:{_ETCD_PORT}")


def master(wire: Wire) -> None:
    options = dict(word.removeprefix("-").split("=", 1) for word in sys.argv[2:])
    _master(wire, int(options["port"]), options["endpoints"].removeprefix("http://"))


def _master(wire: Wire, port: int, endpoint: str) -> None:
    """Hands out each task once. Its state is in the etcd, so it begins there."""
    store.put(wire, endpoint, "/master", ENV["POD_IP"])
    tasks = iter(range(_TASKS))
    with wire.listen(f"{ENV['POD_IP']}:{port}") as listener:
        for peer in _forever(listener):
            with peer:
                wire.receive(peer)
                wire.send(peer, next(tasks, None))


def _task(wire: Wire) -> int | None:
    with wire.connect(f"{ENV['MASTER_IP']}:{_MASTER_PORT}") as peer:
        wire.send(peer, "task")
        task: int | None = wire.receive(peer)
        return task


def _whoami() -> tuple[int, list[str]]:
    """The number of this trainer and the names of all, which the launcher made of the addresses of pods."""
    hosts = ENV["PADDLE_TRAINER_IPS"].split(",")
    number = int(ENV["PADDLE_INIT_TRAINER_ID"])
    counts = (ENV["TRAINERS"], ENV["PADDLE_INIT_NUM_GRADIENT_SERVERS"])
    check(counts == (str(len(hosts)), str(len(hosts))), f"there are {counts} trainers, but {len(hosts)} names")
    check(ENV["PADDLE_TRAINER_ID"] == str(number), f"is {number} for the old Paddle, and for Fluid another one")
    check(hosts[number] == ENV["POD_IP"], f"trainer {number} is {hosts[number]}")
    check(ENV["PADDLE_TRAINING_ROLE"] == "TRAINER", "is no trainer")
    check(str(Path.cwd()) == ENV["TRAINER_PACKAGE"], f"runs in {Path.cwd()}")
    return number, hosts


def _check_size() -> None:
    """What an elastic job says of its size stays true when trainers come and go."""
    if "TRAINERS_MIN" in ENV:
        unstable = {"TRAINERS", "PADDLE_INIT_NUM_GRADIENT_SERVERS", "PADDLE_TRAINER_IPS"} & ENV.keys()
        check(not unstable, f"is told {unstable}")
        check(0 < int(ENV["TRAINERS_MIN"]) < int(ENV["TRAINERS_MAX"]), "has no range")
        check(int(ENV["PADDLE_INIT_TRAINER_ID"]) < int(ENV["TRAINERS_MAX"]), "is one too many")
    else:
        _whoami()


def _servers() -> list[str]:
    if "PADDLE_INIT_PSERVERS" not in ENV:
        check(ENV["PSERVERS"] == "0", "is not told the servers")
        return []
    servers = ENV["PADDLE_INIT_PSERVERS"].split(",")
    check(ENV["PADDLE_PSERVER_IPS"].split(",") == servers, "Fluid has other servers")
    check(len(servers) == int(ENV["PSERVERS"]), f"there are {len(servers)} servers, not {ENV['PSERVERS']}")
    return servers


def _server_ports() -> range:
    first = int(ENV["PADDLE_INIT_PORT"])
    return range(first, first + int(ENV["PADDLE_INIT_PORTS_NUM"]) + int(ENV["PADDLE_INIT_PORTS_NUM_FOR_SPARSE"]))


def _forever(listener: socket.socket) -> Iterator[socket.socket]:
    while True:
        yield listener.accept()[0]


def _stay() -> NoReturn:
    while True:
        signal.pause()


PROGRAMS: Mapping[str, Callable[[Wire], None]] = {
    "pserver": serve,
    "trainer": train,
    "new-pserver": serve_tasks,
    "new-trainer": train_tasks,
    "collective": collective,
    "local": local,
}
STAND_INS: Mapping[str, Callable[[Wire], None]] = {"etcd": etcd, "paddle_k8s": launcher, "master": master}

if __name__ == "__main__":
    if sys.argv[1] in STAND_INS:
        STAND_INS[sys.argv[1]](Wire(_PATIENCE))
    else:
        PROGRAMS[sys.argv[1]](Wire(float(sys.argv[2])))
