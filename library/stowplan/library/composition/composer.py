"""Node process that renders specs."""

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
"""Size in MiB of Node's young generation. The default takes more memory and is no faster."""
_PIPE = 1 << 20
"""Size of a pipe in bytes: the default maximum of Linux."""


class Composer:
    """Node process that renders units by cdk8s, each in an App and a chart of its own. It starts at once.

    One App for all units would be quadratic: cdk8s walks the whole App for each chart. Node compares the rendered
    objects with those it got, since a construct tree is another view of the same manifests. A difference is a bug of
    Stowplan and raises `RuntimeError`. A manifest that cdk8s cannot carry is skipped: Kubernetes would refuse it too,
    and the check stage reports it. `packages` is a folder that `unpack` has filled.
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
        # Node blocks if its output is not read.
        self._reader = Thread(target=_read, args=(self._process.stdout, self._answers), daemon=True)
        self._reader.start()

    def send(self, units: Iterable[Unit]) -> None:
        """Send units to Node, and check the results that have arrived. Raises `RuntimeError` for a difference."""
        for unit in units:
            self._awaited.append(unit)
            self._pipe.write(_request(unit))
        self._pipe.flush()
        while not self._answers.empty():
            self._compare(self._answers.get())

    def finish(self) -> None:
        """Wait until all units are rendered. Raises `RuntimeError` for a difference."""
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
        """End Node at once."""
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):  # requests that are not sent yet are dropped
                if pipe:
                    pipe.close()


def _read(pipe: IO[bytes], answers: "SimpleQueue[bytes]") -> None:
    """Read all answers, then an empty one when Node has ended."""
    for line in pipe:
        answers.put(line)
    answers.put(b"")


def _widen(pipe: IO[bytes]) -> None:
    """Enlarge a pipe to hold a whole batch if allowed, so that the sender need not wait for Node's start."""
    if sys.platform == "linux":
        import fcntl  # noqa: PLC0415 - elsewhere there is none, or it cannot do this

        with suppress(OSError):
            fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, _PIPE)


def _request(unit: Unit) -> bytes:
    """Return the two lines of a request."""
    head = {
        "chart": chart_id(unit.spec),
        "name": unit.spec.name,
        "ids": [child_id(manifest, unit.spec) for manifest in unit.manifests],
    }
    objects = [manifest.body for manifest in unit.manifests]
    return b"%b\n%b\n" % (orjson.dumps(head), orjson.dumps(objects, option=orjson.OPT_SORT_KEYS))


def _look_closely(unit: Unit, rendered: Any) -> None:
    """Compare what cdk8s can carry by value, since the bytes differ."""
    carried = [manifest for manifest in unit.manifests if crosses(manifest.body)]
    if not isinstance(rendered, list):
        if len(carried) == len(unit.manifests):
            raise RuntimeError(f"cdk8s refused {unit.spec}: {rendered}")
        return
    bodies = {object_id(body): body for body in rendered}
    for manifest in carried:
        if bodies.get(manifest.id) != manifest.body:
            raise RuntimeError(f"cdk8s rendered {manifest.id} otherwise than it was built")
