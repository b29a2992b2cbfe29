"""A user's parameter server: it keeps the parameters, and takes a step once all workers have pushed their gradients."""

import os
import signal
import sys
from xmlrpc.server import SimpleXMLRPCServer

WORKERS = int(os.environ["PADDLE_TRAINERS_NUM"])
RATE = 0.5


class Parameters:
    """The values of one round after the other."""

    def __init__(self) -> None:
        self.values: list[float] = []
        self.round = 0
        self.pushed: dict[int, list[float]] = {}

    def begin(self, values: list[float]) -> bool:
        """The values of the first round."""
        self.values = values
        return True

    def pull(self, number: int) -> list[float]:
        """The values of a round; empty until they are known."""
        return self.values if self.round == number else []

    def push(self, rank: int, gradient: list[float]) -> bool:
        """A worker's gradient for this round."""
        self.pushed[rank] = gradient
        if len(self.pushed) == WORKERS:
            # In the order of ranks: sums of floating-point numbers depend on it.
            ordered = [self.pushed[each] for each in sorted(self.pushed)]
            self.values = [value - RATE * sum(parts) for value, *parts in zip(self.values, *ordered, strict=True)]
            self.round, self.pushed = self.round + 1, {}
        return True


# The first process of a container is ended only by signals that it handles.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
server = SimpleXMLRPCServer(("", int(os.environ["PADDLE_PORT"])), logRequests=False)
server.register_instance(Parameters())
server.serve_forever()
