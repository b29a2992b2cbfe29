"""The Node.js process that renders charts with cdk8s."""

import subprocess
from collections.abc import Sequence
from contextlib import suppress
from itertools import compress
from pathlib import Path
from threading import Timer
from types import TracebackType
from typing import IO, Any, Self

import orjson

from stowplan.library.composition import node
from stowplan.library.composition.crossing import crosses
from stowplan.library.composition.packages import SCRIPT
from stowplan.library.composition.tree import ChartSource
from stowplan.library.manifest import Json, Manifest

_LIMITS = ("--max-semi-space-size=4",)
"""MiB of new objects before Node collects garbage. By default it takes more memory and is no faster."""

PATIENCE = 600
"""Seconds in which Node must respond to one request. A request of 50 specs takes about 0.02 s."""


class Composer:
    """A Node.js process that renders charts with cdk8s. It starts at once and serves until `close`.

    The protocol is one line of JSON for a request and one for its response; `compose.js` describes both. `packages` is
    a folder that `unpack` has filled.
    """

    def __init__(self, packages: Path, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._process = subprocess.Popen(  # noqa: S603 - the bundled Node, or the user's own
            [node.program(), *_LIMITS, str(packages / SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def render(self, charts: Sequence[ChartSource]) -> list[tuple[Manifest, ...]]:
        """The manifests of each chart, in their order, with the bodies that cdk8s rendered.

        A manifest that cannot be carried (see `crossing`) stays out of its chart and comes back as it is: Kubernetes
        refuses what is in it, and the check stage reports that. Raises `RuntimeError` if cdk8s refuses a chart, or if
        Node ends, hangs or responds with anything else: these are bugs of Stowplan or of its installation.
        """
        carried = [[crosses(manifest.body) for manifest in chart.manifests] for chart in charts]
        request = [_request(chart, mask) for chart, mask in zip(charts, carried, strict=True)]
        response = _read(self._exchange(orjson.dumps(request)), len(charts))
        return [_rendered(*parts) for parts in zip(charts, carried, response, strict=True)]

    def _exchange(self, request: bytes) -> bytes:
        """The response to one request. Both are lines; the request has no end of line yet."""
        watchdog = Timer(self._patience, self._process.kill)
        watchdog.start()
        try:
            with suppress(BrokenPipeError):  # The empty response below says it.
                _open(self._process.stdin).write(request + b"\n")
                _open(self._process.stdin).flush()
            response = _open(self._process.stdout).readline()
        finally:
            watchdog.cancel()
        if not response.endswith(b"\n"):
            raise RuntimeError(f"Node ended with {self._process.wait()} instead of rendering charts")
        return response

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End Node, whatever it is doing."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):  # A part of a request may still be in the buffer.
                _open(pipe).close()


def _open(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise RuntimeError("Node was started without a pipe")
    return pipe


def _request(chart: ChartSource, carried: Sequence[bool]) -> Json:
    return {
        "chart": chart.id,
        "name": chart.name,
        "ids": list(compress(chart.child_ids, carried)),
        "objects": [manifest.body for manifest in compress(chart.manifests, carried)],
    }


def _rendered(chart: ChartSource, carried: Sequence[bool], objects: Any) -> tuple[Manifest, ...]:
    if not isinstance(objects, list) or len(objects) != sum(carried):
        raise RuntimeError(f"cdk8s refused {chart.name} in {chart.id}: {objects}")
    bodies = iter(objects)
    parts = zip(chart.manifests, carried, strict=True)
    return tuple(Manifest(next(bodies), each.stem, each.run) if mask else each for each, mask in parts)


def _read(response: bytes, number: int) -> list[Any]:
    """The list in a response. Raises `RuntimeError` if it is no list of `number` items."""
    try:
        found = orjson.loads(response)
    except orjson.JSONDecodeError as error:
        raise RuntimeError(f"Node responded with something other than JSON: {error}") from error
    if not isinstance(found, list) or len(found) != number:
        raise RuntimeError(f"Node did not respond with {number} charts")
    return found
