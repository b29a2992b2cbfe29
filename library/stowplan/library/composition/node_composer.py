"""A separate Node.js process that renders charts with cdk8s."""

import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Timer
from typing import IO, TYPE_CHECKING

from stowplan.library.composition import node
from stowplan.library.composition.packages import SCRIPT

if TYPE_CHECKING:
    from stowplan.library.composition.tree import ChartSource

_LIMITS = ("--max-semi-space-size=4",)
"""Arguments of Node.js: the memory for new objects in MiB. By default, Node.js takes more memory and is no faster."""

PATIENCE = 600
"""Seconds in which Node.js must respond to one request. A request of 50 specs takes about 0.02 s."""


class NodeComposer:
    """A Node.js process that renders charts with cdk8s. It starts with the object and runs until `close`.

    `packages` is a folder that `unpack` has filled. `patience` is the time in seconds in which Node.js must respond to
    one request; after it the process is killed. The start raises `NodeError` if no Node.js can be used. Only one thread
    of one process may use the object: Node.js cannot tell several apart.
    """

    def __init__(self, packages: Path, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._process = subprocess.Popen(  # noqa: S603 - the bundled Node, or the user's own
            [node.program(), *_LIMITS, str(packages / SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def render(self, charts: "Sequence[ChartSource]") -> "list[ChartSource]":
        """Return the charts with their manifests as cdk8s renders them.

        Raises `RuntimeError` if cdk8s refuses a chart, or if Node.js ends or does not respond in time. In the latter
        cases each later call raises it too.
        """
        from stowplan.library.composition.rendering import render  # noqa: PLC0415 - Node.js starts meanwhile

        return render(charts, self._exchange)

    def _exchange(self, request: bytes) -> bytes:
        """Send one request and return the response. Both are lines; `request` has no line end yet."""
        watchdog = Timer(self._patience, self._process.kill)
        watchdog.start()
        try:
            with suppress(BrokenPipeError):  # The empty response below reports it.
                _open(self._process.stdin).write(request + b"\n")
                _open(self._process.stdin).flush()
            response = _open(self._process.stdout).readline()
        finally:
            watchdog.cancel()
        if not response.endswith(b"\n"):
            raise RuntimeError(f"Node ended with {self._process.wait()} instead of rendering charts")
        return response

    def close(self) -> None:
        """Kill the Node.js process and wait for its end. `packages` remains. Call it also after an error."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):  # A part of a request may still be in the buffer.
                _open(pipe).close()


def _open(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise RuntimeError("Node was started without a pipe")
    return pipe
