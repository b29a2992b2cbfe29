"""Arguments of the agent that waits for the pods of a training job: one word for each role.

A word such as `train-worker-[0-2].train` stands for three host names. `train-ps-[0-1].train:36000` stands for two, on
which a program also has to listen at the port 36000. This module imports no pydantic, so that the agent starts fast.
"""

import re
from typing import NamedTuple

DEFAULT_TIMEOUT = 3600
"""Default of `engines.peersTimeoutSeconds`."""

LISTENING_SECONDS = 60
"""Seconds that pods wait for the ports of servers. Then they start: their program may wait itself, or need no server.

Servers pass their own wait for peers at the same time, so this covers how long a server takes to start.
"""

_WORD = re.compile(r"([-.a-z0-9]+)\[0-([0-9]{1,6})\]([-.a-z0-9]*)(?::([0-9]{1,5}))?")


class Peers(NamedTuple):
    """Pods of one role. Their host names are `<before><index><after>`, with the indices from 0 to `size - 1`.

    `port` is the port on which their programs listen; None if nobody has to wait for that.
    """

    before: str
    after: str
    size: int
    port: int | None = None

    def word(self) -> str:
        """Return the argument that stands for these pods."""
        port = "" if self.port is None else f":{self.port}"
        return f"{self.before}[0-{self.size - 1}]{self.after}{port}"

    def hosts(self) -> list[str]:
        """Return the host names in the order of their indices."""
        return [f"{self.before}{index}{self.after}" for index in range(self.size)]


def parse(word: str) -> Peers:
    """Return the pods for which an argument stands. Raises `ValueError` if it has another form."""
    found = _WORD.fullmatch(word)
    if found is None:
        raise ValueError(f"{word!r} is not of the form name-[0-2].service or name-[0-2].service:port")
    before, last, after, port = found.groups()
    return Peers(before, after, int(last) + 1, int(port) if port else None)
