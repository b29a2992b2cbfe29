"""The role maker of `fleet` with parameter servers, and a training of one step.

A trainer sends its rank to every server, which answers with the sum of all ranks. Heterogeneous trainers take part, and
each serves the trainers that Paddle assigns to it.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack, nullcontext

from tests.launcher import store
from tests.launcher.wire import Wire, check, fail

_HTTP = "3"

ENV = os.environ


class Cluster:
    """The endpoints of each role, and which of them is the own one."""

    def __init__(self) -> None:
        self.servers = ENV["PADDLE_PSERVERS_IP_PORT_LIST"].split(",")
        self.trainers = ENV["PADDLE_TRAINER_ENDPOINTS"].split(",")
        self.heters = _heters()
        self.own = f"{ENV['POD_IP']}:{ENV['PADDLE_PORT']}"
        check(len(self.trainers) == int(ENV["PADDLE_TRAINERS_NUM"]), "PADDLE_TRAINERS_NUM differs")

    @property
    def clients(self) -> int:
        """Processes that use the servers."""
        return len(self.trainers) + len(self.heters)

    def rank(self, endpoints: list[str]) -> int:
        """The place of `POD_IP:PADDLE_PORT`, which is how servers and heterogeneous trainers find theirs."""
        check(self.own in endpoints, f"{self.own} is none of {endpoints}")
        found = endpoints.index(self.own)
        check(found == int(ENV["PADDLE_TRAINER_ID"]), f"is number {found}, not {ENV['PADDLE_TRAINER_ID']}")
        return found


def fleet(wire: Wire) -> None:
    """What the role says; a role that Paddle does not know is refused as Paddle does it."""
    cluster = Cluster()
    match ENV["TRAINING_ROLE"]:
        case "PSERVER":
            _serve(wire, cluster)
        case "TRAINER":
            _train(wire, cluster)
        case "HETER_TRAINER":
            _assist(wire, cluster)
        case other:
            fail(f"TRAINING_ROLE must be PSERVER or TRAINER or HETER_TRAINER, but is {other}")


def _serve(wire: Wire, cluster: Cluster) -> None:
    """Ends when all clients took their leave."""
    rank = cluster.rank(cluster.servers)
    _meet_by_gloo(wire, cluster, rank, server=True)
    with wire.listen(cluster.own) as listener, ExitStack() as open_clients:
        found = [wire.accept_with_message(listener, f"served {i} of {cluster.clients}") for i in range(cluster.clients)]
        clients = [open_clients.enter_context(client) for client, _ in found]
        total = sum(message["push"] for _, message in found)
        for client in clients:
            wire.send(client, {"pull": total, "server": rank})
        for client in clients:
            check(wire.receive(client) == "goodbye", "a trainer left without a word")


def _train(wire: Wire, cluster: Cluster) -> None:
    rank = int(ENV["PADDLE_TRAINER_ID"])
    check(cluster.trainers[rank] == cluster.own, f"trainer {rank} is {cluster.trainers[rank]}, not {cluster.own}")
    _meet_by_gloo(wire, cluster, rank, server=False)
    ranks = wire.all_gather(cluster.own, cluster.trainers, rank)
    check([ranks[each] for each in cluster.trainers] == list(range(len(ranks))), f"ranks are {ranks}")
    if cluster.heters:
        _check_stage("1", "NEXT", cluster.heters)
        number = rank % len(cluster.heters)
        with wire.connect(cluster.heters[number]) as heter:
            wire.send(heter, rank)
            check(wire.receive(heter) == number, "another one answers")
    _step(wire, cluster, rank)


def _assist(wire: Wire, cluster: Cluster) -> None:
    """The stage after the trainers', which takes every trainer whose rank it is, modulo the number of its kind."""
    number = cluster.rank(cluster.heters)
    _check_stage("2", "PREVIOUS", cluster.trainers)
    check(ENV["HETER_DEVICE_TYPE"] in ("cpu", "gpu", "xpu"), "HETER_DEVICE_TYPE is none that Paddle knows")
    mine = {rank for rank in range(len(cluster.trainers)) if rank % len(cluster.heters) == number}
    with wire.listen(cluster.own) as listener:
        seen: set[int] = set()
        for _ in mine:
            with wire.accept(listener, f"only {seen} of {mine} came") as trainer:
                seen.add(wire.receive(trainer))
                wire.send(trainer, number)
    check(seen == mine, f"{seen} came, not {mine}")
    _step(wire, cluster, len(cluster.trainers) + number)


def _step(wire: Wire, cluster: Cluster, word: int) -> None:
    """Push to, pull from and take leave of every server."""
    with ExitStack() as servers:
        found = [servers.enter_context(wire.connect(each)) for each in cluster.servers]
        for server in found:
            wire.send(server, {"push": word})
        for number, server in enumerate(found):
            expected = {"pull": sum(range(cluster.clients)), "server": number}
            answer = wire.receive(server)
            check(answer == expected, f"{cluster.servers[number]} answers {answer}, not {expected}")
            wire.send(server, "goodbye")


def _meet_by_gloo(wire: Wire, cluster: Cluster, rank: int, *, server: bool) -> None:
    """The first server runs the store. With 1 workers meet, with 2 servers after them."""
    mode = int(ENV.get("PADDLE_WITH_GLOO", "0"))
    if mode not in (1, 2):
        return
    check(ENV["PADDLE_GLOO_RENDEZVOUS"] == _HTTP, "meets by other means than HTTP")
    endpoint = ENV["PADDLE_GLOO_HTTP_ENDPOINT"]
    check(endpoint not in cluster.servers, "the port of the store is taken by the server")
    size = len(cluster.trainers) + (len(cluster.servers) if mode == 2 else 0)
    with store.hosting(wire, endpoint, "/gloo", size) if server and rank == 0 else nullcontext():
        if server and mode == 2:
            rank += len(cluster.trainers)
        if not server or mode == 2:
            store.meet(wire, endpoint, "/gloo", rank=rank, size=size, word=cluster.own)


def _check_stage(stage: str, neighbour: str, endpoints: list[str]) -> None:
    """Stages of heterogeneous training, which Paddle has from 2.2 on: trainers are the first, heters the second."""
    check(ENV["STAGE_ID"] == stage, f"is stage {ENV['STAGE_ID']}, not {stage}")
    check(ENV["STAGE_NUM"] == "2", f"is one of {ENV['STAGE_NUM']} stages")
    given = ENV[f"PADDLE_{neighbour}_HETER_TRAINER_IP_PORT_LIST"].split(",")
    check(given == endpoints, f"the neighbours are {given}, not {endpoints}")


def _heters() -> list[str]:
    """By the variables of 2.0 and 2.1, and of the later releases."""
    names = ("PADDLE_HETER_TRAINER_IP_PORT_LIST", "PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST")
    early, late = (list(_words(ENV.get(name, ""))) for name in names)
    check(early == late, f"heterogeneous trainers are {early} and {late}")
    return early


def _words(text: str) -> Iterator[str]:
    yield from (word for word in text.split(",") if word)
