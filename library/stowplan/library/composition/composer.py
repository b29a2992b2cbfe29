"""The process that renders specs."""

import subprocess
import sys
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from types import TracebackType
from typing import IO, Any, Self

import orjson

from stowplan.library.composition import node
from stowplan.library.composition.crossing import crosses
from stowplan.library.composition.packages import SCRIPT
from stowplan.library.composition.tree import chart_id, child_id, object_id
from stowplan.library.manifest import Unit

_LIMITS = ("--max-semi-space-size=4",)
"""MiB of new objects before Node looks for those that are gone. By default it takes more memory and is no faster."""
_PIPE = 1 << 20
"""Bytes: the most that Linux lets a process ask for by default."""


class Composer:
    """A Node that renders units by cdk8s, each in an App and a chart of its own; it starts at once.

    One App for all would be quadratic: cdk8s looks at the whole App for each chart that it renders. What is rendered
    equals what was sent, which is looked up over there: a construct tree is another view of the same manifests.
    Anything else is a bug of Stowplan, and a `RuntimeError`. A manifest that cdk8s cannot carry passes by: what is in
    it, Kubernetes refuses too, and the check stage says so. `packages` is a folder that `unpack` has filled.
    """

    def __init__(self, packages: Path) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - the bundled Node, or the user's own
            [node.program(), *_LIMITS, str(packages / SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        _widen(self._pipe)
        self._awaited: deque[Unit] = deque()
        self._answers: SimpleQueue[bytes] = SimpleQueue()
        # Node waits while nobody reads what it writes.
        self._reader = Thread(target=_read, args=(self._process.stdout, self._answers), daemon=True)
        self._reader.start()

    def send(self, units: Iterable[Unit]) -> None:
        """Have units rendered, and look at those that are. Raises `RuntimeError` as the class says."""
        for unit in units:
            self._awaited.append(unit)
            self._pipe.write(_request(unit))
        self._pipe.flush()
        while not self._answers.empty():
            self._compare(self._answers.get())

    def finish(self) -> None:
        """Wait until all units that were sent are rendered. Raises `RuntimeError` as the class says."""
        while self._awaited:
            self._compare(self._answers.get())

    @property
    def _pipe(self) -> IO[bytes]:
        if self._process.stdin is None:
            raise RuntimeError("Node was started without a pipe")
        return self._process.stdin

    def _compare(self, answer: bytes) -> None:
        if not answer:
            raise RuntimeError(f"Node ended with {self._process.wait()}")
        unit = self._awaited.popleft()
        if answer != b"\n":
            _look_closely(unit, orjson.loads(answer))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End Node, whatever it is at."""
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):  # what was not sent yet goes nowhere
                if pipe:
                    pipe.close()


def _read(pipe: IO[bytes], answers: "SimpleQueue[bytes]") -> None:
    """All answers, and an empty one when Node has ended."""
    for line in pipe:
        answers.put(line)
    answers.put(b"")


def _widen(pipe: IO[bytes]) -> None:
    """Let a pipe hold a whole batch where that may be: who sends one need not wait until Node has started."""
    if sys.platform == "linux":
        import fcntl  # noqa: PLC0415 - elsewhere there is none, or it cannot do this

        with suppress(OSError):
            fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, _PIPE)


def _request(unit: Unit) -> bytes:
    """Two lines."""
    head = {
        "chart": chart_id(unit.spec),
        "name": unit.spec.name,
        "ids": [child_id(manifest, unit.spec) for manifest in unit.manifests],
    }
    objects = [manifest.body for manifest in unit.manifests]
    return b"%b\n%b\n" % (orjson.dumps(head), orjson.dumps(objects, option=orjson.OPT_SORT_KEYS))


def _look_closely(unit: Unit, rendered: Any) -> None:
    """Whether all that cdk8s can carry came back as it was, though not as the same bytes."""
    carried = [manifest for manifest in unit.manifests if crosses(manifest.body)]
    if not isinstance(rendered, list):
        if len(carried) == len(unit.manifests):
            raise RuntimeError(f"cdk8s refused {unit.spec}: {rendered}")
        return
    bodies = {object_id(body): body for body in rendered}
    for manifest in carried:
        if bodies.get(manifest.id) != manifest.body:
            raise RuntimeError(f"cdk8s rendered {manifest.id} otherwise than it was built")
