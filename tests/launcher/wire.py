"""Protocol between the processes of the launcher test: lines of JSON over TCP, with one deadline for every wait."""

import json
import os
import socket
import sys
import time
from collections.abc import Sequence
from typing import Any, NoReturn

_PAUSE = 0.02
_BACKLOG = 64


def fail(reason: str) -> NoReturn:
    """Ends the process with code 1, and says why."""
    sys.exit(f"{os.environ.get('POD_IP', 'a pod')}: {reason}")


def check(holds: object, reason: str) -> None:
    if not holds:
        fail(reason)


def split(endpoint: str) -> tuple[str, int]:
    """Host and port, taken apart at the only colon, as Paddle does."""
    host, port = endpoint.split(":")
    return host, int(port)


class Wire:
    """Connections of one process, which gives up `patience` seconds after it began."""

    def __init__(self, patience: float) -> None:
        self._deadline = time.monotonic() + patience

    def left(self, reason: str) -> float:
        """Seconds until the deadline; the end of the process when there are none."""
        seconds = self._deadline - time.monotonic()
        check(seconds > 0, reason)
        return seconds

    def pause(self, reason: str) -> None:
        """Before something is tried again."""
        self.left(reason)
        time.sleep(_PAUSE)

    def check_own(self, endpoint: str) -> None:
        """Every address is local here, so nothing but `POD_IP`, a name or an address, tells whose it is."""
        host, _ = split(endpoint)
        own = os.environ["POD_IP"]
        check(own == host or own == socket.gethostbyname(host), f"{endpoint} is no endpoint of this pod")

    def listen(self, endpoint: str) -> socket.socket:
        """Listens on the address of that name alone."""
        self.check_own(endpoint)
        return socket.create_server(split(endpoint), backlog=_BACKLOG)

    def connect(self, endpoint: str, *, unknown_too: bool = False) -> socket.socket:
        """Tries until somebody listens. An unknown name ends the program, unless it tries `unknown_too`."""
        reason = f"nobody listens at {endpoint}"
        while True:
            try:
                return socket.create_connection(split(endpoint), timeout=self.left(reason))
            except ConnectionRefusedError:
                self.pause(reason)
            except socket.gaierror:
                if not unknown_too:
                    raise
                self.pause(reason)

    def accept(self, listener: socket.socket, reason: str) -> socket.socket:
        listener.settimeout(self.left(reason))
        try:
            peer, _ = listener.accept()
        except TimeoutError:
            fail(reason)
        return peer

    def accept_with_message(self, listener: socket.socket, reason: str) -> tuple[socket.socket, Any]:
        """A peer and its first message. Who says nothing only looked whether somebody listens, as agents do."""
        while True:
            peer = self.accept(listener, reason)
            peer.settimeout(self.left(reason))
            if peer.recv(1, socket.MSG_PEEK):
                return peer, self.receive(peer)
            peer.close()

    def send(self, peer: socket.socket, message: Any) -> None:
        peer.sendall(json.dumps(message).encode() + b"\n")

    def receive(self, peer: socket.socket) -> Any:
        peer.settimeout(self.left("no answer"))
        line = b""
        while not line.endswith(b"\n"):
            part = peer.recv(1)  # a byte at a time, so that what follows the line stays in the socket
            check(part, "the connection ended")
            line += part
        return json.loads(line)

    def all_gather(self, own: str, endpoints: Sequence[str], word: Any) -> dict[str, Any]:
        """Sends a word to all endpoints but the own, and returns theirs, by endpoint."""
        heard = {own: word}
        with self.listen(own) as listener:
            for endpoint in endpoints:
                if endpoint != own:
                    with self.connect(endpoint) as peer:
                        self.send(peer, {"from": own, "to": endpoint, "word": word})
            while len(heard) < len(endpoints):
                with self.accept(listener, f"heard of {sorted(heard)} alone") as peer:
                    message = self.receive(peer)
                check(message["to"] == own, f"got what was meant for {message['to']}")
                heard[message["from"]] = message["word"]
        check(set(heard) == set(endpoints), f"heard of {sorted(heard)}, not of {sorted(endpoints)}")
        return heard
